"""Texts of Sigma rules as patterns: wildcards, regular expressions."""

from __future__ import annotations

from sigma.types import Placeholder, SigmaRegularExpression, SigmaString, SpecialChars

from thatch.errors import FilterError
from thatch.model.regexes import Pattern, regex
from thatch.model.wildcards import escape_wildcard

__all__ = ["RefusedValueError", "form_of", "pattern_of_regular"]

_SIGNS = {SpecialChars.WILDCARD_MULTI: "%", SpecialChars.WILDCARD_SINGLE: "_"}


class RefusedValueError(ValueError):
    """A value that has no meaning here; the message is a sentence."""

    field: str | None = None  # beside which it stands


def form_of(value: SigmaString) -> str:
    """A text with wildcards as a pattern of Thatch."""
    parts = []
    for each in value.s:
        if isinstance(each, str):
            parts.append(escape_wildcard(each))
        elif isinstance(each, Placeholder):
            what = f"The placeholder %{each.name}% has no value; a processing pipeline gives it one"
            raise RefusedValueError(what)
        else:
            parts.append(_SIGNS[each])
    return "".join(parts)


def pattern_of_regular(value: SigmaRegularExpression) -> Pattern:
    """A regular expression with its flags."""
    if value.contains_placeholder():
        form_of(value.regexp)
    try:
        return regex(value.escape(escape_escape_char=False))
    except FilterError:  # a ValueError too, but it already says what is wrong
        raise
    except ValueError as error:
        raise RefusedValueError(f"Expected {error}") from error
