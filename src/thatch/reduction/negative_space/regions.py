"""Sets of boxes stored by column, as kernels scan them. A box is identified by its slot, and boxes move between slots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thatch.reduction.boxes import HIGHEST, LOWEST, Ints, relabel_ends
from thatch.reduction.negative_space import kernels

__all__ = ["ColumnBox", "OwnedRegions", "Regions"]

_ROOM = 16  # boxes there is room for at first


class ColumnBox(NamedTuple):
    """One box: ascending columns and its ends on them. It spans all other columns."""

    columns: Ints
    low: Ints
    high: Ints


class Regions:
    """A set of boxes, `lows[column, slot]` to `highs[column, slot]` for the first `count` slots."""

    def __init__(self, columns: int) -> None:
        self.lows = np.empty((columns, _ROOM), np.int64)
        self.highs = np.empty((columns, _ROOM), np.int64)
        self.count = 0

    def widen(self, columns: int) -> None:
        """Add axes, which all boxes span."""
        room = (columns, self.lows.shape[1])
        self.lows = np.concatenate((self.lows, np.full(room, LOWEST, np.int64)))
        self.highs = np.concatenate((self.highs, np.full(room, HIGHEST, np.int64)))

    def reserve(self, count: int) -> None:
        """Make room for this many boxes in total."""
        if count > self.lows.shape[1]:
            shape = (self.lows.shape[0], 2 * count)
            for name in ("lows", "highs"):
                larger = np.empty(shape, np.int64)
                larger[:, : self.count] = getattr(self, name)[:, : self.count]
                setattr(self, name, larger)

    def extend(self, lows: Ints, highs: Ints) -> None:
        """Add boxes, one column of the arrays each."""
        end = self.count + lows.shape[1]
        self.reserve(end)
        self.lows[:, self.count : end] = lows
        self.highs[:, self.count : end] = highs
        self.count = end

    def hull(self) -> tuple[Ints, Ints]:
        """The smallest box around all boxes, of which there must be one: low and high ends on every axis."""
        lows, highs = self.boxes()
        return lows.min(axis=1), highs.max(axis=1)

    def boxes(self) -> tuple[Ints, Ints]:
        """All lows and highs, one column each; views, valid until the next change."""
        return self.lows[:, : self.count], self.highs[:, : self.count]

    def meets(self, box: ColumnBox) -> bool:
        """Whether any of the boxes meets this one."""
        return bool(kernels.meets(self.lows, self.highs, self.count, *box))

    def find_meeting(self, box: ColumnBox) -> Ints:
        """The slots of all boxes that meet this one, ascending."""
        slots = np.empty(self.count, np.int64)
        return slots[: kernels.find_meeting(self.lows, self.highs, self.count, *box, slots)]

    def find_container(self, low: Ints, high: Ints) -> int:
        """A slot whose box contains this one, which is given by its ends on every axis; -1 if there is none."""
        return int(kernels.find_containing(self.lows, self.highs, self.count, low, high))

    def overlaps(self, slots: Ints, box: ColumnBox) -> tuple[Ints, Ints]:
        """The intersections of these boxes with a box that meets each of them."""
        lows, highs = self.lows[:, slots], self.highs[:, slots]
        lows[box.columns] = np.maximum(lows[box.columns], box.low[:, None])
        highs[box.columns] = np.minimum(highs[box.columns], box.high[:, None])
        return lows, highs

    def cut(self, slots: Ints, box: ColumnBox) -> int:
        """Subtract a box from those in these ascending slots, which all meet it; returns the increase in boxes."""
        before = self.count
        self.reserve(before + len(slots) * (2 * len(box.columns) - 1))
        self.count = int(kernels.cut(self.lows, self.highs, before, slots.copy(), *box))
        return self.count - before

    def labels(self, column: int) -> Ints:
        """All lows and highs + 1 on an axis, ascending, except the ends of the axis."""
        lows, highs = self.boxes()
        ends = np.unique(np.concatenate((lows[column], highs[column] + 1)))
        kept: Ints = ends[(ends != LOWEST) & (ends != HIGHEST + 1)]
        return kept

    def relabel(self, column: int, old: Ints, new: Ints) -> None:
        """Replace ascending labels, which include all that `labels` returns."""
        lows, highs = self.boxes()
        lows[column], highs[column] = relabel_ends(lows[column], highs[column], old, new)


class OwnedRegions(Regions):
    """Boxes that belong to rows: the boxes of subscriptions, or the share of each."""

    def __init__(self, columns: int) -> None:
        super().__init__(columns)
        self._owners = np.empty(_ROOM, np.int64)

    @property
    def owners(self) -> Ints:
        """The row of each box."""
        return self._owners[: self.count]

    def put(self, row: int, lows: Ints, highs: Ints) -> None:
        """Add boxes of a row."""
        before = self.count
        self.extend(lows, highs)
        if self.count > len(self._owners):
            larger = np.empty(self.lows.shape[1], np.int64)
            larger[:before] = self._owners[:before]
            self._owners = larger
        self._owners[before : self.count] = row

    def find_owners_meeting(self, others: Regions, hull: ColumnBox) -> set[int]:
        """The rows with a box that meets any of some others, which lie in `hull`."""
        slots = self.find_meeting(hull)
        are_met = kernels.find_meeting_any(
            self.lows, self.highs, slots, others.lows, others.highs, others.count
        )
        return set(self.owners[slots[are_met]].tolist())

    def take(self, rows: Ints) -> tuple[Ints, Ints]:
        """Remove and return the boxes of some rows."""
        is_taken = np.isin(self.owners, rows)
        taken = np.flatnonzero(is_taken)
        boxes = self.lows[:, taken], self.highs[:, taken]
        # The boxes at the end move into the gaps.
        end = self.count - len(taken)
        gaps, moved = taken[taken < end], end + np.flatnonzero(~is_taken[end:])
        for array in (self.lows, self.highs):
            array[:, gaps] = array[:, moved]
        self._owners[gaps] = self._owners[moved]
        self.count = end
        return boxes
