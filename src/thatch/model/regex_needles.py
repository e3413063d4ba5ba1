"""What literal text every text that matches a regular expression must contain, and how long it is at least: by that an
index finds the expression.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Needles", "end_of_class", "end_of_escape", "needles_of"]

_MOST = 64  # needles of one expression
_MOST_OTHERS = 3
_EMPTY_ESCAPES = frozenset("AbBzC")  # of no character, or of a byte that may be part of one
_LONG_ENOUGH = 128  # characters of a needle
_SPECIAL = frozenset(r"\.+*?()|[]{}^$")
_ESCAPE = re.compile(r"[xpP]\{[^}]*\}|x..|[pP].|[0-7]{1,3}|.", re.DOTALL)  # what follows the backslash
_FLAGS = re.compile(r"\(\?([imsU]+)\)")
_GROUP = re.compile(r"\((\?:|\?P?<\w+>)?(?!\?)")
_REPEAT = re.compile(r"[*?+]|\{\d+(,\d*)?\}")
_SMALL_CLASS = re.compile(r"\[([^]\\^\[-]{1,8})\]")  # of a few characters that mean themselves
_NONE_AT_LEAST = re.compile(r"[*?]|\{0+[,}]")


class Needles(NamedTuple):
    """Texts of which one is part of every text that matches, none if no such are known.

    With `is_folded` that is so of the folded form of every text that matches. Of each tuple of `others`, too, one text is
    part of it. It has at least so many characters.
    """

    texts: tuple[str, ...]
    is_folded: bool
    others: tuple[tuple[str, ...], ...] = ()
    characters: int = 0


@lru_cache(maxsize=10_000)
def needles_of(text: str) -> Needles:
    """The longest such texts of an expression that RE2 has accepted; flags are understood at its beginning."""
    at, flags = 0, ""
    while (found := _FLAGS.match(text, at)) is not None:
        at, flags = found.end(), flags + found[1]
    if "\\Q" in text:
        return Needles((), is_folded=False)
    try:
        known, _ = _alternatives(text, at, is_folded="i" in flags)
    except (_UnknownError, RecursionError):
        return Needles((), is_folded=False)
    best = _best(known.choices)
    others: list[_Choice] = []
    for each in known.choices:
        if all(each) and each != best and each not in others and len(others) < _MOST_OTHERS:
            others.append(each)
    return Needles(best, "i" in flags, tuple(others), known.characters)


class _UnknownError(Exception):
    """The expression says something that is not understood here."""


_Choice = tuple[str, ...]  # texts of which one must be there


class _Known(NamedTuple):
    """What is known of a part: choices that must be there, of which the first stands at its beginning.

    A literal is all said by one choice. The part has at least so many characters.
    """

    choices: list[_Choice]
    is_literal: bool
    characters: int


def _best(choices: list[_Choice]) -> _Choice:
    """The choice whose shortest text is longest."""
    return max(
        (each for each in choices if all(each)),
        key=lambda each: (min(map(len, each)), -len(each)),
        default=(),
    )


def _alternatives(text: str, at: int, *, is_folded: bool) -> tuple[_Known, int]:
    """What is known of parts between `|`, and where a `)` or the end stands."""
    known, at = _sequence(text, at, is_folded=is_folded)
    if not text.startswith("|", at):
        return known, at
    parts = [known]
    while text.startswith("|", at):
        known, at = _sequence(text, at + 1, is_folded=is_folded)
        parts.append(known)
    is_literal = all(each.is_literal for each in parts)
    choices = [each.choices[0] if is_literal else _best(each.choices) for each in parts]
    together = tuple(dict.fromkeys(text for choice in choices for text in choice))
    characters = min(each.characters for each in parts)
    if not all(choices) or len(together) > _MOST:
        return _Known([_EMPTY], is_literal=False, characters=characters), at
    return _Known([together] if is_literal else [_EMPTY, together], is_literal, characters), at


def _sequence(text: str, at: int, *, is_folded: bool) -> tuple[_Known, int]:
    """What is known of a part without `|`, and where it ends."""
    choices, is_literal, characters = [_EMPTY], True, 0
    while at < len(text) and text[at] not in ")|":
        own, end = _item(text, at, is_folded=is_folded)
        if _NONE_AT_LEAST.match(text, end) is None:
            is_literal &= _extend(choices, own)
        repeat = _REPEAT.match(text, end)
        characters += own.characters * _least_times(repeat)
        at = end if repeat is None else repeat.end() + text.startswith("?", repeat.end())
        is_repeated = repeat is not None and repeat[0] != "{1}"
        if is_repeated or not own.is_literal:
            choices.append(_EMPTY)
            is_literal = False
    return _Known(choices, is_literal, characters), at


def _least_times(repeat: re.Match[str] | None) -> int:
    """How often a part must be there at least."""
    if repeat is None or repeat[0] == "+":
        return 1
    return 0 if repeat[0] in "*?" else int(repeat[0][1:-1].partition(",")[0])


def _extend(choices: list[_Choice], own: _Known) -> bool:
    """Let a part follow what is known, whose last choice ends where it begins; False if that says less than both."""
    first, *others = own.choices
    is_small = len(choices[-1]) * len(first) <= _MOST and len(choices[-1][0]) < _LONG_ENOUGH
    if is_small:
        choices[-1] = tuple(dict.fromkeys(left + right for left in choices[-1] for right in first))
    else:
        choices.append(first)
    choices += others
    return is_small


def _item(text: str, at: int, *, is_folded: bool) -> tuple[_Known, int]:
    """What is known of a character, a class, an escape or a group, and where it ends."""
    character = text[at]
    if character == "(":
        group = _GROUP.match(text, at)
        if group is None:
            raise _UnknownError
        known, end = _alternatives(text, group.end(), is_folded=is_folded)
        return known, end + 1
    if character == "[":
        small = _SMALL_CLASS.match(text, at)
        if small is not None and not is_folded:
            return _Known([tuple(dict.fromkeys(small[1]))], is_literal=True, characters=1), small.end()
        return _ONE, end_of_class(text, at + 1)
    if character == "\\":
        following = text[at + 1 : at + 2]
        if following and not (following.isascii() and following.isalnum()):
            return _character(following, is_folded=is_folded), at + 2
        return _NOTHING if following in _EMPTY_ESCAPES else _ONE, end_of_escape(text, at + 1)
    if character in _SPECIAL and character not in "]{}":
        return _ONE if character == "." else _NOTHING, at + 1
    return _character(character, is_folded=is_folded), at + 1


_EMPTY: _Choice = ("",)
_NOTHING = _Known([_EMPTY], is_literal=False, characters=0)
_ONE = _Known([_EMPTY], is_literal=False, characters=1)


def _character(character: str, *, is_folded: bool) -> _Known:
    """A character as it stands in folded text: of letters that are not ASCII, RE2 and case folding may think differently."""
    if not is_folded:
        return _Known([(character,)], is_literal=True, characters=1)
    return _Known([(character.lower(),)], is_literal=True, characters=1) if character.isascii() else _ONE


def end_of_class(text: str, at: int) -> int:
    """Where what follows a `[` ends."""
    at += text.startswith("^", at)
    at += text.startswith("]", at)
    while at < len(text) and text[at] != "]":
        if text.startswith("[:", at):
            at = text.find(":]", at) + 1
        elif text[at] == "\\":
            at = end_of_escape(text, at + 1) - 1
        at += 1
    return at + 1


def end_of_escape(text: str, at: int) -> int:
    r"""Where an escape whose letter is at `at` ends: `\d`, `\x{1F600}`, `\x41`, `\pN`, `\101`."""
    return at + len(_ESCAPE.match(text, at).group())  # type: ignore[union-attr]  # RE2 has accepted it
