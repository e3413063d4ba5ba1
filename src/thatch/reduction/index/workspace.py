"""Memory for decisions and their answers.

An index may be small, and there may be thousands of them, so what only a decision needs is kept in a pool that all
indexes share. A list hands out and takes back an element atomically, so that threads never share a workspace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.reduction.boxes import Ints
from thatch.reduction.index.kernels.deciding import ROOM, SMALL

__all__ = ["Answers", "DecisionWorkspace", "SparsePoint", "borrow_workspace"]

SparsePoint = tuple[npt.NDArray[np.int32], Ints]  # axes, and where the point lies on them


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Decisions about many boxes."""

    codes: npt.NDArray[np.int8]  # for each box 1 if it is covered, 0 if it is not, -1 if the budget ran out
    used_at: Ints
    used: Ints  # the numbers of the boxes that prove box b are `used[used_at[b] : used_at[b + 1]]`
    nodes: Ints  # what each cost
    rounds: Ints  # none if a single box contains it


class DecisionWorkspace:
    """The small set of a refinement and what else a question needs; it grows when a kernel asks for more."""

    def __init__(self) -> None:
        self.found = np.empty(256, np.int64)
        self._words = np.empty(1 << 15, np.int64)
        self._allocate(64, 24)

    def _allocate(self, boxes: int, axes: int) -> None:
        self._lows = np.empty((boxes, axes), np.int64)
        self._highs = np.empty((boxes, axes), np.int64)
        self.rows = np.empty(boxes, np.int64)
        self.used = np.empty(boxes, np.bool_)
        self._misses = np.empty(boxes, np.int64)
        self.local, self.witness = np.empty(axes, np.int64), np.empty(axes, np.int64)
        self._low, self._high = np.empty(axes, np.int64), np.empty(axes, np.int64)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays as kernels take them."""
        small_set = self._lows, self._highs, self.rows, self.used, self._misses
        return *small_set, self.local, self._low, self._high, self.witness, self._words

    def enlarge(self, code: int, sides: int) -> bool:
        """Make the room that the code of a decision asks for; the box has so many sides. False if it asks for none."""
        if code == ROOM:
            self._words = np.empty(2 * len(self._words), np.int64)
        elif code == SMALL:
            boxes, axes = self._lows.shape
            self._allocate(2 * boxes, max(2 * axes, 2 * sides))
        else:
            return False
        return True


_POOL: list[DecisionWorkspace] = []


@contextmanager
def borrow_workspace() -> Iterator[DecisionWorkspace]:
    """A workspace that nobody else uses meanwhile."""
    work = _POOL.pop() if _POOL else DecisionWorkspace()
    try:
        yield work
    finally:
        _POOL.append(work)
