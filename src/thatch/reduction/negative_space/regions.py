"""Boxes in columns: what kernels scan. A box is where its slot is; slots have no meaning and boxes move between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thatch.reduction.boxes import HIGHEST, LOWEST, Ints
from thatch.reduction.negative_space.kernels import containing, cut, meeting, meeting_any, meets

__all__ = ["OwnedRegions", "Regions", "Sides"]

_ROOM = 16  # boxes there is room for at first


class Sides(NamedTuple):
    """One box: rising columns, and its ends on them. It is whole on all others."""

    columns: Ints
    low: Ints
    high: Ints


class Regions:
    """A set of boxes, `lows[column, slot]` to `highs[column, slot]` for the first `count` slots.

    Parameters
    ----------
    columns : how many axes there are at first
    """

    def __init__(self, columns: int) -> None:
        self.lows = np.empty((columns, _ROOM), np.int64)
        self.highs = np.empty((columns, _ROOM), np.int64)
        self.count = 0

    def widen(self, columns: int) -> None:
        """Add axes on which all boxes are whole."""
        room = (columns, self.lows.shape[1])
        self.lows = np.concatenate((self.lows, np.full(room, LOWEST, np.int64)))
        self.highs = np.concatenate((self.highs, np.full(room, HIGHEST, np.int64)))

    def reserve(self, count: int) -> None:
        """Make room for so many boxes in all."""
        if count > self.lows.shape[1]:
            shape = (self.lows.shape[0], 2 * count)
            for name in ("lows", "highs"):
                larger = np.empty(shape, np.int64)
                larger[:, : self.count] = getattr(self, name)[:, : self.count]
                setattr(self, name, larger)

    def extend(self, lows: Ints, highs: Ints) -> None:
        """Add boxes, a column of the arrays for each."""
        end = self.count + lows.shape[1]
        self.reserve(end)
        self.lows[:, self.count : end] = lows
        self.highs[:, self.count : end] = highs
        self.count = end

    def hull(self) -> tuple[Ints, Ints]:
        """The low and the high end on every axis of at least one box."""
        lows, highs = self.boxes()
        return lows.min(axis=1), highs.max(axis=1)

    def boxes(self) -> tuple[Ints, Ints]:
        """All lows and highs, an array's column for each box; views, to be read at once."""
        return self.lows[:, : self.count], self.highs[:, : self.count]

    def meets(self, box: Sides) -> bool:
        """Whether any of the boxes meets this one."""
        return bool(meets(self.lows, self.highs, self.count, *box))

    def meeting(self, box: Sides) -> Ints:
        """The slots, rising, of all that meet this one."""
        slots = np.empty(self.count, np.int64)
        return slots[: meeting(self.lows, self.highs, self.count, *box, slots)]

    def containing(self, low: Ints, high: Ints) -> int:
        """A slot whose box contains this one, which has a side on every axis; -1 if there is none."""
        return int(containing(self.lows, self.highs, self.count, low, high))

    def overlaps(self, slots: Ints, box: Sides) -> tuple[Ints, Ints]:
        """What these have in common with a box that meets each of them."""
        lows, highs = self.lows[:, slots], self.highs[:, slots]
        lows[box.columns] = np.maximum(lows[box.columns], box.low[:, None])
        highs[box.columns] = np.minimum(highs[box.columns], box.high[:, None])
        return lows, highs

    def cut(self, slots: Ints, box: Sides) -> int:
        """Take a box away from those in these rising slots, which all meet it; returns by how many boxes there are more."""
        before = self.count
        self.reserve(before + len(slots) * (2 * len(box.columns) - 1))
        self.count = int(cut(self.lows, self.highs, before, slots.copy(), *box))
        return self.count - before

    def labels(self, column: int) -> Ints:
        """The low ends and the high ends + 1 on an axis, rising, but those of the whole axis."""
        lows, highs = self.boxes()
        ends = np.unique(np.concatenate((lows[column], highs[column] + 1)))
        kept: Ints = ends[(ends != LOWEST) & (ends != HIGHEST + 1)]
        return kept

    def relabel(self, column: int, old: Ints, new: Ints) -> None:
        """Replace rising labels, among which are all that `labels` gives, by others."""
        lows, highs = self.boxes()
        starts, ends = lows[column], highs[column] + 1
        lows[column] = np.where(starts == LOWEST, LOWEST, new[np.searchsorted(old, starts) % len(old)])
        highs[column] = np.where(ends == HIGHEST + 1, HIGHEST, new[np.searchsorted(old, ends) % len(old)] - 1)


class OwnedRegions(Regions):
    """Boxes that each belong to a row: those of subscriptions, or what a subscription took away first."""

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

    def owners_meeting(self, others: Regions, hull: Sides) -> set[int]:
        """The rows with a box that meets any of some others, which lie in `hull`."""
        slots = self.meeting(hull)
        are_met = meeting_any(self.lows, self.highs, slots, others.lows, others.highs, others.count)
        return set(self.owners[slots[are_met]].tolist())

    def take(self, rows: Ints) -> tuple[Ints, Ints]:
        """The boxes of some rows, which go away."""
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
