"""Clusters of filters as section 5.1 makes them: predicates of one selectivity, on events whose values are even."""

from __future__ import annotations

import numpy as np

from thatch.model.expressions import And, Compare
from thatch.model.filters import Filter

__all__ = ["cluster_filters", "even_events"]


def cluster_filters(
    rng: np.random.Generator, *, members: int, size: int, shared: int, p: float
) -> list[Filter]:
    """Filters with a range on each attribute, that all have the same on the first `shared` ones.

    A range holds a share p of [0, 1]. What is not shared differs from filter to filter also at p = 0 and p = 1: such
    ranges lie outside [0, 1], or reach beyond it.
    """
    lows, highs = _ranges(rng, (members, size), p)
    lows[:, :shared], highs[:, :shared] = lows[:1, :shared], highs[:1, :shared]
    names = _names(size)
    return [
        Filter.of(
            And(
                tuple(
                    Compare(name, operator, end)
                    for name, low, high in zip(names, *ends, strict=True)
                    for operator, end in ((">=", low), ("<=", high))
                )
            )
        )
        for ends in zip(lows.tolist(), highs.tolist(), strict=True)
    ]


def even_events(rng: np.random.Generator, count: int, size: int) -> list[dict[str, float]]:
    """Events with a value between 0 and 1 for every attribute."""
    names = _names(size)
    return [dict(zip(names, values, strict=True)) for values in rng.random((count, size)).tolist()]


def _ranges(rng: np.random.Generator, shape: tuple[int, int], p: float) -> tuple[np.ndarray, np.ndarray]:
    drawn = rng.random(shape)
    if p == 0:
        return -1.0 - drawn, np.full(shape, -0.5)
    if p == 1:
        return -drawn, np.full(shape, 1.5)
    low = drawn * (1.0 - p)
    return low, low + p


def _names(size: int) -> list[str]:
    return [f"a{number:03}" for number in range(size)]
