"""Random points among labels: drawn in cells, since labels have no meaning but their order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thatch.reduction.boxes import Ints, in_cells
from thatch.reduction.monte_carlo.sampling import rspc
from thatch.reduction.problem import BoxVerdict

__all__ = ["rspc_in_cells"]


def rspc_in_cells(
    low: Ints,
    high: Ints,
    lows: Ints,
    highs: Ints,
    *,
    delta: float,
    rng: np.random.Generator,
    literal: bool = False,
    cap: int | None = None,
) -> BoxVerdict:
    """Decide as `rspc` does about rows that meet the box, with every interval between neighbouring ends equally likely.

    The witness is told in labels: where its cells begin.
    """
    top, first, last, starts = in_cells(low, high, lows, highs)
    verdict = rspc(np.zeros_like(top), top, first, last, delta=delta, rng=rng, literal=literal, cap=cap)
    if verdict.witness is None:
        return verdict
    labels = [each[cell] for each, cell in zip(starts, verdict.witness, strict=True)]
    return replace(verdict, witness=np.array(labels, np.int64))
