"""Filters as boxes in writing: for every side the name of its axis and its two cuts as bytes.

Axes and labels need to know all filters; what is here needs one at a time, so that tasks can do it. An axis is named by
the key of its attribute, or for a residual check by the check's text after a zero, which no key begins with. A check and
its opposite share an axis, as in `thatch.reduction.coordinates`: negated checks lie below the cut (1,), others above.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod

import numpy as np
import pyarrow as pa

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, TOP, WHOLE, Constraint
from thatch.model.residuals import Residual
from thatch.pipeline.transforms.reducing.cuts import encoded
from thatch.reduction.coordinates.coordinates import MOST_BOXES
from thatch.reduction.coordinates.implications import Implications

__all__ = ["Sides", "Writer", "attributes_of", "axis_of", "question_of", "row_of"]

Interval = tuple[bytes, bytes]
Sides = dict[str, list[Interval]]  # by axis: what one conjunction allows there

_HALF = {True: (BOTTOM, (1,)), False: ((1,), TOP)}  # by whether a check is negated


def row_of(filter: Filter) -> list[Sides] | None:
    """A filter as a row, which covers others: exactly what satisfies it; None if it has too many boxes."""
    if filter.box_count() > MOST_BOXES:
        return None
    return [_own(each) for each in filter.conjunctions]


def question_of(filter: Filter, implications: Implications) -> list[Sides] | None:
    """A filter as a question, which is to be covered, with all that its conditions imply for what rows constrain.

    Where that makes too many boxes, what is only implied is told as one interval; None if there are still too many.
    """
    found = []
    count = 0
    for conjunction in filter.conjunctions:
        own = _own(conjunction)
        implied = {key: _intervals(each) for key, each in implications.of(conjunction) if each != WHOLE}
        for check in implications.checks_of(conjunction):
            implied[axis_of(check)] = _intervals(_HALF[check.negated])
        sides = own | implied
        if _size(sides) > MOST_BOXES:
            sides |= {key: [(each[0][0], each[-1][1])] for key, each in implied.items() if key not in own}
        count += _size(sides)
        if count > MOST_BOXES:
            return None
        found.append(sides)
    return found


def _own(conjunction: Conjunction) -> Sides:
    sides = {key: _intervals(constraint) for key, constraint in conjunction.constraints}
    for check in conjunction.residuals:
        sides[axis_of(check)] = _intervals(_HALF[check.negated])
    return sides


def _intervals(constraint: Constraint) -> list[Interval]:
    ends = map(encoded, constraint)
    return list(zip(ends, ends, strict=True))


def _size(sides: Sides) -> int:
    return prod(map(len, sides.values()))


def axis_of(check: Residual) -> str:
    """The name of the axis that a check and its opposite share."""
    return f"\0{check.opposite() if check.negated else check!r}"


def attributes_of(filter: Filter) -> str:
    """The keys that a filter constrains, as text: its mask."""
    keys = {key for each in filter.conjunctions for key, _ in each.constraints}
    keys.update(key for each in filter.conjunctions for check in each.residuals for key in check.keys)
    return ", ".join(sorted(keys))


class Writer:
    """Boxes of many filters, gathered as columns."""

    def __init__(self) -> None:
        self._axes: dict[str, int] = {}
        self._axis: list[int] = []
        self._lows: list[bytes] = []
        self._highs: list[bytes] = []
        self._ends: list[int] = [0]  # of boxes, in sides
        self._filters: list[int] = [0]  # ends of filters, in boxes

    def add(self, conjunctions: Iterable[Sides]) -> None:
        """The next filter."""
        for sides in conjunctions:
            axes = [self._axes.setdefault(each, len(self._axes)) for each in sides]
            for chosen in product(*sides.values()):
                self._axis += axes
                self._lows += [low for low, _ in chosen]
                self._highs += [high for _, high in chosen]
                self._ends.append(len(self._axis))
        self._filters.append(len(self._ends) - 1)

    def sides(self) -> pa.Table:
        """`axis`, `low`, `high` of every side."""
        names = pa.array(list(self._axes), pa.string())
        axis = pa.DictionaryArray.from_arrays(pa.array(self._axis, pa.int32()), names)
        ends = [pa.array(each, pa.large_binary()) for each in (self._lows, self._highs)]
        return pa.table({"axis": axis, "low": ends[0], "high": ends[1]})

    def sizes(self) -> pa.LargeListArray:
        """For every filter how many sides each of its boxes has."""
        sizes = np.diff(np.array(self._ends, np.int64)).astype(np.int32)
        return pa.LargeListArray.from_arrays(pa.array(self._filters, pa.int64()), pa.array(sizes))
