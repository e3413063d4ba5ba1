"""W4 A and B: subscriptions that share their conditions, drawn from a pool of 2,000 or 5,000.

The pool has the same number of conditions on each of 20 attributes; a quarter each are `=`, `<=`, `>=` and `between`. `=`
compares with multiples of ten, which are also 30 % of the event values besides those that occur by chance. A
subscription has 3 to 7 conditions on different attributes, all equally likely; li2005 does not give a number.
Conditions of the pool are drawn independently, so some `=` occur twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from thatch.workloads.columns import Floats, Intervals, Matrix
from thatch.workloads.sampling import ragged_choices, zipf_weights
from thatch.workloads.workload import RandomStream, Request, Workload, WorkloadShape, workload_of

__all__ = ["Pooled", "make_pooled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled(WorkloadShape):
    """The shape of W4; A and B differ in the pool."""

    pool: int
    values: int = 1_000
    conditions: tuple[int, int] = (3, 7)  # fewest and most of a subscription
    between_width: tuple[int, int] = (50, 499)  # before clipping to the least and greatest value
    hot_step: int = 10  # the values of `=`
    hot_share: float = 0.3  # of event values


def make_pooled(request: Request, shape: Pooled) -> Workload:
    """W4."""
    pool_low, pool_high = _pool(request.rng(RandomStream.WORLD), shape)
    rng = request.rng(RandomStream.SUBSCRIPTIONS)
    weights = zipf_weights(shape.attributes, 0)
    offsets, attribute = ragged_choices(rng, weights, request.subscriptions, shape.conditions)
    chosen = rng.integers(0, pool_low.shape[1], len(attribute))
    low, high = pool_low[attribute, chosen], pool_high[attribute, chosen]
    subscriptions = Intervals(offsets=offsets, attribute=attribute, low=low, high=high)
    return workload_of(request, shape, subscriptions, _events(request, shape))


def _pool(rng: np.random.Generator, shape: Pooled) -> tuple[Floats, Floats]:
    """The ends of the conditions in the pool, a row for each attribute."""
    size = (shape.attributes, shape.pool // shape.attributes)
    operator = rng.permuted(np.tile(np.arange(size[1]) % 4, (size[0], 1)), axis=1)
    value = rng.integers(0, shape.values, size)
    half = rng.integers(shape.between_width[0], shape.between_width[1] + 1, size) // 2
    hot = rng.integers(0, shape.values // shape.hot_step, size) * shape.hot_step
    is_operator = [operator == number for number in range(4)]  # = <= >= between
    low = np.select(is_operator, [hot, -inf, value, np.maximum(value - half, 0)])
    high = np.select(is_operator, [hot, value, inf, np.minimum(value + half, shape.values - 1)])
    return low, high


def _events(request: Request, shape: Pooled) -> Matrix:
    rng = request.rng(RandomStream.EVENTS)
    size = (request.events, shape.attributes)
    hot = rng.integers(0, shape.values // shape.hot_step, size) * shape.hot_step
    values = np.where(rng.random(size) < shape.hot_share, hot, rng.integers(0, shape.values, size))
    return Matrix(values=values.astype(np.float64))
