"""Scans, which check every box. They get a ready NumPy row and return row numbers, which favours them."""

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
    """Check all sides at once in NumPy, then combine the sides of each box."""

    def scan(point: Points) -> Rows:
        value = point[boxes.attribute]
        holds = (boxes.low <= value) & (value <= boxes.high)
        return np.flatnonzero(np.logical_and.reduceat(holds, boxes.offsets[:-1]))

    return Contestant(name=NUMPY, call=scan, items=list(points))


def naive(boxes: Intervals, points: Points) -> Contestant:
    """Check box by box, compiled, stopping at the first side that fails."""
    out = np.empty(len(boxes), np.int64)

    def scan(point: Points) -> int:
        return naive_scan(boxes.offsets, boxes.attribute, boxes.low, boxes.high, point, out)  # type: ignore[no-any-return]  # kernels have no types

    return Contestant(name=NAIVE, call=scan, items=list(points), split=lambda count: [out[:count].copy()])
