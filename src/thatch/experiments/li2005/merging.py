"""Merging as in figure 10 and table 1 of li2005.

Subscriptions can be merged if they differ only in their topmost predicate and its attribute is the same: they are outputs
of one diagram. There `<` and `=` become `<=`, `>` and `=` become `>=`, `<` and `>` become all values or all but one; the
cheapest merger comes first, as long as its IMT is at most the threshold. Values are whole numbers, so nothing lies
between `<= 4` and `= 5`. The policy `Merging` has further rules, which are not used here: other attributes than the
topmost, ranges around values, groups that cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from thatch.experiments.li2005.covering import ends_of, remove_covered
from thatch.workloads.li2005 import AT_LEAST, AT_MOST, ATTRIBUTES, EQUAL, UNEQUAL, Ints, Predicates

__all__ = [
    "Advertised",
    "Diagram",
    "DiagramMerger",
    "advertisements",
    "diagrams_of",
    "merge_table",
    "mergers_in",
]

Floats = npt.NDArray[np.float64]
Side = tuple[int, int, int]  # attribute, least and greatest value


class Advertised:
    """The expected publications: spread uniformly over some disjoint boxes.

    Parameters
    ----------
    values : number of values of every attribute
    lows, highs : a row for each box and a column for each attribute; by default one box of all values
    """

    def __init__(self, values: int, lows: Ints | None = None, highs: Ints | None = None) -> None:
        whole = np.zeros((1, ATTRIBUTES), np.int64)
        self.values = values
        self.lows = whole if lows is None else lows
        self.highs = whole + values - 1 if highs is None else highs
        widths = self.highs - self.lows + 1
        self._shares: Floats = (widths / values).prod(axis=1)

    def weights(self, attribute: int, tail: Sequence[Side]) -> Floats:
        """For each value of an attribute, the probability that a publication has it and satisfies the tail."""
        widths = (self.highs - self.lows + 1).astype(np.float64)
        share = self._shares / self._shares.sum()
        for key, low, high in tail:
            inside = np.minimum(high, self.highs[:, key]) - np.maximum(low, self.lows[:, key]) + 1
            share = share * np.maximum(inside, 0) / widths[:, key]
        value = np.arange(self.values)
        is_inside = (self.lows[:, attribute, None] <= value) & (value <= self.highs[:, attribute, None])
        return np.asarray((share / widths[:, attribute]) @ is_inside)


def advertisements(values: int, share: float) -> Advertised:
    """Two publishers, one for the lower half of the values of `a00` and one for the upper.

    Parameters
    ----------
    share : both advertise only this lower share of the values of every other attribute in the upper half of diagrams; 1
        stands for no advertisements
    """
    if share == 1:
        return Advertised(values)
    lows, highs = np.zeros((2, ATTRIBUTES), np.int64), np.full((2, ATTRIBUTES), values - 1)
    highs[:, 1 : ATTRIBUTES // 2] = max(int(share * values), 1) - 1
    highs[0, 0], lows[1, 0] = values // 2 - 1, values // 2
    return Advertised(values, lows, highs)


_ROUNDING = 1e-12

Output = tuple[int, int, int]  # least and greatest value, row


@dataclass(frozen=True, slots=True)
class Diagram:
    """Subscriptions with the same tail and the same attribute on top.

    Parameters
    ----------
    attribute : of their topmost predicates
    tail : their other predicates
    outputs : their topmost predicates, each with its row of the table
    """

    attribute: int
    tail: tuple[Side, ...]
    outputs: list[Output]


@dataclass(frozen=True, slots=True)
class DiagramMerger:
    """A subscription that replaces some subscriptions of a diagram, or one that is kept.

    Parameters
    ----------
    attribute, operator, value : its topmost predicate
    parts : the rows that it replaces
    cost : its IMT
    """

    attribute: int
    operator: int
    value: int
    parts: tuple[int, ...]
    cost: float = 0.0


def merge_table(
    table: Predicates, threshold: float, expected: Advertised, order: Sequence[int] = range(ATTRIBUTES)
) -> Predicates:
    """Merge the subscriptions of a table in which none covers another.

    Parameters
    ----------
    threshold : the largest IMT of a merger
    order : attributes from the top of diagrams to the bottom
    """
    made = [
        merger for diagram in diagrams_of(table, order) for merger in mergers_in(diagram, threshold, expected)
    ]
    made.sort(key=lambda merger: merger.parts)
    rows = table.take(np.array([merger.parts[0] for merger in made], np.int64))
    top = np.repeat([merger.attribute for merger in made], np.diff(rows.offsets))
    places = np.flatnonzero(rows.attribute == top)  # one in each row
    rows.operator[places] = [merger.operator for merger in made]
    rows.value[places] = [merger.value for merger in made]
    return remove_covered(rows)


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


def mergers_in(diagram: Diagram, threshold: float, expected: Advertised) -> Iterator[DiagramMerger]:
    """The outputs of a diagram after merging."""
    last = expected.values - 1
    weights = expected.weights(diagram.attribute, diagram.tail) if len(diagram.outputs) > 1 else None
    outputs = _Outputs(diagram, last, weights)
    while outputs.merge(threshold + _ROUNDING):
        pass
    return outputs.mergers()


@dataclass(slots=True)
class _End:
    """An output that holds one end of the line: all values up to this one, or from it on."""

    value: int
    rows: tuple[int, ...]
    cost: float = 0.0


class _Outputs:
    """The outputs of a diagram: at most one holds the lower end of the line, one the upper end; the rest are single values.

    No output covers another, so the single values lie between the two.
    """

    def __init__(self, diagram: Diagram, last: int, weights: Floats | None) -> None:
        self._attribute = diagram.attribute
        self._low: _End | None = None
        self._high: _End | None = None
        self._points: list[tuple[int, int]] = []  # value and row
        self._whole: DiagramMerger | None = None
        for low, high, row in sorted(diagram.outputs):
            if low == 0:
                self._low = _End(high, (row,))
            elif high == last:
                self._high = _End(low, (row,))
            else:
                self._points.append((low, row))
        self._sums = [0.0] if weights is None else [0.0, *np.cumsum(weights).tolist()]

    def merge(self, most: float) -> bool:
        """Make the cheapest merger if it costs at most this; False if there is none."""
        cost, change = min(self._options(), key=itemgetter(0), default=(inf, None))
        if change is None or cost > most:
            return False
        change(cost)
        return True

    def mergers(self) -> Iterator[DiagramMerger]:
        """The current outputs."""
        if self._whole is not None:
            yield self._whole
            return
        for end, operator in ((self._low, AT_MOST), (self._high, AT_LEAST)):
            if end is not None:
                yield self._merger(operator, end.value, end.rows, end.cost)
        for value, row in self._points:
            yield self._merger(EQUAL, value, (row,), 0.0)

    def _options(self) -> Iterator[tuple[float, Callable[[float], None]]]:
        """The IMT of every possible merger, and a function that makes it."""
        low, high, points = self._low, self._high, self._points
        if self._whole is not None:
            return
        if low is not None and high is not None:
            ends = low.cost + high.cost
            held = sum(self._between(value - 1, value + 1) for value, _ in points)
            rows = (*low.rows, *high.rows, *(row for _, row in points))
            between = max(self._between(low.value, high.value) - held, 0.0)
            yield ends + between, partial(self._unite, AT_LEAST, 0, rows)
            if high.value - low.value == 2 and not points:
                yield ends, partial(self._unite, UNEQUAL, low.value + 1, rows)
        if low is not None and points:
            yield low.cost + self._between(low.value, points[0][0]), partial(self._raise, low)
        if high is not None and points:
            yield high.cost + self._between(points[-1][0], high.value), partial(self._lower, high)

    def _unite(self, operator: int, value: int, rows: tuple[int, ...], cost: float) -> None:
        self._whole = self._merger(operator, value, rows, cost)

    def _raise(self, low: _End, cost: float) -> None:
        value, row = self._points.pop(0)
        self._low = _End(value, (*low.rows, row), cost)

    def _lower(self, high: _End, cost: float) -> None:
        value, row = self._points.pop()
        self._high = _End(value, (*high.rows, row), cost)

    def _between(self, low: int, high: int) -> float:
        """The probability of the values between two values, both excluded."""
        return self._sums[high] - self._sums[low + 1] if high > low else 0.0

    def _merger(self, operator: int, value: int, rows: tuple[int, ...], cost: float) -> DiagramMerger:
        return DiagramMerger(self._attribute, operator, value, tuple(sorted(rows)), cost)
