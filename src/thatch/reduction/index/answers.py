"""What an index says of boxes: where points lie, and decisions about many at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.reduction.boxes import Ints

__all__ = ["Answers", "Draft", "SparsePoint"]

SparsePoint = tuple[npt.NDArray[np.int32], Ints]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What was decided of many boxes.

    Parameters
    ----------
    codes : for each box 1 if it is covered, 0 if it is not, -1 if the budget was not enough
    used_at, used : the numbers of the boxes that prove box b are `used[used_at[b] : used_at[b + 1]]`
    nodes, rounds : what each cost; no rounds for what a single box contains
    """

    codes: npt.NDArray[np.int8]
    used_at: Ints
    used: Ints
    nodes: Ints
    rounds: Ints


class Draft:
    """Answers that are being written."""

    def __init__(self, boxes: int) -> None:
        self._codes = np.zeros(boxes, np.int8)
        self._used_at = np.zeros(boxes + 1, np.int64)
        self._used = np.empty(max(64, 2 * boxes), np.int64)
        self._work = np.zeros((boxes, 2), np.int64)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As kernels take them."""
        return self._codes, self._used_at, self._used, self._work

    def lengthen(self) -> None:
        """Let there be room for more proofs."""
        self._used = np.concatenate((self._used, np.empty_like(self._used)))

    def answers(self) -> Answers:
        """All of them, once they are written."""
        used = self._used[: self._used_at[-1]].copy()
        return Answers(self._codes, self._used_at, used, self._work[:, 0].copy(), self._work[:, 1].copy())
