"""W1, W1F, W1c and W6: equality and ranges over some of many attributes, a few of them popular.

An even attribute has one of 1,000 values, some popular, and conditions on it are `=`; an odd attribute has uniform
values, and conditions on it are ranges. Each attribute has its own order of popularity, the same for subscriptions and
events. Widths and positions of ranges are uniform.

W1F: every event has all attributes. W1c: odd attributes are real numbers in [0, 999] and their ranges have real ends;
`=` stays on whole numbers, because it would never hold for reals. W6: 5,000 attributes, and the 10 to 20 of an event are
drawn by popularity too, while in W1 all attributes are equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.workloads.columns import Cells, Floats, Integers, Intervals, Matrix
from thatch.workloads.sampling import draws, popularity, ragged_choices, zipf_weights
from thatch.workloads.workload import RandomStream, Request, Workload, WorkloadShape, workload_of

__all__ = ["Selective", "make_selective"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selective(WorkloadShape):
    """The parameters of W1 and its variants; the defaults are those of W1."""

    attribute_zipf: float = 0.8  # popularity of attributes in subscriptions
    values: int = 1_000
    value_zipf: float = 0.9  # popularity of values on even attributes
    conditions: tuple[int, int] = (3, 6)  # fewest and most of a subscription
    range_share: tuple[float, float] = (0.05, 0.5)  # narrowest and widest, as shares of the values
    event_attributes: tuple[int, int] = (10, 20)
    has_real_ranges: bool = False
    has_sparse_events: bool = False  # drawn by attribute_zipf, stored as cells


def make_selective(request: Request, shape: Selective) -> Workload:
    """W1 or one of its variants."""
    orders = popularity(request.rng(RandomStream.WORLD), shape.attributes, shape.values)
    subscriptions = _subscriptions(request, shape, orders)
    events = _sparse_events if shape.has_sparse_events else _dense_events
    publications = events(request, shape, orders)
    return workload_of(request, shape, subscriptions, publications)


def _subscriptions(request: Request, shape: Selective, orders: Integers) -> Intervals:
    rng = request.rng(RandomStream.SUBSCRIPTIONS)
    weights = zipf_weights(shape.attributes, shape.attribute_zipf)
    offsets, attribute = ragged_choices(rng, weights, request.subscriptions, shape.conditions)
    low, high = _ranges(rng, shape, len(attribute))
    is_equality = attribute % 2 == 0
    low[is_equality] = high[is_equality] = _popular_values(rng, shape, orders, attribute[is_equality])
    return Intervals(offsets=offsets, attribute=attribute, low=low, high=high)


def _ranges(rng: np.random.Generator, shape: Selective, size: int) -> tuple[Floats, Floats]:
    """Random closed ranges; widths of whole numbers count the values inside."""
    narrowest, widest = shape.range_share
    if shape.has_real_ranges:
        last = shape.values - 1
        width = rng.uniform(narrowest * last, widest * last, size)
        low = rng.uniform(0, last - width)
        return low, np.minimum(low + width, last)  # the sum may round up
    count = rng.integers(round(narrowest * shape.values), round(widest * shape.values) + 1, size)
    first = rng.integers(0, shape.values - count + 1)
    return first.astype(np.float64), (first + count - 1).astype(np.float64)


def _popular_values(
    rng: np.random.Generator, shape: Selective, orders: Integers, attribute: Integers
) -> Integers:
    rank = draws(rng, zipf_weights(shape.values, shape.value_zipf), len(attribute))
    return orders[attribute, rank]


def _dense_events(request: Request, shape: Selective, orders: Integers) -> Matrix:
    rng = request.rng(RandomStream.EVENTS)
    fewest, most = shape.event_attributes
    counts = rng.integers(fewest, most + 1, request.events)
    is_present = rng.permuted(np.arange(shape.attributes) < counts[:, None], axis=1)
    values = np.full(is_present.shape, np.nan)
    values[is_present] = _event_values(rng, shape, orders, np.nonzero(is_present)[1])
    return Matrix(values=values)


def _sparse_events(request: Request, shape: Selective, orders: Integers) -> Cells:
    rng = request.rng(RandomStream.EVENTS)
    weights = zipf_weights(shape.attributes, shape.attribute_zipf)
    offsets, attribute = ragged_choices(rng, weights, request.events, shape.event_attributes)
    value = _event_values(rng, shape, orders, attribute)
    return Cells(offsets=offsets, attribute=attribute, value=value)


def _event_values(
    rng: np.random.Generator, shape: Selective, orders: Integers, attribute: Integers
) -> Floats:
    """A random value for each cell, by its attribute."""
    if shape.has_real_ranges:
        values = rng.uniform(0, shape.values - 1, len(attribute))
    else:
        values = rng.integers(0, shape.values, len(attribute)).astype(np.float64)
    is_popular = attribute % 2 == 0
    values[is_popular] = _popular_values(rng, shape, orders, attribute[is_popular])
    return values
