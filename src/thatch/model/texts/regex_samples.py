"""Short texts that a regular expression is likely to match, as candidates for witnesses: whoever uses one tries it first."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from thatch.model.regex_needles import end_of_class, end_of_escape
from thatch.model.regexes import regex

__all__ = ["samples_of"]

_MOST = 8  # texts of one expression
_LONGEST = 2_000  # characters of one text
_LETTERS = "axX01 -_./\\:@%'\"\t" + "".join(map(chr, range(33, 127))) + "\n\u00e9"
_PLACES = ("b", "B", "A", "z", "Z")  # escapes that stand for no character


@lru_cache(maxsize=10_000)
def samples_of(text: str) -> tuple[str, ...]:
    """A few texts, each of one way through the alternatives of an expression that RE2 has accepted.

    Examples
    --------
    >>> samples_of("^(ab|c)[0-9]{2}$")
    ('ab00', 'c00')
    """
    try:
        found, _ = _Reading(text).alternatives(0)
    except (ValueError, RecursionError, IndexError):
        return ()
    return tuple(dict.fromkeys(found))


class _Reading:
    """One expression on its way to texts. Methods take a place in it and return texts and the place behind."""

    def __init__(self, text: str) -> None:
        self._text = text

    def alternatives(self, at: int) -> tuple[list[str], int]:
        """Texts of parts between `|`."""
        found, at = self._sequence(at)
        while self._text.startswith("|", at):
            others, at = self._sequence(at + 1)
            found += others
        return found[:_MOST], at

    def _sequence(self, at: int) -> tuple[list[str], int]:
        found = [""]
        while at < len(self._text) and self._text[at] not in "|)":
            texts, at = self._item(at)
            least, at = self._repeat(at)
            if least > _LONGEST:
                raise ValueError("a text that is not too long")
            found = [start + least * end for start, end in product(found, texts)][:_MOST]
            if len(found[0]) > _LONGEST:
                raise ValueError("a text that is not too long")
        return found, at

    def _repeat(self, at: int) -> tuple[int, int]:
        """How often what stands before must stand there."""
        following = self._text[at : at + 1]
        least = 1
        if following and following in "*?+":
            least, at = int(following == "+"), at + 1
        elif following == "{" and self._text[at + 1].isdigit():
            end = self._text.index("}", at)
            least, at = int(self._text[at + 1 : end].split(",")[0]), end + 1
        else:
            return 1, at
        return least, at + self._text.startswith("?", at)

    def _item(self, at: int) -> tuple[list[str], int]:
        """Texts of a character, a class, an escape or a group."""
        character = self._text[at]
        if character == "(":
            return self._group(at + 1)
        if character == "[":
            end = end_of_class(self._text, at + 1)
            return [_one_of(self._text[at:end])], end
        if character == "\\":
            following = self._text[at + 1]
            if following in _PLACES:
                return [""], at + 2
            end = end_of_escape(self._text, at + 1)
            return [_one_of(self._text[at:end]) if following.isalnum() else following], end
        if character in "^$":
            return [""], at + 1
        return ["x" if character == "." else character], at + 1

    def _group(self, at: int) -> tuple[list[str], int]:
        if self._text.startswith("?", at):
            while self._text[at] not in ":>)":
                at += 1
            at += 1
            if self._text[at - 1] == ")":  # flags
                return [""], at
        found, at = self.alternatives(at)
        return found, at + 1


@lru_cache(maxsize=1_000)
def _one_of(kind: str) -> str:
    """A character of a class or an escape."""
    form = regex(f"^{kind}$")
    return next((letter for letter in _LETTERS if form.matches(letter)), "x")
