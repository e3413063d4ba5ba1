"""Which boxes of a stream are redundant when they arrive: the exact answer that simulations compare with."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["is_redundant"]

Ints = npt.NDArray[np.int64]


def is_redundant(
    lows: Ints, highs: Ints, *, pairwise_only: bool = False, domain: tuple[int, int] | None = None
) -> npt.NDArray[np.bool_]:
    """Whether each box lies in the union of the boxes before it, however long it takes to decide.

    Parameters
    ----------
    pairwise_only : whether it lies in a single earlier box that is not redundant itself
    domain : the ends of every axis; a box that reaches an end is unbounded there
    """
    from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes
    from thatch.reduction.index import BoxIndex

    if domain is not None:
        lows, highs = np.where(lows == domain[0], LOWEST, lows), np.where(highs == domain[1], HIGHEST, highs)
    answers = BoxIndex().stream(Boxes.of(lows, highs), budget=math.inf, pairwise_only=pairwise_only)
    return np.asarray(answers.codes == 1)
