"""Room for one decision at a time, kept from one to the next, whichever index makes it.

A link's index may be small, and there may be thousands of them: what only a decision needs is lent to it. A list gives
and takes an element at once, so that indexes in several threads never share one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from thatch.reduction.branch_and_bound.kernels.search import ROOM
from thatch.reduction.index.kernels.deciding import SMALL

__all__ = ["Workspace", "lent"]


class Workspace:
    """The small set of a refinement and what else a question needs; it grows when a kernel says so."""

    def __init__(self) -> None:
        self.ends = np.zeros(2, np.int64)
        self.before = np.zeros(1, np.int64)
        self.one = np.zeros(1, np.int64)
        self.found = np.empty(256, np.int64)
        self._words = np.empty(1 << 15, np.int64)
        self._spread(64, 24)

    def _spread(self, boxes: int, axes: int) -> None:
        self._lows = np.empty((boxes, axes), np.int64)
        self._highs = np.empty((boxes, axes), np.int64)
        self.rows = np.empty(boxes, np.int64)
        self.used = np.empty(boxes, np.bool_)
        self._misses = np.empty(boxes, np.int64)
        self.local, self.witness = np.empty(axes, np.int64), np.empty(axes, np.int64)
        self._low, self._high = np.empty(axes, np.int64), np.empty(axes, np.int64)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As kernels take them."""
        return (
            self._lows,
            self._highs,
            self.rows,
            self.used,
            self._misses,
            self.local,
            self._low,
            self._high,
            self.witness,
            self._words,
        )

    def enlarge(self, code: int, sides: int) -> bool:
        """Make the room that a decision about a box with so many sides asked for. False if it asked for none."""
        if code == ROOM:
            self._words = np.empty(2 * len(self._words), np.int64)
        elif code == SMALL:
            boxes, axes = self._lows.shape
            self._spread(2 * boxes, max(2 * axes, 2 * sides))
        else:
            return False
        return True


_FREE: list[Workspace] = []


@contextmanager
def lent() -> Iterator[Workspace]:
    """A workspace that nobody else uses meanwhile."""
    work = _FREE.pop() if _FREE else Workspace()
    try:
        yield work
    finally:
        _FREE.append(work)
