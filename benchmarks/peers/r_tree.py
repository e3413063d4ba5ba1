"""The `rtree` package (libspatialindex), bulk-loaded from arrays: one event per call, and many in its vector call."""

from __future__ import annotations

from typing import Any

import numpy as np
import rtree.index

from benchmarks.contest import Contestant
from thatch.workloads import Intervals

__all__ = ["PER_CALL", "VECTOR", "r_tree"]

PER_CALL = "rtree, an event a call"
VECTOR = "rtree, intersection_v"


def r_tree(boxes: Intervals, points: np.ndarray[Any, Any], few: int) -> list[Contestant]:
    """Both calls on one tree; the first gets only a few of the events."""
    dimensions = points.shape[1]
    low, high = boxes.low.reshape(-1, dimensions), boxes.high.reshape(-1, dimensions)
    settings = rtree.index.Property(dimension=dimensions)
    tree = rtree.index.Index((np.arange(len(low)), low, high), properties=settings)
    per_call = Contestant(
        name=PER_CALL,
        call=lambda box: list(tree.intersection(box)),
        items=[(*point, *point) for point in points[:few].tolist()],
    )
    vector = Contestant(
        name=VECTOR,
        call=lambda each: tree.intersection_v(each, each),  # type: ignore[no-untyped-call]
        items=[points],
        events=len(points),
        split=lambda answer: np.split(answer[0], np.cumsum(answer[1].astype(np.int64))[:-1]),
    )
    return [per_call, vector]
