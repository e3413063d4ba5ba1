"""Scans: every box is looked at. They get a ready NumPy row and give row numbers, which favours them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contest import Contestant, Rows
from benchmarks.kernels import naive_scan
from thatch.workloads import Intervals

__all__ = ["NAIVE", "NUMPY", "naive", "numpy_scan"]

NUMPY = "NumPy scan"
NAIVE = "naive compiled scan"

Points = np.ndarray[Any, Any]


def numpy_scan(boxes: Intervals, points: Points) -> Contestant:
    """All sides at once in NumPy, then all sides of a box together."""

    def scan(point: Points) -> Rows:
        value = point[boxes.attribute]
        holds = (boxes.low <= value) & (value <= boxes.high)
        return np.flatnonzero(np.logical_and.reduceat(holds, boxes.offsets[:-1]))

    return Contestant(name=NUMPY, call=scan, items=list(points))


def naive(boxes: Intervals, points: Points) -> Contestant:
    """Box by box, compiled, stopping at the first side that fails."""
    out = np.empty(len(boxes), np.int64)

    def scan(point: Points) -> int:
        return naive_scan(boxes.offsets, boxes.attribute, boxes.low, boxes.high, point, out)  # type: ignore[no-any-return]

    return Contestant(name=NAIVE, call=scan, items=list(points), split=lambda count: [out[:count].copy()])
