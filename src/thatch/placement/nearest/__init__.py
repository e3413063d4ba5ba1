"""The yardsticks that look at distance alone (paper 003, section 5): Closest, and Closest without balance.

Closest sends a subscriber to the nearest leaf that has room under β_max, which may break its latency limit: the nearest
leaf need not lie on the shortest way. Without balance room does not matter either.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.filters import filters_of
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints

__all__ = ["closest", "closest_without_balance"]


def closest(problem: Problem, rng: np.random.Generator | None = None) -> tuple[Ints, tuple[Floats, ...]]:
    """The nearest leaf with room; by arrival or, given an `rng`, in a random order."""
    return _nearest(problem, problem.capacities(problem.beta_max), rng)


def closest_without_balance(
    problem: Problem, rng: np.random.Generator | None = None
) -> tuple[Ints, tuple[Floats, ...]]:
    """The nearest leaf."""
    return _nearest(problem, np.full(len(problem.tree.leaves), problem.subscribers), rng)


def _nearest(
    problem: Problem, capacities: Ints, rng: np.random.Generator | None
) -> tuple[Ints, tuple[Floats, ...]]:
    from thatch.placement.nearest import kernels

    order = np.arange(problem.subscribers) if rng is None else rng.permutation(problem.subscribers)
    served_by = np.empty(problem.subscribers, np.int64)
    leaves = np.ascontiguousarray(problem.tree.locations[problem.tree.leaves])
    kernels.assign(order, problem.locations, leaves, capacities, served_by)
    return served_by, filters_of(problem, served_by, fit="paper")
