"""Selectors of JMS at random, and what they mean, written apart from the package: True, False, or None for unknown."""

from __future__ import annotations

import operator
import re
from fractions import Fraction
from math import trunc
from typing import Any

from hypothesis import strategies as st

Selector = tuple[Any, ...]
Value = bool | Fraction | str | None  # None is unknown

_SIGNS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul}

# --- what a selector means -----------------------------------------------------------------------------------------


def truth_of(selector: Selector, event: dict[str, Any]) -> bool | None:
    """Whether a selector is true, false or unknown on an event."""
    kind, *parts = selector
    if kind == "not":
        found = truth_of(parts[0], event)
        return None if found is None else not found
    if kind in ("and", "or"):
        stops = kind == "or"
        found = [truth_of(each, event) for each in parts[0]]
        return stops if stops in found else None if None in found else not stops
    if kind == "attribute":
        value = _value(selector, event)
        return value if isinstance(value, bool) else None
    if kind == "is null":
        return _value(parts[0], event) is None
    if kind == "compare":
        sign, left, right = parts
        return _compared(sign, _value(left, event), _value(right, event))
    if kind == "between":
        low, high = (
            _compared(sign, _value(parts[0], event), _value(each, event))
            for sign, each in zip((">=", "<="), parts[1:], strict=True)
        )
        return False if False in (low, high) else None if None in (low, high) else True
    if kind == "in":
        value = _value(parts[0], event)
        return (
            None
            if value is None
            else any(_compared("=", value, _value(each, event)) is True for each in parts[1])
        )
    value = _value(parts[0], event)
    expression = "".join({"%": ".*", "_": "."}.get(each, re.escape(each)) for each in parts[1])
    return re.fullmatch(expression, value, re.DOTALL) is not None if isinstance(value, str) else None


def _value(operand: Selector, event: dict[str, Any]) -> Value:
    kind, *parts = operand
    if kind == "constant":
        return Fraction(parts[0]) if isinstance(parts[0], Decimal) else parts[0]
    if kind == "attribute":
        value = event.get(parts[0])
        return (
            Fraction(repr(value))
            if isinstance(value, (int, float)) and not isinstance(value, bool)
            else value
        )
    left, right = (_value(each, event) for each in parts)
    if not _is_number(left) or not _is_number(right):
        return None
    if kind == "/":
        return left / right if right else None
    if kind == "%":
        whole = right and left.denominator == right.denominator == 1
        return left - right * trunc(left / right) if whole else None
    return _SUMS[kind](left, right)


def _is_number(value: Value) -> bool:
    return isinstance(value, Fraction)


def _compared(sign: str, left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    if type(left) is not type(right):
        return sign == "<>"
    if isinstance(left, bool) and sign not in ("=", "<>"):
        return False
    return _SIGNS[sign](left, right)


# --- how it is written ------------------------------------------------------------------------------------------------


def written(selector: Selector) -> str:
    """The selector as text."""
    kind, *parts = selector
    if kind == "not":
        return f"NOT ({written(parts[0])})"
    if kind in ("and", "or"):
        return "(" + f" {kind} ".join(map(written, parts[0])) + ")"
    if kind == "attribute":
        return str(parts[0])
    if kind == "constant":
        value = parts[0]
        return (
            value
            if isinstance(value, Decimal)
            else "'" + value.replace("'", "''") + "'"
            if isinstance(value, str)
            else str(value)
        )
    if kind == "is null":
        return f"{written(parts[0])} IS NULL"
    if kind == "compare":
        return f"{written(parts[1])} {parts[0]} {written(parts[2])}"
    if kind == "between":
        return f"{written(parts[0])} BETWEEN {written(parts[1])} AND {written(parts[2])}"
    if kind == "in":
        return f"{written(parts[0])} IN ({', '.join(map(written, parts[1]))})"
    if kind == "like":
        return f"{written(parts[0])} LIKE '{parts[1]}'"
    return f"({written(parts[0])} {kind} {written(parts[1])})"


# --- selectors at random ----------------------------------------------------------------------------------------------


class Decimal(str):
    """A number as it is written."""

    __slots__ = ()


_names = st.sampled_from(["x", "y", "p.z"])
_attributes = st.tuples(st.just("attribute"), _names)
_decimals = st.sampled_from(
    [Decimal(each) for each in ("0", "1", "2", "5", "0.5", "0.1", "3.", ".25", "1e1", "10.0")]
)
_numbers = st.tuples(st.just("constant"), _decimals)
_texts = st.sampled_from(["a", "ab", "b", "it's", ""])
_constants = _numbers | st.tuples(st.just("constant"), _texts | st.booleans())


@st.composite
def _sums(draw: st.DrawFn) -> Selector:
    """Arithmetic on attributes, mostly one, and constants."""
    found: Selector = draw(_attributes)
    for _ in range(draw(st.integers(1, 3))):
        sign = draw(st.sampled_from(["+", "-", "*", "/", "%"]))
        other = draw(_attributes if draw(st.integers(0, 3)) == 0 else _numbers)
        found = (sign, other, found) if draw(st.booleans()) else (sign, found, other)
    return found


_operands = _attributes | _sums()
_leaves = st.one_of(
    _attributes,
    st.tuples(st.just("is null"), _attributes),
    st.tuples(st.just("compare"), st.sampled_from([*_SIGNS]), _operands, _constants),
    st.tuples(st.just("compare"), st.sampled_from([*_SIGNS]), _constants, _operands),
    st.tuples(st.just("compare"), st.sampled_from([*_SIGNS]), _constants, _constants),
    st.tuples(st.just("compare"), st.sampled_from([*_SIGNS]), _operands, _operands),
    st.tuples(st.just("between"), _operands, _constants, _constants),
    st.tuples(st.just("in"), _attributes, st.lists(_constants | _attributes, min_size=1, max_size=3)),
    st.tuples(st.just("in"), _sums(), st.lists(_constants, min_size=1, max_size=2)),
    st.tuples(st.just("in"), _constants, st.lists(_attributes | _constants, min_size=1, max_size=3)),
    st.tuples(st.just("like"), _attributes, st.sampled_from(["a%", "%b", "_", "%", "", "a_%"])),
)
selectors: st.SearchStrategy[Selector] = st.recursive(
    _leaves,
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3))
    ),
    max_leaves=5,
)
_values = (
    st.none() | st.booleans() | st.sampled_from([0, 1, 2, 5, -1, 10, 0.5, 0.1, 0.2, 2.5, -0.25]) | _texts
)
events = st.dictionaries(_names, _values)
