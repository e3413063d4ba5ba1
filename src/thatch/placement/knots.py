"""How the values of an attribute are distributed along its line, as knots: at a cut, the share of events below it.

The share rises from 0 at the bottom of the line to 1 at its top. It is `measured` where a profile of the log is known, else
`assumed`: even over declared bounds or over the range of what subscriptions ask, and nothing known about texts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf, isfinite

import numpy as np

from thatch.model.derived import derive
from thatch.model.lines import (
    BOTTOM,
    RANK_NUMBER,
    TOP,
    Cut,
    above,
    around,
    below,
    first_point,
    is_single,
    point,
)
from thatch.model.names import base_of
from thatch.model.profile import AttributeProfile, Profile
from thatch.model.schema import Decimal, Enum, Integer, Line, Number, Schema, line_of, tighten
from thatch.model.values import MAX_INTEGER, MIN_INTEGER

__all__ = ["Interval", "Knots", "assumed", "measured"]

Knots = list[tuple[Cut, float]]
Interval = tuple[Cut, Cut]

_SEGMENTS = 7  # missing, null, false, true, NaN, numbers, texts
_BOOLEANS = (2, 3)
_LABELS = 0.5  # numbers of which more than this share is asked by value are names, not amounts


def measured(key: str, profile: Profile) -> Knots:
    """The distribution that a profile knows; an attribute that it does not know is always missing."""
    known = profile.attribute(base_of(key))
    missing = 1.0 - profile.present(key)
    places = {(rank,) for rank in range(_SEGMENTS + 1)}
    if known is not None:
        for place in _points(key, known):
            places.update(around(place))
    knots = []
    highest = 0.0
    for place in sorted(places):
        if place > BOTTOM and known is not None:
            present = ((1,), place) if place > (1,) else ()
            share = known.share(present) if key == known.key else known.derived_share(key, present)
            highest = max(highest, missing + (1 - missing) * share)
        elif place > BOTTOM:
            highest = 1.0
        knots.append((place, min(highest, 1.0)))
    knots[-1] = (TOP, 1.0)
    return knots


def _points(key: str, known: AttributeProfile) -> Iterable[Cut]:
    """The places at which something is known of a distribution."""
    values = [*known.quantiles, *known.text_quantiles, *(value for value, _ in known.heavy)]
    places = map(point, values)
    return places if key == known.key else (derive(key, place) for place in places)


def assumed(key: str, asked: Collection[Interval], schema: Schema | None) -> Knots:
    """The distribution that is taken for granted without a profile.

    Of the parts of the line (missing, null, booleans, numbers, texts) those that somebody asks about weigh the same. Numbers
    are spread evenly over declared bounds, or from the least to the greatest that subscriptions name and a step beyond; if
    subscriptions mostly ask for single ones they are names, and nothing is known about them, as about texts.

    Parameters
    ----------
    asked : the distinct intervals that filters have on the attribute
    """
    line = line_of(key, schema)
    if isinstance(line, Enum):
        return _listed(line)
    weights = _weights(asked, line)
    knots: Knots = [(BOTTOM, 0.0)]
    total = 0.0
    for rank, weight in enumerate(weights):
        if rank == RANK_NUMBER and weight:
            # What is derived has bounds too, but nobody has declared them.
            reach = _range(asked, line if key == base_of(key) else None)
            knots += [] if reach is None else [(below(reach[0]), total), (above(reach[1]), total + weight)]
        total += weight
        knots.append(((rank + 1,), total))
    knots[-1] = (TOP, 1.0)
    return knots


def _listed(line: Enum) -> Knots:
    """Declared values, all as frequent."""
    knots: Knots = [(BOTTOM, 0.0)]
    for number, value in enumerate(line.values):
        low, high = around(point(value))
        knots += [(low, number / len(line.values)), (high, (number + 1) / len(line.values))]
    return [*knots, (TOP, 1.0)]


def _weights(asked: Iterable[Interval], line: Line | None) -> list[float]:
    """The share of each part of the line."""
    parts: set[int] = set()
    for low, high in asked:
        parts.update(end[0] for end in (low, high) if len(end) > 1)
        first, last = low[0], high[0] - (len(high) == 1)
        if last - first <= 1:  # more is said of what is there at all, not of a part
            parts.update(range(first, last + 1))
    parts = {part for part in parts if tighten(((part,), (part + 1,)), line)}
    if not parts:
        return [1 / _SEGMENTS] * _SEGMENTS
    has_booleans = not parts.isdisjoint(_BOOLEANS)
    parts.difference_update(_BOOLEANS)
    each = 1.0 / (len(parts) + has_booleans)
    weights = [each if rank in parts else 0.0 for rank in range(_SEGMENTS)]
    for rank in _BOOLEANS:
        weights[rank] = each / 2 if has_booleans else 0.0
    return weights


def _range(asked: Collection[Interval], line: Line | None) -> tuple[float, float] | None:
    """From where to where numbers lie; None for those that are names."""
    values = np.unique([float(end[1]) for side in asked for end in side if _is_finite(end)])
    low, high = _declared(line)
    if low == -inf or high == inf:
        singles = sum(1 for side in asked if side[0][0] == RANK_NUMBER and _is_value(*side))
        if not len(values) or singles > _LABELS * len(asked):
            return None
    if len(values):
        step = (values[-1] - values[0]) / (len(values) - 1) if len(values) > 1 else max(abs(values[0]), 1.0)
        low = values[0] - step if low == -inf else low
        high = values[-1] + step if high == inf else high
    return (low, high) if isfinite(low) and isfinite(high) and low < high else None


def _is_finite(end: Cut) -> bool:
    return len(end) > 1 and end[0] == RANK_NUMBER and isfinite(end[1])


def _is_value(low: Cut, high: Cut) -> bool:
    """Whether an interval holds one number; on a line of whole ones its ends are neighbours."""
    return is_single(low, high) or (len(high) > 1 and high[1] - first_point(low)[1] == 1 and high[2] == 0)


def _declared(line: Line | None) -> tuple[float, float]:
    """Declared bounds of numbers; where there is none, an infinite one."""
    if not isinstance(line, (Number, Integer, Decimal)):
        return -inf, inf
    low = -inf if line.minimum in (None, MIN_INTEGER) else float(line.minimum)
    high = inf if line.maximum in (None, MAX_INTEGER) else float(line.maximum)
    if isinstance(line, Integer):
        high += 1  # the last whole number is as wide as the others
    return low, high
