"""Merging as figure 10 and table 1 of paper L have it.

Subscriptions may be merged if they differ in nothing but their topmost predicate, on one attribute: outputs of one
diagram. There `<` and `=` become `<=`, `>` and `=` become `>=`, `<` and `>` all values or all but one; whatever costs
least first, as long as the IMT of the merger is at most the threshold. Values are whole numbers, so that nothing is
between `<= 4` and `= 5`. The policy `Merging` has rules beyond these, which are not used here: other attributes than the
topmost, ranges around values, groups that cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from operator import itemgetter

import numpy as np

from thatch.experiments.li2005.advertised import Advertised, Floats, Side
from thatch.experiments.li2005.covering import ends_of, uncovered
from thatch.workloads.li2005 import AT_LEAST, AT_MOST, ATTRIBUTES, EQUAL, UNEQUAL, Predicates

__all__ = ["Diagram", "Merger", "diagrams_of", "merged", "mergers_in"]

_ROUNDING = 1e-12

Output = tuple[int, int, int]  # least and greatest value, row


@dataclass(frozen=True, slots=True)
class Diagram:
    """Subscriptions with the same tail and the same attribute on top.

    Parameters
    ----------
    attribute : of their topmost predicates
    tail : their other predicates
    outputs : their topmost predicates, with the rows of the table that these are of
    """

    attribute: int
    tail: tuple[Side, ...]
    outputs: list[Output]


@dataclass(frozen=True, slots=True)
class Merger:
    """A subscription around some of a diagram, or one of it alone.

    Parameters
    ----------
    attribute, operator, value : its topmost predicate
    parts : the rows that it is around
    cost : its IMT
    """

    attribute: int
    operator: int
    value: int
    parts: tuple[int, ...]
    cost: float = 0.0


def merged(
    table: Predicates, threshold: float, expected: Advertised, order: Sequence[int] = range(ATTRIBUTES)
) -> Predicates:
    """A table, none of whose subscriptions covers another, after merging.

    Parameters
    ----------
    threshold : most that the IMT of a merger may be
    order : attributes from the top of diagrams to the bottom
    """
    made = [
        merger for diagram in diagrams_of(table, order) for merger in mergers_in(diagram, threshold, expected)
    ]
    made.sort(key=lambda merger: merger.parts)
    rows = table.chosen(np.array([merger.parts[0] for merger in made], np.int64))
    top = np.repeat([merger.attribute for merger in made], np.diff(rows.offsets))
    places = np.flatnonzero(rows.attribute == top)  # one in each row
    rows.operator[places] = [merger.operator for merger in made]
    rows.value[places] = [merger.value for merger in made]
    return uncovered(rows)


def diagrams_of(table: Predicates, order: Sequence[int] = range(ATTRIBUTES)) -> list[Diagram]:
    """The diagrams of a table that has no `!=`."""
    depth = np.argsort(np.array(order))
    rows = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    places = np.lexsort((depth[table.attribute], rows))  # in each subscription, the topmost predicate first
    columns = (column[places].tolist() for column in (table.attribute, *ends_of(table)))
    sides: list[Side] = list(zip(*columns, strict=True))
    offsets = table.offsets.tolist()
    found: dict[tuple[int, tuple[Side, ...]], Diagram] = {}
    for row in range(len(table)):
        attribute, low, high = sides[offsets[row]]
        tail = tuple(sides[offsets[row] + 1 : offsets[row + 1]])
        if (attribute, tail) not in found:
            found[attribute, tail] = Diagram(attribute, tail, [])
        found[attribute, tail].outputs.append((low, high, row))
    return list(found.values())


def mergers_in(diagram: Diagram, threshold: float, expected: Advertised) -> Iterator[Merger]:
    """What a diagram's outputs become."""
    last = expected.values - 1
    weights = expected.weights(diagram.attribute, diagram.tail) if len(diagram.outputs) > 1 else None
    outputs = _Outputs(diagram, last, weights)
    while outputs.merge(threshold + _ROUNDING):
        pass
    return outputs.mergers()


@dataclass(slots=True)
class _End:
    """What holds one end of the line: everything up to a place, or everything from there on."""

    place: int
    rows: tuple[int, ...]
    cost: float = 0.0


class _Outputs:
    """The outputs of a diagram: one that holds the lower end of the line, one that holds the upper, and single values.

    No output covers another, so there are not more, and the values rise between the two.
    """

    def __init__(self, diagram: Diagram, last: int, weights: Floats | None) -> None:
        self._attribute = diagram.attribute
        self._low: _End | None = None
        self._high: _End | None = None
        self._points: list[tuple[int, int]] = []  # value and row
        self._whole: Merger | None = None
        for low, high, row in sorted(diagram.outputs):
            if low == 0:
                self._low = _End(high, (row,))
            elif high == last:
                self._high = _End(low, (row,))
            else:
                self._points.append((low, row))
        self._sums = [0.0] if weights is None else [0.0, *np.cumsum(weights).tolist()]

    def merge(self, most: float) -> bool:
        """Do what costs least, if that is little enough; False if nothing is."""
        cost, change = min(self._ways(), key=itemgetter(0), default=(inf, None))
        if change is None or cost > most:
            return False
        change(cost)
        return True

    def mergers(self) -> Iterator[Merger]:
        """All outputs that there are now."""
        if self._whole is not None:
            yield self._whole
            return
        for end, operator in ((self._low, AT_MOST), (self._high, AT_LEAST)):
            if end is not None:
                yield self._merger(operator, end.place, end.rows, end.cost)
        for value, row in self._points:
            yield self._merger(EQUAL, value, (row,), 0.0)

    def _ways(self) -> Iterator[tuple[float, Callable[[float], None]]]:
        """What may be done, and the IMT of the merger that this makes."""
        low, high, points = self._low, self._high, self._points
        if self._whole is not None:
            return
        if low is not None and high is not None:
            ends = low.cost + high.cost
            held = sum(self._between(value - 1, value + 1) for value, _ in points)
            rows = (*low.rows, *high.rows, *(row for _, row in points))
            between = max(self._between(low.place, high.place) - held, 0.0)
            yield ends + between, partial(self._unite, AT_LEAST, 0, rows)
            if high.place - low.place == 2 and not points:
                yield ends, partial(self._unite, UNEQUAL, low.place + 1, rows)
        if low is not None and points:
            yield low.cost + self._between(low.place, points[0][0]), partial(self._raise, low)
        if high is not None and points:
            yield high.cost + self._between(points[-1][0], high.place), partial(self._lower, high)

    def _unite(self, operator: int, value: int, rows: tuple[int, ...], cost: float) -> None:
        self._whole = self._merger(operator, value, rows, cost)

    def _raise(self, low: _End, cost: float) -> None:
        value, row = self._points.pop(0)
        self._low = _End(value, (*low.rows, row), cost)

    def _lower(self, high: _End, cost: float) -> None:
        value, row = self._points.pop()
        self._high = _End(value, (*high.rows, row), cost)

    def _between(self, low: int, high: int) -> float:
        """The probability of the values between two places, these not among them."""
        return self._sums[high] - self._sums[low + 1] if high > low else 0.0

    def _merger(self, operator: int, value: int, rows: tuple[int, ...], cost: float) -> Merger:
        return Merger(self._attribute, operator, value, tuple(sorted(rows)), cost)
