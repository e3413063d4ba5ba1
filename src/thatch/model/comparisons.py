"""The constraint that each comparison with a literal is: an interval of the segment of the literal's type."""

from __future__ import annotations

from collections.abc import Callable

from thatch.model.lines import Constraint, Literal, above, below, difference, segment_of

__all__ = ["COMPARE", "only"]


def only(value: Literal) -> Constraint:
    """The interval of a single value."""
    return (below(value), above(value))


def _other(value: Literal) -> Constraint:
    return difference(segment_of(value), only(value))


def _less(value: Literal) -> Constraint:
    low, high = segment_of(value)[0], below(value)
    return (low, high) if low < high else ()


def _at_most(value: Literal) -> Constraint:
    return (segment_of(value)[0], above(value))


def _more(value: Literal) -> Constraint:
    low, high = above(value), segment_of(value)[1]
    return (low, high) if low < high else ()


def _at_least(value: Literal) -> Constraint:
    return (below(value), segment_of(value)[1])


# By the operator of `x operator value`.
COMPARE: dict[str, Callable[[Literal], Constraint]] = {
    "=": only,
    "!=": _other,
    "<": _less,
    "<=": _at_most,
    ">": _more,
    ">=": _at_least,
}
