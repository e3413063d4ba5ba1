"""Regular expressions in RE2's syntax: searched for in linear time, whatever the expression.

A `Regex` has the face of a `Wildcard`, so that a condition may hold either. An expression that says no more than how a
text begins or ends, or what it contains, becomes a wildcard: `x ~ '^ab'` is `x like 'ab%'`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, ClassVar

from thatch.errors import FilterTooLargeError, MissingPackageError
from thatch.model.frozen import quick_value
from thatch.model.regex_needles import Needles, needles_of
from thatch.model.wildcards import Wildcard, escape_wildcard, wildcard

__all__ = ["Pattern", "Regex", "in_order", "regex"]

_LONGEST = 10_000  # characters of an expression
_PLAIN = re.compile(r"(\^?)((?:[^\\.+*?()|\[\]{}^$]|\\[^A-Za-z0-9])*)(\$?)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@quick_value
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
        return len(text) >= self.needles.characters and _compiled(self.text).search(text) is not None

    @property
    def needed(self) -> str:
        """The longest text known to be part of every text that matches; empty if none is known."""
        texts, is_folded, *_ = needles_of(self.text)
        return texts[0] if len(texts) == 1 and not is_folded else ""

    @property
    def needles(self) -> Needles:
        """Texts of which one is part of every text that matches, or of its folded form."""
        return needles_of(self.text)


Pattern = Wildcard | Regex


def in_order(patterns: Iterable[Pattern]) -> list[Pattern]:
    """Patterns in their fixed order."""
    return sorted(patterns, key=lambda each: (type(each).__name__, each.text))


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
        if "too large" in str(reason):
            raise ValueError("a regular expression that takes at most 8 MB compiled") from None
        raise ValueError(f"a regular expression in RE2's syntax ({reason})") from None
