"""Arithmetic on numbers: attributes and decimals joined by `+ - * / %`, carried out exactly.

A double is the shortest decimal that gives it, so that `0.1 + 0.2` is `0.3`. A formula has no value where an attribute is no
finite number, a divisor is zero, the remainder is not of whole numbers, or the value has too many digits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import isfinite

from thatch.model.frozen import quick_value
from thatch.model.lines import RANK_NUMBER, Cut

__all__ = [
    "MOST_PARTS",
    "Formula",
    "Numeral",
    "Operation",
    "Variable",
    "calculated",
    "keys_of",
    "number_at",
    "parts_of",
    "text_of",
    "value_of",
]

MOST_PARTS = 100  # attributes and numbers of one formula
_MOST_BITS = 10_000  # of a value
_PRODUCTS = ("*", "/", "%")


@quick_value
class Variable:
    """The number that an attribute is."""

    key: str


@quick_value
class Numeral:
    """A decimal."""

    value: Fraction


@quick_value
class Operation:
    """`left sign right`."""

    sign: str
    left: Formula
    right: Formula


Formula = Variable | Numeral | Operation


def parts_of(formula: Formula) -> Iterator[Variable | Numeral]:
    """The attributes and numbers of a formula."""
    pending = [formula]
    while pending:
        each = pending.pop()
        if isinstance(each, Operation):
            pending += (each.right, each.left)
        else:
            yield each


def keys_of(*formulas: Formula) -> tuple[str, ...]:
    """The keys of all attributes in formulas, in order, each once."""
    return tuple(
        sorted({each.key for one in formulas for each in parts_of(one) if isinstance(each, Variable)})
    )


# --- values ------------------------------------------------------------------------------------------------------


def number_at(place: Cut) -> Fraction | None:
    """The number at a point of a line, None for every other value and infinities."""
    if place[0] != RANK_NUMBER or len(place) < 2:
        return None
    value = place[1]
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value)) if isfinite(value) else None


def value_of(formula: Formula, numbers: Mapping[str, Fraction | None]) -> Fraction | None:
    """The value of a formula, None if it has none."""
    if isinstance(formula, Numeral):
        return formula.value
    if isinstance(formula, Variable):
        return numbers[formula.key]
    left, right = value_of(formula.left, numbers), value_of(formula.right, numbers)
    if left is None or right is None:
        return None
    found = calculated(left, formula.sign, right)
    if found is None or max(found.numerator.bit_length(), found.denominator.bit_length()) > _MOST_BITS:
        return None
    return found


def calculated(left: Fraction, sign: str, right: Fraction) -> Fraction | None:
    """The value of one operation, None if it has none."""
    return _OPERATIONS[sign](left, right)


def _divided(left: Fraction, right: Fraction) -> Fraction | None:
    return left / right if right else None


def _remainder(left: Fraction, right: Fraction) -> Fraction | None:
    if not right or left.denominator != 1 or right.denominator != 1:
        return None
    rest = abs(left) % abs(right)
    return rest if left >= 0 else -rest  # as computers do: the sign is that of the first


_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction | None]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": _remainder,
}

# --- text --------------------------------------------------------------------------------------------------------


def text_of(formula: Formula) -> str:
    """A formula as it is written, with no more brackets than needed."""
    if isinstance(formula, Variable):
        return formula.key
    if isinstance(formula, Numeral):
        return _decimal(formula.value)
    left, right = text_of(formula.left), text_of(formula.right)
    if formula.sign in _PRODUCTS and _is_sum(formula.left):
        left = f"({left})"
    if isinstance(formula.right, Operation) and (formula.sign in _PRODUCTS or _is_sum(formula.right)):
        right = f"({right})"
    return f"{left} {formula.sign} {right}"


def _is_sum(formula: Formula) -> bool:
    return isinstance(formula, Operation) and formula.sign not in _PRODUCTS


def _decimal(value: Fraction) -> str:
    """A decimal without an exponent; numbers are those that were written, so this ends."""
    if value.denominator == 1:
        return str(value.numerator)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
