"""Boxes that no other covers, as diagrams in arrays that kernels read and change (li2005, section 4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.diagrams.kernels import walks
from thatch.reduction.diagrams.records import NODE, ROWS, WORD, DiagramNode, DiagramRecord, DiagramState
from thatch.reduction.index.questions import check_sparse_boxes

__all__ = ["Axes", "BoxDiagrams", "find_covers"]

Axes = npt.NDArray[np.int32]

_LEAST = 16  # nodes, groups and axes there is room for at first: most links have few boxes


class BoxDiagrams:
    """An antichain of boxes; the caller ensures that none covers another."""

    def __init__(self) -> None:
        words = _LEAST // WORD + 1
        self._state = DiagramState(n_nodes=1)  # number 0 is no node
        self._record = DiagramRecord(
            nodes=np.zeros(_LEAST * NODE, np.int64),
            slots=np.zeros(2 * _LEAST, np.int32),
            stack=np.zeros(2 * _LEAST, np.int64),
            found=np.zeros(_LEAST, np.int64),
            wanted=np.zeros(2 * _LEAST, np.int64),
            terminals=np.zeros(_LEAST, np.int32),
            axes=np.zeros(_LEAST, np.int32),
            members=np.zeros(ROWS * words, np.int64),
            hits=np.zeros(words, np.int64),
            doors=np.zeros(2 * _LEAST, np.int32),
            mixed=np.zeros(_LEAST, np.int64),
            state=self._state,
        )
        self._table = self._record.table
        self._n_levels = _LEAST  # that a question may have

    @property
    def groups(self) -> int:
        """How many sets of axes boxes have or had."""
        return int(self._state.n_groups)

    @property
    def looked_at(self) -> int:
        """How many nodes all walks have looked at."""
        return int(self._state.looked_at)

    def find_related(self, axes: Axes, lows: Ints, highs: Ints, asked: int) -> tuple[int | None, list[int]]:
        """A box that contains this one, or else all that it contains: COVERED and COVERS, or only one is `asked`."""
        self._reserve_levels(len(axes))
        cover, count = walks.relations(self._table, axes, lows, highs, asked)
        boxes = self._record.nodes[DiagramNode.box :: NODE]
        if cover:
            return int(boxes[cover]), []
        return None, boxes[self._record.found[:count]].tolist()

    def insert(self, box: int, axes: Axes, lows: Ints, highs: Ints) -> int:
        """Insert a box that none covers and that covers none; return the node at which its chain begins."""
        self._make_room(len(axes))
        return int(walks.insert(self._table, axes, lows, highs, box))

    def remove(self, node: int) -> None:
        """Remove the box whose chain begins at a node, and all that only it needs."""
        walks.remove(self._table, node)

    def stream(self, boxes: Boxes, phases: int) -> Ints:
        """Insert boxes one after the other into empty diagrams; see `find_covers`."""
        above = np.full(len(boxes), -1, np.int64)
        columns = (boxes.offsets, boxes.axes, boxes.lows, boxes.highs)
        most = int(np.diff(boxes.offsets).max(initial=0))
        done = 0
        while done < len(boxes):
            self._make_room(most)
            done = walks.stream(self._table, columns, done, phases, above)
        return above

    # --- room --------------------------------------------------------------------------------------------------------

    def _make_room(self, sides: int) -> None:
        """Make room for one box with so many sides."""
        self._reserve_levels(sides)
        record, state = self._record, self._state
        n_nodes, n_axes = len(record.nodes) // NODE, len(record.axes)
        if state.n_nodes + sides + 1 > n_nodes:
            size = 2 * n_nodes + sides
            self._lengthen("nodes", size * NODE)
            record.stack, record.found = np.zeros(2 * size, np.int64), np.zeros(size, np.int64)
            record.slots = np.zeros(1 << (2 * size).bit_length(), np.int32)
            walks.fill_slots(self._table)
        if state.n_axes + sides > n_axes:
            self._lengthen("axes", 2 * n_axes + sides)
        if state.n_groups == len(record.terminals):
            self._add_groups()

    def _add_groups(self) -> None:
        record = self._record
        size = 2 * len(record.terminals)
        before, words = len(record.hits), size // WORD + 1
        members = np.zeros((ROWS, words), np.int64)
        members[:, :before] = record.members.reshape(ROWS, before)
        record.members, record.hits = members.ravel(), np.zeros(words, np.int64)
        self._lengthen("terminals", size)
        record.doors = np.zeros(2 * size, np.int32)
        walks.fill_doors(self._table)

    def _reserve_levels(self, sides: int) -> None:
        """Make room for questions with so many sides."""
        if sides > self._n_levels:
            self._n_levels = 2 * sides
            self._record.wanted = np.zeros(4 * sides, np.int64)
            self._record.mixed = np.zeros(2 * sides, np.int64)

    def _lengthen(self, name: str, size: int) -> None:
        old = getattr(self._record, name)
        longer = np.zeros(size, old.dtype)
        longer[: len(old)] = old
        setattr(self._record, name, longer)


def find_covers(boxes: Boxes, *, phases: int = 1) -> Ints:
    """For each box one that covers it, -1 if there is none; of equal boxes the first covers the others.

    Boxes come one after the other. A box that is covered when it comes is left out; otherwise it replaces those that it
    covers. With one phase, one walk finds who covers and who is covered; with two, there is a walk for each.
    """
    if phases not in (1, 2):
        raise ParameterError("1 or 2 phases", shown(phases), "phases")
    return BoxDiagrams().stream(check_sparse_boxes(boxes), phases)
