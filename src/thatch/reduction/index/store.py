"""The arrays of an index, their growth, and how trees are built of all boxes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints
from thatch.reduction.index.kernels import layout as f
from thatch.reduction.index.kernels import tree

__all__ = ["TREE", "Store"]

TREE = ("nodes", "leaves", "rows", "ends", "roots", "state")
_SCRATCH = ("contain", "point", "meet", "stack", "order", "slots", "sample", "shares")
_FIELD = {name: 2 * place for place, name in enumerate((*TREE, *_SCRATCH))}
_LEAST = 1 << 6  # words of an array


class Store:
    """Arrays under their names, and the description by which kernels find them."""

    def __init__(self, arrays: dict[str, Ints] | None = None) -> None:
        self.description = np.zeros(f.N_FIELDS, np.int64)
        self._arrays: dict[str, Any] = {}
        self._set("stack", np.zeros(16, np.int64))  # enough for trees that are leaves
        self._set("sample", np.zeros(2 * f.SAMPLED_ENDS, np.int64))
        self._set("order", np.zeros(_LEAST, np.int64))
        if arrays is not None:
            for name in TREE:
                self._set(name, arrays[name])
            self._spread_questions()
            self._reach_splits(int(self["state"][f.N_ROWS]))
            return
        for name in ("nodes", "leaves", "rows", "ends"):
            self._set(name, np.zeros(_LEAST, np.int64))
        self._set("roots", np.zeros(0, np.int64))
        self._set("state", np.zeros(f.N_STATE, np.int64))
        self._spread_questions()
        self.build()

    def __getitem__(self, name: str) -> Any:
        return self._arrays[name]

    def _set(self, name: str, array: Any) -> None:
        self._arrays[name] = array
        self.description[_FIELD[name]] = array.ctypes.data
        self.description[_FIELD[name] + 1] = len(array)

    def _spread_questions(self) -> None:
        """Questions that say nothing, over all axes."""
        for name, low, high in (
            ("contain", LOWEST, -HIGHEST),
            ("point", LOWEST, -LOWEST),
            ("meet", HIGHEST, -LOWEST),
            ("slots", -1, -1),
        ):
            question = np.empty((len(self["roots"]) // 2, 2), np.int64)
            question[:] = low, high
            self._set(name, question.ravel())
        self._set("shares", np.full(len(self["roots"]) // 2, 1 / (HIGHEST - LOWEST + 1)))

    def arrays(self) -> dict[str, Ints]:
        """Copies of what is used of the arrays."""
        state = self["state"]
        used = {
            "nodes": state[f.N_NODES] * f.NODE,
            "leaves": state[f.N_LEAVES],
            "rows": state[f.N_ROWS] * f.ROW,
            "ends": state[f.N_ENDS],
            "roots": 2 * state[f.N_AXES],
            "state": f.N_STATE,
        }
        return {name: self[name][: used[name]].copy() for name in TREE}

    def rows(self) -> Ints:
        """A view of all rows, also of boxes that were removed."""
        rows: Ints = self["rows"][: self["state"][f.N_ROWS] * f.ROW].reshape(-1, f.ROW)
        return rows

    def own(self) -> None:
        """Let all arrays be ours to change."""
        for name in TREE:
            if not self[name].flags.writeable:
                self._set(name, self[name].copy())

    # --- growth ------------------------------------------------------------------------------------------------------

    def reach_axis(self, axis: int) -> None:
        """Let there be room for a box with this axis."""
        known = int(self["state"][f.N_AXES])
        if axis < known:
            return
        n_axes = max(axis + 1, 2 * known, 16)
        roots = np.zeros((n_axes, 2), np.int64)
        roots[:, 0] = -1
        roots[:known] = self["roots"][: 2 * known].reshape(-1, 2)
        self._set("roots", roots.ravel())
        self["state"][f.N_AXES] = n_axes
        self._spread_questions()

    def make_room(self, rows: int, sides: int) -> None:
        """Let there be room for so many more boxes with so many sides in all."""
        state = self["state"]
        self._reach_splits(int(state[f.N_ROWS]) + rows)
        self._reach("nodes", (int(state[f.N_NODES]) + 3) * f.NODE)
        self._reach("leaves", tree.leaf_room(self.description, sides))
        self._reach("rows", (int(state[f.N_ROWS]) + rows) * f.ROW)
        self._reach("ends", int(state[f.N_ENDS]) + 4 * sides)
        self._reach("order", max(int(state[f.N_ROWS]) + rows, int(state[f.LARGEST])) + 1)

    def _reach_splits(self, rows: int) -> None:
        """Let so many rows be more than one leaf: only then are splits chosen and nodes stacked."""
        if rows > f.LEAF:
            self._reach("stack", 4 * f.DEEPEST + 16)
            self._reach("sample", f.SAMPLE_SIZE)

    def _reach(self, name: str, length: int) -> None:
        """Let an array have at least this length."""
        old = self[name]
        if len(old) < length:
            new = np.zeros(max(length, len(old) + len(old) // 2), np.int64)
            new[: len(old)] = old
            self._set(name, new)

    # --- all at once -------------------------------------------------------------------------------------------------

    def append(self, boxes: Boxes, numbers: Ints) -> None:
        """Write boxes into rows; they are in no tree until `build`."""
        self.reach_axis(int(boxes.axes.max(initial=-1)))
        self.make_room(len(boxes), len(boxes.axes))
        tree.append(self.description, boxes.offsets, boxes.axes, boxes.lows, boxes.highs, numbers)

    def rebuild(self) -> None:
        """Leave out boxes that were removed, and build all trees anew.

        Also where a tree had no room and has lost its leaves: rows know that they were in one.
        """
        rows = self.rows()[self.rows()[:, f.ROW_LEAF] >= 0]
        counts = 2 * rows[:, f.ROW_ENDS]
        starts = np.cumsum(counts) - counts
        place = np.repeat(rows[:, f.ROW_AT] - starts, counts) + np.arange(counts.sum())
        self._set("ends", self["ends"][place])
        rows[:, f.ROW_AT] = starts
        self._set("rows", rows.ravel())
        state = self["state"]
        state[f.N_ROWS] = state[f.LIVE] = len(rows)
        state[f.N_ENDS] = len(place)
        self.build()

    def build(self) -> None:
        """Build the trees of all rows."""
        state, n_rows = self["state"], int(self["state"][f.N_ROWS])
        roots = self["roots"].reshape(-1, 2)
        roots[:] = -1, 0
        self._reach("order", n_rows + 1)
        self._reach_splits(n_rows)
        trees = np.empty(n_rows, np.int64)
        tree.choose_trees(self.description, trees)
        order = np.argsort(trees, kind="stable")
        self.rows()[:] = self.rows()[order]
        trees = trees[order]
        n_trees = len(np.unique(trees))
        nodes, leaves = n_rows // 12 + n_trees + 4, n_rows * 24 + n_trees * 64 + _LEAST
        while True:
            self._set("nodes", np.zeros(nodes * f.NODE + _LEAST, np.int64))
            self._set("leaves", np.zeros(leaves, np.int64))
            roots[:, 0] = -1
            state[[f.N_NODES, f.N_LEAVES, f.GARBAGE, f.LARGEST]] = 0
            state[f.FREE] = -1
            if tree.build(self.description, trees):
                return
            nodes, leaves = 2 * nodes, 2 * leaves

    def boxes(self, rows: Ints) -> Boxes:
        """Some rows as boxes; sides that say nothing are not kept."""
        counts = rows[:, f.ROW_ENDS]
        starts = np.cumsum(counts) - counts
        place = np.repeat(rows[:, f.ROW_AT] // 2 - starts, counts) + np.arange(counts.sum())
        ends = self["ends"][: self["state"][f.N_ENDS]].reshape(-1, 2)[place]
        owner = np.repeat(np.arange(len(rows)), counts)
        axis, is_high = ends[:, 0] >> 1, ends[:, 0] & 1 == 1
        # Both ends of one axis stand side by side.
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
