"""Event boxes: events whose values are known only to within an interval or a list of choices.

Examples are a sensor reading with its error, or an event of which only a summary is left: the imprecise publications of
ouksel2006, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thatch.errors import EventError, shown
from thatch.model.conjunctions import Conjunction
from thatch.model.events import MAX_DEPTH
from thatch.model.filters import Filter
from thatch.model.lines import MISSING, WHOLE, Constraint, Literal, above, around, below, point, union
from thatch.model.names import key_of
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.types import Line
from thatch.model.values import canonical_number, check_text, read_scalar

__all__ = ["EventBox"]

_MOST_VALUES = 1_000


class EventBox:
    """All flat events that an imprecise event may be.

    Parameters
    ----------
    attributes : for each name a value, a pair `(low, high)` of closed bounds (two numbers, or two texts), or a list or
        set of possible values. Attributes that are not named are missing. Nested mappings are nested attributes.

    Raises
    ------
    EventError
        If a low end is above the high one, an end is NaN, the ends have different types, or a list is empty.

    Notes
    -----
    If the attribute has a declared type, an interval holds the values of that type between its ends. An end of another
    type counts as missing, as in events, so that the attribute may be missing, too.

    Examples
    --------
    >>> EventBox({"price": (100, 110), "symbol": "IBM", "side": ["buy", "sell"]})
    EventBox({'price': (100, 110), 'symbol': 'IBM', 'side': ['buy', 'sell']})
    """

    __slots__ = ("_attributes", "_sides")

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        if not isinstance(attributes, Mapping):
            raise EventError(
                "an object of names and values", f"{shown(attributes)} of type {type(attributes).__name__}"
            )
        self._attributes = dict(attributes)
        self._sides: dict[str, tuple[Constraint, tuple[Literal, ...]]] = {}
        self._read(attributes, "", 0)

    def _read(self, attributes: Mapping[str, Any], prefix: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise EventError(f"at most {MAX_DEPTH} nested objects", "a deeper or cyclic one", prefix[:80])
        for name, value in attributes.items():
            if not isinstance(name, str):
                raise EventError("names as text", f"{shown(name)} of type {type(name).__name__}", prefix[:-1])
            path = prefix + check_text(name, "a name")
            if isinstance(value, Mapping):
                self._read(value, path + ".", depth + 1)
                continue
            key = key_of(path)
            if key in self._sides:
                raise EventError("each path once", f"{shown(path)} twice", path)
            self._sides[key] = _side(value, path)

    def conjunction(self, bases: Iterable[str], schema: Schema | None) -> Conjunction:
        """The events as a conjunction over these attributes and those that the box names."""
        constraints = dict.fromkeys(bases, MISSING)
        for key, (constraint, ends) in self._sides.items():
            constraints[key] = _of_type(constraint, ends, line_of(key, schema))
        return Conjunction(tuple(sorted(each for each in constraints.items() if each[1] != WHOLE)))

    def filter(self, other: Filter) -> Filter:
        """The events as a filter over the attributes of another filter."""
        return Filter((self.conjunction(other.attributes(), other.schema),), other.schema, ())

    def __repr__(self) -> str:
        return f"EventBox({self._attributes!r})"


def _side(value: Any, where: str) -> tuple[Constraint, tuple[Literal, ...]]:
    """Where an attribute may lie, and the values given for it."""
    if isinstance(value, tuple):
        return _interval(value, where)
    if not isinstance(value, list | set | frozenset):
        scalar = _scalar(value, where)
        return around(point(scalar)), (scalar,)
    if not 1 <= len(value) <= _MOST_VALUES:
        raise EventError(f"1 to {_MOST_VALUES:,} possible values", f"{len(value):,}", where)
    scalars = tuple(_scalar(each, where) for each in value)
    return union(around(point(each)) for each in scalars), scalars


def _interval(ends: tuple[Any, ...], where: str) -> tuple[Constraint, tuple[Literal, ...]]:
    if len(ends) != 2:
        raise EventError("a pair of a low and a high end", shown(ends), where)
    low, high = (_scalar(end, where) for end in ends)
    for end in (low, high):
        if isinstance(end, bool) or end is None or end != end:
            raise EventError("numbers or texts as ends", shown(end), where)
    assert low is not None
    assert high is not None
    if isinstance(low, str) != isinstance(high, str):
        raise EventError("two numbers or two texts as ends", shown(ends), where)
    if low > high:  # type: ignore[operator] # two numbers, or two texts
        raise EventError("a low end that is not above the high one", shown(ends), where)
    return (below(low), above(high)), (low, high)


def _scalar(value: Any, where: str) -> Literal:
    scalar = read_scalar(value, where)
    return canonical_number(scalar) if isinstance(scalar, float) else scalar


def _of_type(constraint: Constraint, given: tuple[Literal, ...], line: Line | None) -> Constraint:
    """Restrict a constraint to a declared type; a value of another type counts as missing."""
    if line is None:
        return constraint
    is_misfit = any(value is not None and not line.holds(value) for value in given)
    kept = [value for value in given if value is None or line.holds(value)]
    inside = tighten(constraint, line)
    if len(constraint) == 2 and len(given) == 2:  # an interval
        return union([MISSING, inside]) if is_misfit else inside
    listed = tighten(union(around(point(value)) for value in kept), line)
    return union([MISSING, listed]) if is_misfit else listed
