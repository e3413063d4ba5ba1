"""The baselines of yu2012, section 5: Closest, Closest without balance, and Balance.

Closest assigns a subscriber to the nearest leaf that has room under β_max. This may break its latency limit, because the
nearest leaf need not lie on the shortest path. Without balance, room does not matter either.

Balance finds the smallest load factor that candidate sets allow, and ignores bandwidth. No placement has a smaller one, so it
is worth knowing for every instance.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.arrays import Ints
from thatch.placement.candidates import CandidateSets
from thatch.placement.filters import fit_filters
from thatch.placement.flow import assign_flow, interest_rank, least_factor, route
from thatch.placement.placement import Answer
from thatch.placement.problem import PlacementProblem

__all__ = ["assign_first_candidate", "balance", "balance_loads", "closest", "closest_without_balance"]


def closest(problem: PlacementProblem, rng: np.random.Generator | None = None) -> Answer:
    """The nearest leaf with room; by arrival or, given an `rng`, in a random order."""
    return _assign_nearest(problem, problem.capacities(problem.beta_max), rng)


def closest_without_balance(problem: PlacementProblem, rng: np.random.Generator | None = None) -> Answer:
    """The nearest leaf."""
    return _assign_nearest(problem, np.full(len(problem.tree.leaves), problem.subscribers), rng)


def _assign_nearest(problem: PlacementProblem, capacities: Ints, rng: np.random.Generator | None) -> Answer:
    from thatch.placement.kernels.assignment import assign_nearest

    order = np.arange(problem.subscribers) if rng is None else rng.permutation(problem.subscribers)
    served_by = np.empty(problem.subscribers, np.int64)
    leaves = np.ascontiguousarray(problem.tree.locations[problem.tree.leaves])
    assign_nearest(order, problem.locations, leaves, capacities, served_by)
    return served_by, fit_filters(problem, served_by, fit="paper")


def balance(problem: PlacementProblem) -> Answer:
    """Spread subscribers over their candidates as evenly as possible."""
    served_by = balance_loads(problem)
    return served_by, fit_filters(problem, served_by, fit="paper")


def balance_loads(problem: PlacementProblem) -> Ints:
    """The leaf of each subscriber at the smallest load factor there is.

    Subscribers all of whose candidates have no capacity go to the first of them.
    """
    sets = problem.candidate_sets()
    found = least_factor(problem, sets.sizes, sets.matrix)
    if found is None:
        most = problem.capacities(len(problem.shares) * problem.beta_max)
        flow = route(sets.sizes, sets.matrix, most)
    else:
        flow = found[1]
    served_by = assign_flow(flow, sets.of, interest_rank(problem), len(sets.matrix))
    return assign_first_candidate(served_by, sets)


def assign_first_candidate(served_by: Ints, sets: CandidateSets) -> Ints:
    """Assign subscribers that are served nowhere (−1) to their first candidate."""
    lost = served_by < 0
    served_by[lost] = sets.matrix[sets.of[lost]].argmax(axis=1)
    return served_by
