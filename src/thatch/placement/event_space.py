"""From filters to boxes of numbers, and back: the event space of real subscriptions.

An axis is an attribute that subscriptions constrain. Its line is mapped to 0..1 by the share of events below each cut, so that
the volume of a box is the share of events inside, where attributes are independent (`thatch.model.selectivity` estimates
shares). Only the cuts of subscriptions are needed. Cuts with no events between them are kept apart by a share too small to
count, so that nothing is lost on the way back from boxes to filters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.conjunctions import Conjunction, Dead, close
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, TOP, WHOLE, Constraint, Cut
from thatch.model.profile import Profile
from thatch.model.schema import Schema, line_of, tighten
from thatch.model.selectivity import Selectivity
from thatch.model.simplification import simplify
from thatch.model.types import Line
from thatch.placement.arrays import Floats
from thatch.placement.boxes import box_volumes, is_inside

__all__ = [
    "MOST_AXES",
    "MOST_BOXES",
    "EventAxis",
    "EventSpace",
    "Interval",
    "Sides",
    "count_sides",
    "event_space",
    "sides_of",
]

MOST_AXES = 6  # work on unions of boxes grows with a power of the axes
MOST_BOXES = 64  # a filter with more becomes one box for each conjunction

_APART = 1e-12  # the least share between neighbouring cuts; doubles below 1 are ten thousand times closer
_NAN: Constraint = ((4,), (5,))

Interval = tuple[Cut, Cut]
Sides = Mapping[
    str, Mapping[Interval, int]
]  # by attribute: the intervals of boxes, and how many boxes have each


@dataclass(frozen=True, slots=True, eq=False)
class EventAxis:
    """An attribute whose line is mapped to 0..1.

    Parameters
    ----------
    key : the attribute; empty for the only axis of a space in which no subscription constrains anything
    cuts : those of all subscriptions and the ends of the line, rising
    positions : where each cut lies, from 0 to 1, rising
    """

    key: str
    cuts: tuple[Cut, ...]
    positions: Floats
    position_of: Mapping[Cut, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "position_of", dict(zip(self.cuts, self.positions.tolist(), strict=True)))

    def between(self, low: float, high: float) -> Constraint:
        """The smallest interval around all intervals of subscriptions that lie between two positions."""
        first = int(np.searchsorted(self.positions, low, "left"))
        last = int(np.searchsorted(self.positions, high, "right")) - 1
        return (self.cuts[first], self.cuts[last])


@dataclass(frozen=True, slots=True, eq=False)
class EventSpace:
    """The axes of a set of subscriptions."""

    axes: tuple[EventAxis, ...]
    schema: Schema | None = None

    def boxes_of(self, filter: Filter) -> Floats:
        """The boxes around a filter, a row each: the low ends on all axes, then the high ends."""
        rows = []
        for sides in sides_of(filter):
            ends = [sides.get(axis.key, WHOLE) for axis in self.axes]
            lows, highs = (
                [axis.position_of[end[which]] for axis, end in zip(self.axes, ends, strict=True)]
                for which in (0, 1)
            )
            rows.append(lows + highs)
        return np.array(rows)

    def filter_of(self, boxes: Floats) -> Filter | None:
        """A filter that covers all subscriptions whose boxes lie inside these; None for no boxes.

        Checks that are not intervals, and attributes that are not axes, are left out: the filter covers more, never less.
        """
        if not len(boxes):
            return None
        found = [each for box in _outermost(boxes) if (each := self._conjunction(box)) is not None]
        return Filter(tuple(simplify(found, self.schema)), self.schema, ())

    def _conjunction(self, box: Floats) -> Conjunction | None:
        """A box as a conjunction; None if no event lies inside, as for some parts of a union on a derived attribute."""
        d = len(self.axes)
        sides = {}
        for number, axis in enumerate(self.axes):
            constraint = axis.between(float(box[number]), float(box[d + number]))
            if constraint != WHOLE:
                line = line_of(axis.key, self.schema)
                sides[axis.key] = tighten(_expressible(constraint, line), line)
        try:
            return close(sides, (), self.schema)
        except Dead:
            return None


def _outermost(boxes: Floats) -> list[Floats]:
    """The boxes that lie inside no other."""
    kept: list[Floats] = []
    for box in boxes[np.argsort(-box_volumes(boxes), kind="stable")]:
        if not any(is_inside(box, other) for other in kept):
            kept.append(box)
    return kept


def _expressible(constraint: Constraint, line: Line | None) -> Constraint:
    """The smallest interval around one that a filter can express: an interval with NaN must contain all numbers."""
    first, last = constraint
    has_nan = first <= (4,) and last >= (5,) and tighten(_NAN, line)
    return (first, (6,)) if has_nan and last < (6,) else constraint


def sides_of(filter: Filter) -> list[dict[str, Interval]]:
    """The boxes around a filter, each as one interval for every attribute that it constrains."""
    if filter.box_count() <= MOST_BOXES:
        return [{key: (low, high) for key, low, high in box.intervals} for box in filter.boxes()]
    return [
        {key: (constraint[0], constraint[-1]) for key, constraint in each.constraints}
        for each in filter.outer_conjunctions
    ]


def count_sides(filters: Iterable[Filter]) -> dict[str, Counter[Interval]]:
    """Count the sides of all boxes around filters."""
    sides: dict[str, Counter[Interval]] = {}
    for filter in filters:
        for box in sides_of(filter):
            for key, interval in box.items():
                sides.setdefault(key, Counter())[interval] += 1
    return sides


def event_space(
    sides: Sides,
    profile: Profile | None = None,
    *,
    schema: Schema | None = None,
    most: int = MOST_AXES,
    keys: Sequence[str] | None = None,
) -> EventSpace:
    """The space of subscriptions whose boxes have these sides.

    Parameters
    ----------
    profile : of the log of events; without one, distributions are assumed
    most : how many axes to keep: those that narrow boxes most on average; brokers check the other attributes
    keys : the attributes to take as axes, instead of choosing

    Raises
    ------
    ParameterError
        If no axes are asked for, or a key that no subscription constrains.
    """
    if most < 1 or (keys is not None and not keys):
        raise ParameterError("at least one axis", shown(most if keys is None else keys), "axes")
    for key in keys or ():
        if key not in sides:
            raise ParameterError("an attribute that subscriptions constrain", shown(key), "axes")
    selectivity = Selectivity(profile, schema)
    axes = [_axis(key, sides[key], selectivity) for key in sorted(sides if keys is None else set(keys))]
    if keys is None:
        axes = sorted(axes, key=lambda axis: (-_narrowing(axis, sides[axis.key]), axis.key))[:most]
    if not axes:
        axes = [EventAxis("", WHOLE, np.array([0.0, 1.0]))]
    return EventSpace(tuple(sorted(axes, key=lambda axis: axis.key)), schema)


def _axis(key: str, asked: Mapping[Interval, int], selectivity: Selectivity) -> EventAxis:
    for interval in asked:
        selectivity.name(key, interval)
    cuts = tuple(sorted({BOTTOM, TOP, *(end for side in asked for end in side)}))
    rising = np.maximum.accumulate(selectivity.below(key, cuts)) + _APART * np.arange(len(cuts))
    return EventAxis(key, cuts, np.asarray(rising / rising[-1]))


def _narrowing(axis: EventAxis, asked: Mapping[Interval, int]) -> float:
    """The share that boxes leave out on an axis, added over all boxes."""
    return sum(
        count * (1.0 - (axis.position_of[high] - axis.position_of[low]))
        for (low, high), count in asked.items()
    )
