"""Conditions of languages whose `not` is not that of Thatch: when each is true, and when it is false.

Thatch's own conditions are unknown on values of another type; a JMS selector is false there, and a query of Elasticsearch
also where the attribute is missing. So a reader keeps both halves, and `not` exchanges them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from thatch.model.expressions import (
    And,
    Compare,
    Constant,
    Distinct,
    Exists,
    Expression,
    In,
    IsNull,
    Matches,
    Not,
    Or,
    Unlike,
)
from thatch.model.lines import Literal
from thatch.model.regexes import Pattern

__all__ = [
    "FLIPPED",
    "NEVER",
    "Truth",
    "is_form",
    "is_ordered",
    "is_value",
    "not_ordered",
    "of_other_types",
    "only_present",
    "or_missing",
    "order_or_missing",
]

NEVER = Constant(value=False)
FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}  # with the sides exchanged
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True, slots=True)
class Truth:
    """When something is true, and when it is false; otherwise it is unknown."""

    yes: Expression
    no: Expression

    @classmethod
    def of(cls, *, value: bool) -> Truth:
        """Always true, or always false."""
        return cls(Constant(value), Constant(not value))

    @classmethod
    def all_of(cls, parts: Iterable[Truth]) -> Truth:
        """`and`: true if all are, false if one is."""
        given = [*parts]
        return given[0] if len(given) == 1 else cls(_and(x.yes for x in given), _or(x.no for x in given))

    @classmethod
    def any_of(cls, parts: Iterable[Truth]) -> Truth:
        """`or`: true if one is, false if all are."""
        given = [*parts]
        return given[0] if len(given) == 1 else cls(_or(x.yes for x in given), _and(x.no for x in given))

    def negated(self) -> Truth:
        """`not`."""
        return Truth(self.no, self.yes)


def is_value(key: str, value: Literal) -> Truth:
    """The attribute is that value; false for every other value and null, unknown if it is missing."""
    return Truth(Compare(key, "=", value), Distinct(key, value))


def is_form(key: str, pattern: Pattern) -> Truth:
    """The attribute is text of that form; false for every other value and null, unknown if it is missing."""
    return Truth(Matches(key, pattern), Unlike(key, pattern))


def is_ordered(key: str, operator: str, value: Literal) -> Truth:
    """One of the four orders; false for a value of another type, unknown for null, NaN and a missing attribute."""
    return Truth(Compare(key, operator, value), Or((not_ordered(key, operator, value), *_others(key, value))))


def not_ordered(key: str, operator: str, value: Literal) -> Expression:
    """The opposite of an order, among values of the same type."""
    return Compare(key, _OPPOSITE[operator], value)


def or_missing(key: str, truth: Truth) -> Truth:
    """The same, but false if the attribute is missing."""
    return Truth(truth.yes, _or((Not(Exists(key)), truth.no)))


def only_present(key: str) -> Truth:
    """The attribute has a value that is not null."""
    return Truth(Not(IsNull(key)), _or((Not(Exists(key)), IsNull(key))))


def order_or_missing(key: str, operator: str, value: Literal) -> Truth:
    """An order that is false for every other value, and if the attribute is null or missing."""
    if key.endswith(")"):  # only comparable values have such an attribute
        return Truth(Compare(key, operator, value), Or((Not(Exists(key)), not_ordered(key, operator, value))))
    truth = is_ordered(key, operator, value)
    return Truth(truth.yes, _or((Not(Exists(key)), IsNull(key), truth.no)))


def of_other_types(left: str, right: str) -> Expression:
    """Two attributes have values of different types, among booleans, numbers and text."""
    number = Or((Compare(left, "<=", 0), Compare(left, ">", 0)))
    kinds: tuple[tuple[Expression, Literal], ...] = (
        (In(left, (True, False)), True),
        (number, 0),
        (Compare(left, ">=", ""), ""),
    )
    return _or(And((kind, _or(_others(right, example)))) for kind, example in kinds)


def _others(key: str, value: Literal) -> list[Expression]:
    """The values of the other types, among booleans, numbers and text."""
    found: list[Expression] = []
    if not isinstance(value, bool):
        found.append(In(key, (True, False)))
    if isinstance(value, (bool, str)):
        found += (Compare(key, "<=", 0), Compare(key, ">", 0))
    if not isinstance(value, str):
        found.append(Compare(key, ">=", ""))
    return found


def _and(parts: Iterable[Expression]) -> Expression:
    return And(tuple(parts))


def _or(parts: Iterable[Expression]) -> Expression:
    return Or(tuple(parts))
