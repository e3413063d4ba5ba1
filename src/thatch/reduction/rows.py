"""The filters that may cover something, as rows of boxes, and the rows that matter to one box.

A filter with very many boxes is not written out. When an event turns up that it matches, only the box that holds the
event is added. The subscriptions of an engine are added one by one in the same way. Either way the rows are part of the
union, so a box that they cover is covered.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thatch.model.conjunctions import Conjunction, close
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.lines import WHOLE, Constraint, contains, intersect, intervals
from thatch.model.matching import holds
from thatch.model.residuals import (
    AnywhereCheck,
    FormulaCheck,
    PairCheck,
    Residual,
    WildcardCheck,
    WithinCheck,
)
from thatch.model.schema import Schema
from thatch.model.tree_matching import holds_on_tree
from thatch.model.trees import AllOf, AnyOf
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, BoxSides, Ints
from thatch.reduction.coordinates import Coordinates
from thatch.reduction.problem import BoxVerdict, Verdict

__all__ = ["NamedRows", "NearbyRows"]

_MOST_ENDS = 20_000_000  # of rows near one box


@dataclass(frozen=True, slots=True)
class NearbyRows:
    """The rows that meet a box, clipped to it, on the axes where at least one of them does not contain it.

    `low` and `high` are the box on these axes; `numbers` has the number of each row.
    """

    axes: npt.NDArray[np.int32]
    low: Ints
    high: Ints
    lows: Ints
    highs: Ints
    numbers: Ints

    def trivial_verdict(self) -> BoxVerdict | None:
        """The verdict if no row leaves out any part of the box; None if one does."""
        if self.axes.size:
            return None
        if len(self.numbers):
            return Verdict(covered=True, certain=True, decided_by="pairwise", used=(0,))
        return Verdict(covered=False, certain=True, decided_by="empty", witness=np.zeros(0, np.int64))


class NamedRows:
    """Boxes of named filters, in coordinates of their own. Rows can be added."""

    def __init__(self, schema: Schema | None) -> None:
        self.coordinates = Coordinates(schema, self._on_relabel)
        self._boxes: list[Boxes] = []
        self._names: list[Hashable] = []  # one for each box
        self._joined: Boxes | None = None

    def __len__(self) -> int:
        """How many boxes there are."""
        return len(self._names)

    def name(self, number: int) -> Hashable:
        """The name of the filter that a row belongs to."""
        return self._names[number]

    def add(self, name: Hashable, member: Filter | Conjunction) -> bool:
        """Add a filter; returns False, and adds nothing, if it has too many boxes to write out."""
        boxes = self.coordinates.boxes(member)
        if boxes is None:
            return False
        self._boxes.append(boxes)
        self._names += [name] * len(boxes)
        self._joined = None
        return True

    def add_box_around(self, name: Hashable, filter: Filter, record: Record) -> None:
        """Add the one box of a filter that holds an event."""
        conjunction = _alternative_at(filter, record)
        sides = []
        for key, constraint in conjunction.constraints:
            point = record.point(key)
            sides.append((key, next(pair for pair in intervals(constraint) if contains(pair, point))))
        self.add(name, Conjunction(tuple(sides), conjunction.residuals))

    def near(self, box: BoxSides, extra: Sequence[BoxSides]) -> NearbyRows | None:
        """The rows that matter to one box, extra ones numbered last; None if they are too many to write out."""
        rows = self._with(extra)
        axis_count = len(self.coordinates.keys)
        low = np.full(axis_count, LOWEST, np.int64)
        high = np.full(axis_count, HIGHEST, np.int64)
        low[box[0]], high[box[0]] = box[1], box[2]
        side_low, side_high = low[rows.axes], high[rows.axes]
        row = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
        is_apart = np.zeros(len(rows), np.bool_)
        is_apart[row[(rows.lows > side_high) | (rows.highs < side_low)]] = True
        is_entry = ~is_apart[row] & ((rows.lows > side_low) | (rows.highs < side_high))
        numbers = np.flatnonzero(~is_apart)
        axes = np.unique(rows.axes[is_entry])
        if len(numbers) * len(axes) > _MOST_ENDS:
            return None
        lows = np.tile(low[axes], (len(numbers), 1))
        highs = np.tile(high[axes], (len(numbers), 1))
        line = np.searchsorted(numbers, row[is_entry])
        column = np.searchsorted(axes, rows.axes[is_entry])
        lows[line, column] = np.maximum(rows.lows[is_entry], lows[line, column])
        highs[line, column] = np.minimum(rows.highs[is_entry], highs[line, column])
        return NearbyRows(axes, low[axes], high[axes], lows, highs, numbers)

    def _with(self, extra: Sequence[BoxSides]) -> Boxes:
        if self._joined is None:
            self._joined = Boxes.join([side for boxes in self._boxes for side in boxes])
        return Boxes.join([*self._joined, *extra]) if extra else self._joined

    def _on_relabel(self, axis: int, old: Ints, new: Ints) -> None:
        self._boxes = [boxes.with_labels(axis, old, new) for boxes in self._boxes]
        self._joined = None


def _alternative_at(filter: Filter, record: Record) -> Conjunction:
    """An alternative of a filter that holds on a flat event, without multiplying all of them out."""
    if filter.has_conjunctions:
        return next(each for each in filter.conjunctions if holds(each, record))
    constraints: dict[str, Constraint] = {}
    residuals: set[Residual] = set()
    pending = [filter.tree]
    while pending:
        each = pending.pop()
        if isinstance(each, AllOf):
            pending.extend(each.children)
        elif isinstance(each, AnyOf):
            pending.append(next(child for child in each.children if holds_on_tree(child, record)))
        elif isinstance(each, (WithinCheck, PairCheck, FormulaCheck, AnywhereCheck)):
            residuals.add(each)
        elif each.negated or contains(each.constraint, record.point(each.key)):
            constraints[each.key] = intersect(constraints.get(each.key, WHOLE), each.constraint)
            residuals.update(
                WildcardCheck(each.key, pattern, negated=True) for pattern in each.patterns if each.negated
            )
        else:
            text = record.point(each.key)[1]
            residuals.add(
                WildcardCheck(each.key, next(pattern for pattern in each.patterns if pattern.matches(text)))
            )
    return close(constraints, residuals, filter.schema)
