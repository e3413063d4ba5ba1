"""One value of a Sigma rule beside its field, as an expression: when it holds, or (negated) when it does not.

Sigma has two truth values: what does not hold is false, also where the field is missing, so that `not` of it holds.
Values are text without case: a number or a boolean also equals the text that is written like it, and such a text the
number. A pattern looks at text only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from sigma.types import (
    CompareOperators,
    SigmaBool,
    SigmaCasedString,
    SigmaCIDRExpression,
    SigmaCompareExpression,
    SigmaExists,
    SigmaExpansion,
    SigmaFieldReference,
    SigmaNull,
    SigmaNumber,
    SigmaQueryExpression,
    SigmaRegularExpression,
    SigmaString,
    SigmaTimestampPart,
    SigmaType,
)

from thatch.model.derived import fold
from thatch.model.expressions import (
    And,
    Distinct,
    Exists,
    Expression,
    In,
    IsNull,
    Matches,
    Not,
    Or,
    Unlike,
    compare_pair,
    network,
)
from thatch.model.language.sigma.texts import RefusedValueError, form_of, pattern_of_regular
from thatch.model.language.truths import of_other_types, order_or_missing
from thatch.model.lines import Literal
from thatch.model.names import derived_key, key_of
from thatch.model.values import MAX_INTEGER, MIN_INTEGER, canonical_number
from thatch.model.wildcards import wildcard

__all__ = ["field_value"]

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)", re.ASCII)
_ORDERS = {
    CompareOperators.LT: "<",
    CompareOperators.LTE: "<=",
    CompareOperators.GT: ">",
    CompareOperators.GTE: ">=",
}


def field_value(field: str, value: SigmaType, *, negated: bool) -> Expression:
    """What a field and a value beside it say; an attribute is called like the field."""
    if isinstance(value, SigmaExpansion):
        parts = tuple(field_value(field, each, negated=negated) for each in value.values)
        return And(parts) if negated else Or(parts)
    try:
        return _READERS.get(type(value), _refuse)(key_of(field), value, negated)
    except RefusedValueError as error:
        error.field = field
        raise


def _otherwise(compared: str, *others: Expression) -> Expression:
    """All of the others, or missing: the same function of the attribute in all of them, so that they are one test."""
    return Or((others[0] if len(others) == 1 else And(others), Not(Exists(compared))))


# --- text --------------------------------------------------------------------------------------------------------


def _text(key: str, value: SigmaString, negated: bool) -> Expression:
    if len(value.s) < 2 and (not value.s or isinstance(value.s[0], str)):
        return _plain_text(key, str(value.s[0]) if value.s else "", negated)
    form = form_of(value)
    return _formed(key, derived_key(("lower",), key), fold(form), negated)


def _plain_text(key: str, text: str, negated: bool) -> Expression:
    folded = fold(text)
    values: tuple[Literal, ...] = (folded,)
    if _NUMBER.fullmatch(text) and len(text) < 20 and MIN_INTEGER <= int(text) <= MAX_INTEGER:
        values = (folded, int(text))
    elif folded in ("true", "false"):
        values = (folded, folded == "true")
    return _one_of(derived_key(("lower",), key), values, negated)


def _cased_text(key: str, value: SigmaString, negated: bool) -> Expression:
    if all(isinstance(each, str) for each in value.s):
        return _one_of(key, ("".join(map(str, value.s)),), negated)
    return _formed(key, key, form_of(value), negated)


def _one_of(compared: str, values: tuple[Literal, ...], negated: bool) -> Expression:
    if negated:
        return _otherwise(compared, *(Distinct(compared, each) for each in values))
    return In(compared, values)


def _formed(key: str, compared: str, form: str, negated: bool) -> Expression:
    if form and not form.strip("%"):  # anything at all, numbers too
        return Or((Not(Exists(key)), IsNull(key))) if negated else Not(IsNull(key))
    pattern = wildcard(form)
    return _otherwise(compared, Unlike(compared, pattern)) if negated else Matches(compared, pattern)


def _regular(key: str, value: SigmaRegularExpression, negated: bool) -> Expression:
    pattern = pattern_of_regular(value)
    return _otherwise(key, Unlike(key, pattern)) if negated else Matches(key, pattern)


# --- other values --------------------------------------------------------------------------------------------------


def _number(key: str, value: SigmaNumber, negated: bool) -> Expression:
    number = value.number
    if isinstance(number, float):
        number = canonical_number(number)
    elif not MIN_INTEGER <= number <= MAX_INTEGER:
        number = canonical_number(float(number))
    return _one_of(derived_key(("lower",), key), (number, str(value).lower()), negated)


def _boolean(key: str, value: SigmaBool, negated: bool) -> Expression:
    return _one_of(
        derived_key(("lower",), key), (value.boolean, "true" if value.boolean else "false"), negated
    )


def _null(key: str, _: SigmaNull, negated: bool) -> Expression:
    return Not(IsNull(key)) if negated else Or((Not(Exists(key)), IsNull(key)))


def _exists(key: str, value: SigmaExists, negated: bool) -> Expression:
    return Exists(key) if bool(value.exists) != negated else Not(Exists(key))


def _compared(key: str, value: SigmaCompareExpression, negated: bool) -> Expression:
    number = value.number.number
    literal = (
        canonical_number(float(number)) if isinstance(number, float) or abs(number) > MAX_INTEGER else number
    )
    if value.op not in _ORDERS:
        return _number(key, value.number, not negated)
    truth = order_or_missing(key, _ORDERS[value.op], literal)
    return truth.no if negated else truth.yes


def _network(key: str, value: SigmaCIDRExpression, negated: bool) -> Expression:
    inside = network(key, str(value.network))
    return _otherwise_address(derived_key(("ip",), key), inside) if negated else inside


def _otherwise_address(address: str, inside: Expression) -> Expression:
    return Or((Not(Exists(address)), Not(inside)))


def _field(key: str, value: SigmaFieldReference, negated: bool) -> Expression:
    """The value of another field, compared as text is: without case."""
    if value.starts_with or value.ends_with:
        raise RefusedValueError(
            "A field can equal another one, but not begin with it, end with it or contain it"
        )
    other = key_of(value.field)
    if key == other:
        return Or((Not(Exists(key)), IsNull(key))) if negated else Not(IsNull(key))
    same = compare_pair(derived_key(("lower",), key), "=", derived_key(("lower",), other))
    if not negated:
        return same
    absent = (Not(Exists(key)), IsNull(key), Not(Exists(other)), IsNull(other))
    return Or((Not(same), of_other_types(key, other), *absent))


def _refuse(_: str, value: SigmaType, __: bool) -> NoReturn:
    name = type(value).__name__
    raise RefusedValueError(_REFUSALS.get(type(value), f"Values of the type {name} have no meaning here"))


_READERS: dict[type[SigmaType], Callable[[str, Any, bool], Expression]] = {
    SigmaString: _text,
    SigmaCasedString: _cased_text,
    SigmaRegularExpression: _regular,
    SigmaNumber: _number,
    SigmaBool: _boolean,
    SigmaNull: _null,
    SigmaExists: _exists,
    SigmaCompareExpression: _compared,
    SigmaCIDRExpression: _network,
    SigmaFieldReference: _field,
}
_REFUSALS: dict[type[SigmaType], str] = {
    SigmaQueryExpression: "A part of a query in another language, which a pipeline has put there, has no meaning here",
    SigmaTimestampPart: "Parts of a time (minute, hour, day, week, month, year) cannot be compared",
}
