"""Regular expressions in RE2's syntax: searched for in linear time, whatever the expression.

A `Regex` has the face of a `Wildcard`, so that a condition may hold either. An expression that says no more than how a
text begins or ends, or what it contains, becomes a wildcard: `x ~ '^ab'` is `x like 'ab%'`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from thatch.errors import FilterTooLargeError, MissingPackageError
from thatch.model.wildcards import Wildcard, escape_wildcard, wildcard

__all__ = ["Pattern", "Regex", "regex"]

_LONGEST = 10_000  # characters of an expression
_SPECIAL = frozenset(r"\.+*?()|[]{}^$")
_PLAIN = re.compile(r"(\^?)((?:[^\\.+*?()|\[\]{}^$]|\\[^A-Za-z0-9])*)(\$?)", re.DOTALL)
_ESCAPE = re.compile(r"[xpP]\{[^}]*\}|x..|[pP].|[0-7]{1,3}|.", re.DOTALL)  # what follows the backslash
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression that some part of a text must match, or with `^` and `$` all of it."""

    text: str

    literal: ClassVar[None] = None
    prefix: ClassVar[str] = ""
    suffix: ClassVar[str] = ""
    is_prefix: ClassVar[bool] = False
    is_suffix: ClassVar[bool] = False
    is_prefix_and_suffix: ClassVar[bool] = False

    def matches(self, text: str) -> bool:
        """Whether the expression is found in a text."""
        return _compiled(self.text).search(text) is not None

    @property
    def needed(self) -> str:
        """The longest text known to be part of every text that matches; empty if none is known."""
        return _needed(self.text)


Pattern = Wildcard | Regex


def regex(text: str) -> Pattern:
    """Parse a regular expression.

    Raises
    ------
    ValueError
        If it is none in RE2's syntax, or takes too much memory; the message says what was expected.
    FilterTooLargeError
        If it is too long.
    MissingPackageError
        If google-re2 is not installed.
    """
    if len(text) > _LONGEST:
        raise FilterTooLargeError("characters of a regular expression", len(text), _LONGEST)
    _compiled(text)  # refuses what is none
    plain = _PLAIN.fullmatch(text)
    if plain is None:
        return Regex(text)
    start, body, end = plain.groups()
    form = escape_wildcard(_ESCAPED.sub(r"\1", body))
    return wildcard(("" if start else "%") + form + ("" if end else "%"))


@lru_cache(maxsize=10_000)
def _compiled(text: str) -> Any:
    try:
        import re2
    except ImportError as error:
        raise MissingPackageError("google-re2", "regex", "regular expressions") from error
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options=options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"a regular expression in RE2's syntax ({reason})") from None


@lru_cache(maxsize=10_000)
def _needed(text: str) -> str:
    """The longest run of plain characters outside all groups, classes and choices; flags may change what any of it means."""
    if "(?" in text.replace("(?:", "") or "\\Q" in text:
        return ""
    runs = [""]
    depth = at = 0
    while at < len(text):
        character, at = text[at], at + 1
        if character == "|" and not depth:
            return ""
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "[":
            at = _end_of_class(text, at)
        elif character in "*?{" and not depth:
            runs[-1] = runs[-1][:-1]  # what it repeats may not be there at all
            at = text.find("}", at) + 1 if character == "{" and "}" in text[at:] else at
        elif not depth and (character not in _SPECIAL or _is_escaped(character, text[at : at + 1])):
            runs[-1] += text[at] if character == "\\" else character
            at += character == "\\"
            continue
        elif character == "\\":
            at = _end_of_escape(text, at)
        runs.append("")
    return max(runs, key=len)


def _is_escaped(character: str, following: str) -> bool:
    """Whether a backslash makes the next character plain."""
    return character == "\\" and bool(following) and not (following.isascii() and following.isalnum())


def _end_of_class(text: str, at: int) -> int:
    """Where what follows a `[` ends."""
    at += text.startswith("^", at)
    at += text.startswith("]", at)
    while at < len(text) and text[at] != "]":
        if text.startswith("[:", at):
            at = text.find(":]", at) + 1
        elif text[at] == "\\":
            at = _end_of_escape(text, at + 1) - 1
        at += 1
    return at + 1


def _end_of_escape(text: str, at: int) -> int:
    r"""Where an escape whose letter is at `at` ends: `\d`, `\x{1F600}`, `\x41`, `\pN`, `\101`."""
    return at + len(_ESCAPE.match(text, at).group())  # type: ignore[union-attr]  # RE2 has accepted it
