"""Boxes that no other covers, as diagrams in arrays that kernels read and change (paper L, section 4)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.diagrams.kernels import layout as f
from thatch.reduction.diagrams.kernels import walks
from thatch.reduction.index.questions import check_sparse_boxes

__all__ = ["Axes", "BoxDiagrams", "covers_of"]

Axes = npt.NDArray[np.int32]

_T = TypeVar("_T", np.int32, np.int64)

_LEAST = 16  # nodes, groups and axes that there is room for: most links have few boxes


class BoxDiagrams:
    """An antichain of boxes; whoever puts boxes in sees to it that none covers another."""

    def __init__(self) -> None:
        self._arrays = f.Arrays(
            nodes=np.zeros((_LEAST, f.NODE), np.int64),
            slots=np.zeros(2 * _LEAST, np.int32),
            stack=np.zeros((_LEAST, 2), np.int64),
            found=np.zeros(_LEAST, np.int64),
            wanted=np.zeros((_LEAST, 2), np.int64),
            terminals=np.zeros(_LEAST, np.int32),
            axes=np.zeros(_LEAST, np.int32),
            members=np.zeros((f.ROWS, _LEAST // f.WORD + 1), np.int64),
            hits=np.zeros(_LEAST // f.WORD + 1, np.int64),
            doors=np.zeros(2 * _LEAST, np.int32),
            mixed=np.zeros(_LEAST, np.int64),
            state=np.zeros(f.N_STATE, np.int64),
        )
        self._arrays.state[f.N_NODES] = 1  # row 0 is none

    @property
    def groups(self) -> int:
        """How many sets of axes boxes have or had."""
        return int(self._arrays.state[f.N_GROUPS])

    @property
    def looked_at(self) -> int:
        """Nodes, in all walks."""
        return int(self._arrays.state[f.LOOKED_AT])

    def related(self, axes: Axes, lows: Ints, highs: Ints, asked: int) -> tuple[int | None, list[int]]:
        """A box that contains this one, or else all that it contains.

        Parameters
        ----------
        asked : `kernels.COVERED`, `kernels.COVERS`, or both
        """
        self._reach(len(axes))
        cover, count = walks.relations(self._arrays, axes, lows, highs, asked)
        boxes = self._arrays.nodes[:, f.BOX]
        if cover:
            return int(boxes[cover]), []
        return None, boxes[self._arrays.found[:count]].tolist()

    def insert(self, box: int, axes: Axes, lows: Ints, highs: Ints) -> int:
        """Put in a box that none covers and that covers none; the node at which its chain begins."""
        self._make_room(len(axes))
        return int(walks.insert(self._arrays, axes, lows, highs, box))

    def take_out(self, node: int) -> None:
        """Take away the box whose chain begins at a node, and all that only it needed."""
        walks.take_out(self._arrays, node)

    def stream(self, boxes: Boxes, phases: int) -> Ints:
        """Put in boxes one after the other, where nothing was before; see `covers_of`."""
        above = np.full(len(boxes), -1, np.int64)
        columns = (boxes.offsets, boxes.axes, boxes.lows, boxes.highs)
        most = int(np.diff(boxes.offsets).max(initial=0))
        done = 0
        while done < len(boxes):
            self._make_room(most)
            done = walks.stream(self._arrays, columns, done, phases, above)
        return above

    # --- room --------------------------------------------------------------------------------------------------------

    def _make_room(self, sides: int) -> None:
        """For one box with so many sides."""
        self._reach(sides)
        arrays, state = self._arrays, self._arrays.state
        if state[f.N_NODES] + sides + 1 > len(arrays.nodes):
            size = 2 * len(arrays.nodes) + sides
            nodes = _longer(arrays.nodes, size)
            slots = np.zeros(_power_above(2 * size), np.int32)
            walks.fill_slots(nodes, int(state[f.N_NODES]), slots)
            stack, found = np.zeros((size, 2), np.int64), np.zeros(size, np.int64)
            self._arrays = arrays = arrays._replace(nodes=nodes, slots=slots, stack=stack, found=found)
        if state[f.N_AXES] + sides > len(arrays.axes):
            self._arrays = arrays = arrays._replace(axes=_longer(arrays.axes, 2 * len(arrays.axes) + sides))
        if state[f.N_GROUPS] == len(arrays.terminals):
            self._more_groups()

    def _more_groups(self) -> None:
        arrays = self._arrays
        size = 2 * len(arrays.terminals)
        doors = np.zeros(2 * size, np.int32)
        walks.fill_doors(arrays.nodes, arrays.terminals, doors)
        words = size // f.WORD + 1
        members = np.zeros((f.ROWS, words), np.int64)
        members[:, : arrays.members.shape[1]] = arrays.members
        self._arrays = arrays._replace(
            terminals=_longer(arrays.terminals, size),
            doors=doors,
            members=members,
            hits=np.zeros(words, np.int64),
        )

    def _reach(self, sides: int) -> None:
        """Let questions have so many sides."""
        if sides > len(self._arrays.mixed):
            wanted, mixed = np.zeros((2 * sides, 2), np.int64), np.zeros(2 * sides, np.int64)
            self._arrays = self._arrays._replace(wanted=wanted, mixed=mixed)


def covers_of(boxes: Boxes, *, phases: int = 1) -> Ints:
    """For each box one that covers it, -1 for those that none covers; of equal boxes the first covers the others.

    Boxes come one after the other. One that is covered when it comes is left out; else those that it covers go.

    Parameters
    ----------
    phases : 1 for one walk that finds who covers and who is covered, 2 for a walk for each

    Raises
    ------
    ParameterError
        If the phases are neither 1 nor 2.
    """
    if phases not in (1, 2):
        raise ParameterError("1 or 2 phases", shown(phases), "phases")
    return BoxDiagrams().stream(check_sparse_boxes(boxes), phases)


def _longer(array: npt.NDArray[_T], size: int) -> npt.NDArray[_T]:
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _power_above(number: int) -> int:
    return 1 << number.bit_length()
