"""W2 and W3: boxes that constrain every attribute, and uniform events with every attribute.

W2 has real sides of 50 to 150 in [0, 999], in any number of dimensions: spatial queries, which rarely match.
W3 has ten attributes and whole-number sides that hold 500 to 900 of 1,000 values: no condition is selective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.workloads.columns import Floats, Integers, Intervals, Matrix
from thatch.workloads.workload import RandomStream, Request, Workload, WorkloadShape, workload_of

__all__ = ["RealBoxes", "WholeBoxes", "make_real_boxes", "make_whole_boxes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RealBoxes(WorkloadShape):
    """The shape of W2."""

    attributes: int
    last: float = 999.0  # values lie in [0, last]
    side: tuple[float, float] = (50.0, 150.0)  # shortest and longest


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeBoxes(WorkloadShape):
    """The shape of W3."""

    attributes: int = 10
    values: int = 1_000  # 0, 1, 2, ...
    side: tuple[int, int] = (500, 900)  # fewest and most values inside


def make_real_boxes(request: Request, shape: RealBoxes) -> Workload:
    """W2."""
    rng = request.rng(RandomStream.SUBSCRIPTIONS)
    side = rng.uniform(*shape.side, (request.subscriptions, shape.attributes))
    low = rng.uniform(0, shape.last - side)
    high = np.minimum(low + side, shape.last)  # the sum may round up
    values = request.rng(RandomStream.EVENTS).uniform(0, shape.last, (request.events, shape.attributes))
    return workload_of(request, shape, _intervals(low, high), Matrix(values=values))


def make_whole_boxes(request: Request, shape: WholeBoxes) -> Workload:
    """W3."""
    rng = request.rng(RandomStream.SUBSCRIPTIONS)
    side = rng.integers(shape.side[0], shape.side[1] + 1, (request.subscriptions, shape.attributes))
    low = rng.integers(0, shape.values - side + 1)
    values = request.rng(RandomStream.EVENTS).integers(0, shape.values, (request.events, shape.attributes))
    publications = Matrix(values=values.astype(np.float64))
    return workload_of(request, shape, _intervals(low, low + side - 1), publications)


def _intervals(low: Floats | Integers, high: Floats | Integers) -> Intervals:
    """A subscription for each row, with a condition for every column."""
    rows, columns = low.shape
    return Intervals(
        offsets=np.arange(rows + 1, dtype=np.int64) * columns,
        attribute=np.tile(np.arange(columns, dtype=np.int32), rows),
        low=low.astype(np.float64).ravel(),
        high=high.astype(np.float64).ravel(),
    )
