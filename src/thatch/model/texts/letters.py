"""Which letters an automaton has to try: those that matter, and one for all others that do the same.

Where all machines read case-folded text, texts of letters that fold to themselves are enough: every folded text is one.
Where some do and some do not, every letter that folds to another one may do something of its own, `ß` for example, which
is one letter for some machines and two for the others. These letters are sorted by what they do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from itertools import pairwise

from thatch.model.derived import fold

__all__ = ["all_kinds", "between", "fresh_letter", "is_folded_letter"]

_READABLE = "xyzabcdefghijklmnopqrstuvw0123456789-_ .XYZABCDEFGHIJKLMNOPQRSTUVW"
_FIRST_PRIVATE = 0xE000
_END = 0x110000


def is_folded_letter(letter: str) -> bool:
    """Whether case folding leaves a letter alone."""
    return fold(letter) == letter


def fresh_letter(used: Collection[str]) -> str:
    """A letter that is none of these and that case folding leaves alone, a readable one if there is one."""
    for letter in _READABLE[:40]:
        if letter not in used:
            return letter
    code = _FIRST_PRIVATE
    while chr(code) in used:
        code += 1
    return chr(code)


def between(letters: tuple[str, ...]) -> list[str]:
    """One letter, of those that case folding leaves alone, below, between and above some letters in order."""
    ends = [-1, *map(ord, letters), _END]
    found = (_inside(low, high) for low, high in pairwise(ends))
    return [letter for letter in found if letter is not None]


@lru_cache(maxsize=65_536)
def _inside(low: int, high: int) -> str | None:
    for letter in _READABLE[:40]:
        if low < ord(letter) < high:
            return letter
    for code in range(low + 1, high):
        letter = chr(code)
        if not 0xD800 <= code < 0xE000 and is_folded_letter(letter):
            return letter
    return None


@lru_cache(maxsize=256)
def all_kinds(plain: frozenset[str], folded: frozenset[str], *, is_ordered: bool) -> tuple[str, ...]:
    """One letter of every kind, for machines that read text and machines that read it case-folded.

    Parameters
    ----------
    plain : letters that matter to machines that read the text itself
    folded : letters that matter to machines that read it case-folded
    is_ordered : whether some machine compares order
    """
    every = tuple(sorted(plain | folded))
    kinds: dict[object, str] = {}
    others = between(every) if is_ordered else [fresh_letter(every)]
    own, own_folded = sorted(plain), sorted(folded)
    for letter in (*every, *others, *_changed_by_folding()):
        kind = (
            _kind(letter, own, is_ordered=is_ordered),
            *(_kind(each, own_folded, is_ordered=is_ordered) for each in fold(letter)),
        )
        kinds.setdefault(kind, letter)
    return tuple(kinds.values())


def _kind(letter: str, letters: list[str], *, is_ordered: bool) -> tuple[int, bool]:
    """What a letter is to machines to which only some letters matter."""
    index = bisect_left(letters, letter)
    is_one = index < len(letters) and letters[index] == letter
    return (index if is_ordered or is_one else -1, is_one)


@cache
def _changed_by_folding() -> tuple[str, ...]:
    return tuple(_folding_letters())


def _folding_letters() -> Iterator[str]:
    for code in range(_END):
        if not 0xD800 <= code < 0xE000 and not is_folded_letter(chr(code)):
            yield chr(code)
