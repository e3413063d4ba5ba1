"""The others that a question is held against, as rows of boxes, and the part of them that matters to one box.

A filter with very many boxes is not written out: the one box that holds an event is added when an event turns up that
the filter matches. So are, one by one, the subscriptions of an engine. Either way what is known is part of the union,
and a box that it covers is covered.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thatch.model.conjunctions import Conjunction
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.lines import contains, intervals
from thatch.model.matching import holds
from thatch.model.schema import Schema
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints
from thatch.reduction.coordinates import Coordinates

__all__ = ["Axes", "BoxSides", "Near", "Rows"]

Axes = npt.NDArray[np.int32]
_MOST_ENDS = 20_000_000  # of rows near one box

BoxSides = tuple[Axes, Ints, Ints]  # of one box: the axes that it constrains, its lows and highs there


@dataclass(frozen=True, slots=True)
class Near:
    """The rows that meet a box, cut to it, on the axes where one of them does not contain it.

    `low` and `high` are the box there, `numbers` says which rows these are.
    """

    axes: Axes
    low: Ints
    high: Ints
    lows: Ints
    highs: Ints
    numbers: Ints


class Rows:
    """Boxes of filters under names, in coordinates of their own; rows may be added."""

    def __init__(self, schema: Schema | None) -> None:
        self.coordinates = Coordinates(schema, self._on_relabel)
        self._written: list[Boxes] = []
        self._names: list[Hashable] = []  # of every box
        self._joined: Boxes | None = None

    def __len__(self) -> int:
        """How many boxes there are."""
        return len(self._names)

    def name(self, number: int) -> Hashable:
        """What a row belongs to."""
        return self._names[number]

    def add(self, name: Hashable, filter: Filter) -> bool:
        """Know a filter from now on; False if it has too many boxes to be written out, and is not known."""
        return self._add(name, filter)

    def add_piece(self, name: Hashable, filter: Filter, record: Record) -> None:
        """Know the one box of a filter that an event lies in."""
        conjunction = next(each for each in filter.conjunctions if holds(each, record))
        sides = []
        for key, constraint in conjunction.constraints:
            place = record.point(key)
            inside = next(pair for pair in intervals(constraint) if contains(pair, place))
            sides.append((key, inside))
        self._add(name, Conjunction(tuple(sides), conjunction.residuals))

    def _add(self, name: Hashable, member: Filter | Conjunction) -> bool:
        boxes = self.coordinates.boxes(member)
        if boxes is None:
            return False
        self._written.append(boxes)
        self._names += [name] * len(boxes)
        self._joined = None
        return True

    def _on_relabel(self, axis: int, old: Ints, new: Ints) -> None:
        self._written = [boxes.relabelled(axis, old, new) for boxes in self._written]
        self._joined = None

    def near(self, box: BoxSides, extra: Sequence[BoxSides]) -> Near | None:
        """What matters to one box; None if that is too much to be written out.

        Parameters
        ----------
        extra : further rows; their numbers follow those of the rows that are known
        """
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
        return Near(axes, low[axes], high[axes], lows, highs, numbers)

    def _with(self, extra: Sequence[BoxSides]) -> Boxes:
        if self._joined is None:
            self._joined = _joined([side for boxes in self._written for side in boxes])
        if not extra:
            return self._joined
        return _joined([*self._joined, *extra])


def _joined(boxes: Sequence[BoxSides]) -> Boxes:
    offsets = np.zeros(len(boxes) + 1, np.int64)
    np.cumsum([len(axes) for axes, _, _ in boxes], out=offsets[1:])
    if not boxes:
        nothing = np.zeros(0, np.int64)
        return Boxes(offsets, np.zeros(0, np.int32), nothing, nothing)
    axes, lows, highs = (np.concatenate(each) for each in zip(*boxes, strict=True))
    return Boxes(offsets, axes.astype(np.int32), lows, highs)
