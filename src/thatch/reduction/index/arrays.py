"""The arrays of an index, how they grow, and how trees are built of all boxes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints
from thatch.reduction.index.kernels import tree
from thatch.reduction.index.records import (
    DEEPEST,
    LEAF,
    NODE,
    ROW,
    SAMPLE_SIZE,
    SAMPLED_ENDS,
    AxisRecord,
    IndexRecord,
    IndexRow,
    IndexState,
)

__all__ = ["SAVED", "IndexArrays"]

SAVED = ("nodes", "leaves", "rows", "ends", "axes", "state")  # the others only serve single questions
_LEAST = 1 << 6  # words of an array


class IndexArrays:
    """The record of an index, with its arrays: saved ones by their names, or those of an index without boxes."""

    def __init__(self, saved: dict[str, Ints] | None = None) -> None:
        self.record = IndexRecord(
            stack=np.zeros(16, np.int64),  # enough for trees that are leaves
            sample=np.zeros(2 * SAMPLED_ENDS, np.int64),
            order=np.zeros(_LEAST, np.int64),
        )
        self.table = self.record.table
        self._is_writable = saved is None
        if saved is not None:
            for name in SAVED[:-1]:
                setattr(self.record, name, saved[name])
            self._set_state(saved["state"])
            self._reset_questions()
            self._reserve_splits(self.state.n_rows)
            return
        for name in ("nodes", "leaves", "rows", "ends"):
            setattr(self.record, name, np.zeros(_LEAST, np.int64))
        self.record.axes = np.zeros(0, np.int64)
        self._set_state(np.zeros(IndexState.width, np.int64))
        self._reset_questions()
        self.build()

    def _set_state(self, table: Ints) -> None:
        self.state = IndexState(table)
        self.record.state = self.state

    def _reset_questions(self) -> None:
        """Make questions that span all axes."""
        n_axes = len(self.record.axes) // 2
        for name, low, high in (
            ("contain", LOWEST, -HIGHEST),
            ("point", LOWEST, -LOWEST),
            ("meet", HIGHEST, -LOWEST),
            ("slots", -1, -1),
        ):
            question = np.empty((n_axes, 2), np.int64)
            question[:] = low, high
            setattr(self.record, name, question.ravel())
        self.record.shares = np.full(n_axes, 1 / (HIGHEST - LOWEST + 1))

    def save(self) -> dict[str, Ints]:
        """Copies of the arrays that an index consists of, as far as they are in use."""
        state = self.state
        used = (state.n_nodes * NODE, state.leaf_words, state.n_rows * ROW, state.end_words, 2 * state.n_axes)
        saved = {
            name: getattr(self.record, name)[:length].copy()
            for name, length in zip(SAVED, used, strict=False)
        }
        return {**saved, "state": state.table.copy()}

    def rows(self) -> Ints:
        """A view of all rows, including those of removed boxes."""
        rows: Ints = self.record.rows[: self.state.n_rows * ROW].reshape(-1, ROW)
        return rows

    def live_rows(self) -> Ints:
        """A copy of the rows of boxes that were not removed."""
        rows = self.rows()
        return rows[rows[:, IndexRow.leaf] >= 0]

    def make_writable(self) -> None:
        """Copy arrays that are read-only."""
        if self._is_writable:
            return
        for name in SAVED[:-1]:
            if not getattr(self.record, name).flags.writeable:
                setattr(self.record, name, getattr(self.record, name).copy())
        if not self.state.table.flags.writeable:
            self._set_state(self.state.table.copy())
        self._is_writable = True

    # --- growth ------------------------------------------------------------------------------------------------------

    def add_axes(self, axis: int) -> None:
        """Make room for boxes with axes up to this one."""
        known = int(self.state.n_axes)
        if axis < known:
            return
        n_axes = max(axis + 1, 2 * known, 16)
        axes = np.zeros((n_axes, AxisRecord.width), np.int64)
        axes[:, AxisRecord.root] = -1
        axes[:known] = self.record.axes[: 2 * known].reshape(-1, 2)
        self.record.axes = axes.ravel()
        self.state.n_axes = n_axes
        self._reset_questions()

    def make_room(self, rows: int, sides: int) -> None:
        """Make room for so many more boxes with so many sides in total."""
        state = self.state
        n_rows = int(state.n_rows) + rows
        self._reserve_splits(n_rows)
        self._reserve("nodes", (int(state.n_nodes) + 3) * NODE)
        self._reserve("leaves", tree.leaf_room(self.table, sides))
        self._reserve("rows", n_rows * ROW)
        self._reserve("ends", int(state.end_words) + 4 * sides)
        self._reserve("order", max(n_rows, int(state.largest)) + 1)

    def _reserve_splits(self, rows: int) -> None:
        """Make room to choose splits and to stack nodes, once there are more rows than one leaf holds."""
        if rows > LEAF:
            self._reserve("stack", 4 * DEEPEST + 16)
            self._reserve("sample", SAMPLE_SIZE)

    def _reserve(self, name: str, length: int) -> None:
        """Make an array at least this long."""
        old = getattr(self.record, name)
        if len(old) < length:
            new = np.zeros(max(length, len(old) + len(old) // 2), np.int64)
            new[: len(old)] = old
            setattr(self.record, name, new)

    # --- all at once -------------------------------------------------------------------------------------------------

    def append(self, boxes: Boxes, numbers: Ints) -> None:
        """Write boxes into rows; they are in no tree until `build`."""
        self.add_axes(int(boxes.axes.max(initial=-1)))
        self.make_room(len(boxes), len(boxes.axes))
        tree.append(self.table, boxes.offsets, boxes.axes, boxes.lows, boxes.highs, numbers)

    def rebuild(self) -> None:
        """Drop removed boxes, and build all trees again.

        This also repairs a tree that had no room and lost its leaves: rows know that they were in one.
        """
        rows = self.live_rows()
        counts = 2 * rows[:, IndexRow.n_ends]
        starts = np.cumsum(counts) - counts
        kept = np.repeat(rows[:, IndexRow.start] - starts, counts) + np.arange(counts.sum())
        self.record.ends = self.record.ends[kept]
        rows[:, IndexRow.start] = starts
        self.record.rows = rows.ravel()
        self.state.n_rows = self.state.live = len(rows)
        self.state.end_words = len(kept)
        self.build()

    def build(self) -> None:
        """Build the trees of all rows."""
        state, n_rows = self.state, int(self.state.n_rows)
        axes = self.record.axes.reshape(-1, 2)
        axes[:] = -1, 0
        self._reserve("order", n_rows + 1)
        self._reserve_splits(n_rows)
        trees = np.empty(n_rows, np.int64)
        tree.choose_trees(self.table, trees)
        order = np.argsort(trees, kind="stable")
        self.rows()[:] = self.rows()[order]
        trees = trees[order]
        n_trees = len(np.unique(trees))
        nodes, leaves = n_rows // 12 + n_trees + 4, n_rows * 24 + n_trees * 64 + _LEAST
        while True:
            self.record.nodes = np.zeros(nodes * NODE + _LEAST, np.int64)
            self.record.leaves = np.zeros(leaves, np.int64)
            axes[:, AxisRecord.root] = -1
            state.n_nodes = state.leaf_words = state.garbage = state.largest = 0
            state.free = -1
            if tree.build(self.table, trees):
                return
            nodes, leaves = 2 * nodes, 2 * leaves

    def boxes(self, rows: Ints) -> Boxes:
        """Some rows as boxes, without sides that span their axis."""
        counts = rows[:, IndexRow.n_ends]
        starts = np.cumsum(counts) - counts
        kept = np.repeat(rows[:, IndexRow.start] // 2 - starts, counts) + np.arange(counts.sum())
        ends: Any = self.record.ends[: self.state.end_words].reshape(-1, 2)[kept]
        owner = np.repeat(np.arange(len(rows)), counts)
        axis, is_high = ends[:, 0] >> 1, ends[:, 0] & 1 == 1
        # Both ends of an axis are next to each other.
        is_first = np.ones(len(ends), np.bool_)
        is_first[1:] = (axis[1:] != axis[:-1]) | (owner[1:] != owner[:-1])
        side = np.cumsum(is_first) - 1
        lows = np.full(int(is_first.sum()), LOWEST, np.int64)
        highs = np.full(len(lows), HIGHEST, np.int64)
        lows[side[~is_high]] = ends[~is_high, 1]
        highs[side[is_high]] = -ends[is_high, 1]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.bincount(owner[is_first], minlength=len(rows)), out=offsets[1:])
        return Boxes(offsets, axis[is_first].astype(np.int32), lows, highs)
