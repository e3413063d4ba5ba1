"""Balance (paper 003, section 5): the smallest load factor that candidate sets allow; bandwidth does not matter.

Its load factor is the floor below which no placement can be, worth knowing of every instance.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.filters import filters_of
from thatch.placement.flow import least_factor, route, spread
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.types import CandidateSets, candidate_sets

__all__ = ["balance", "balanced", "interest_rank"]


def balance(problem: Problem) -> tuple[Ints, tuple[Floats, ...]]:
    """Spread subscribers over their candidates as evenly as can be."""
    served_by = balanced(problem, candidate_sets(problem))
    return served_by, filters_of(problem, served_by, fit="paper")


def balanced(problem: Problem, sets: CandidateSets) -> Ints:
    """The leaf of each subscriber at the smallest load factor there is.

    Whom no capacity can serve, since all its candidates have none, goes to the first of them.
    """
    supplies = np.bincount(sets.of, minlength=len(sets.matrix))
    found = least_factor(problem, supplies, sets.matrix)
    if found is None:
        routing = route(supplies, sets.matrix, problem.capacities(len(problem.shares) * problem.beta_max))
    else:
        routing = found[1]
    served_by = spread(routing, sets.of, interest_rank(problem), len(supplies))
    lost = served_by < 0
    served_by[lost] = sets.matrix[sets.of[lost]].argmax(axis=1)
    return served_by


def interest_rank(problem: Problem) -> Ints:
    """A number for each subscriber that is close where the first boxes of interests are close."""
    first = problem.interests.boxes[problem.interests.start[:-1]]
    rank = np.empty(len(first), np.int64)
    rank[np.lexsort(first.T[::-1])] = np.arange(len(first))
    return rank[problem.interest_of]
