"""Keywords of Sigma rules: values without a field, which some text of the event contains."""

from __future__ import annotations

from sigma.types import (
    SigmaBool,
    SigmaCasedString,
    SigmaExpansion,
    SigmaNumber,
    SigmaRegularExpression,
    SigmaString,
    SigmaType,
)

from thatch.model.derived import fold
from thatch.model.expressions import Expression, Matches, Not, Or
from thatch.model.language.sigma.texts import RefusedValueError, form_of, pattern_of_regular
from thatch.model.names import ANYWHERE, derived_key
from thatch.model.wildcards import escape_wildcard, wildcard

__all__ = ["keyword"]

_FOLDED = derived_key(("lower",), ANYWHERE)


def keyword(value: SigmaType, *, negated: bool) -> Expression:
    """Some text of the event contains a keyword, or (negated) none does."""
    found = _found(value)
    return Not(found) if negated else found


def _found(value: SigmaType) -> Expression:
    if isinstance(value, SigmaExpansion):
        return Or(tuple(map(_found, value.values)))
    if isinstance(value, SigmaRegularExpression):
        return Matches(ANYWHERE, pattern_of_regular(value))
    if isinstance(value, SigmaCasedString):
        return Matches(ANYWHERE, wildcard(f"%{form_of(value)}%"))
    if isinstance(value, SigmaString):
        return Matches(_FOLDED, wildcard(f"%{fold(form_of(value))}%"))
    if type(value) in (SigmaNumber, SigmaBool):
        return Matches(_FOLDED, wildcard(f"%{escape_wildcard(str(value).lower())}%"))
    raise RefusedValueError(f"A value of the type {type(value).__name__} needs a field")
