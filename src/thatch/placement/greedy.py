"""Gr and its variants (yu2012, section 3): each subscriber goes to the leaf where filters grow least.

    Gr                    in order of arrival, as an online algorithm would
    Gr*                   always next a subscriber with the fewest candidates that still have room
    Gr with eviction      when all candidates are full, another subscriber, drawn at random, has to leave one
    Gr without latency    every leaf is a candidate: latency limits may be broken, so this is a baseline only

All begin with the capacities at β. If a subscriber finds no room they start again with a larger factor, up to β_max. If that
fails too, those who find no room go to the cheapest candidate regardless, and the status is infeasible.

Deviations: factors rise by 2 %, because the paper gives no step; a filter with fewer than α boxes may open a new one, which
the paper leaves open; filters do not shrink when a subscriber is evicted, but are fitted anew at the end.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from thatch.placement.boxes import hull
from thatch.placement.candidates import CandidateSets
from thatch.placement.filters import fit_filters
from thatch.placement.placement import Answer
from thatch.placement.problem import PlacementProblem

__all__ = ["Eviction", "gr", "gr_evict", "gr_star", "gr_without_latency"]

Eviction = Literal["next", "last"]

_STEP = 1.02
_TIE = 1e-12  # of the volume around all interests: growth below this is rounding


def gr(problem: PlacementProblem, rng: np.random.Generator | None = None) -> Answer:
    """Gr: in order of arrival, which is the order of subscribers or, given an `rng`, a random one."""
    return _greedy(problem, problem.candidate_sets(), rng, by_room=False)


def gr_star(problem: PlacementProblem, rng: np.random.Generator | None = None) -> Answer:
    """Gr*: next is the subscriber with the fewest candidates that have room, ties by arrival."""
    return _greedy(problem, problem.candidate_sets(), rng, by_room=True)


def gr_without_latency(problem: PlacementProblem, rng: np.random.Generator | None = None) -> Answer:
    """Gr with all leaves as candidates."""
    return _greedy(problem, problem.candidate_sets().without_latency(), rng, by_room=False)


def gr_evict(problem: PlacementProblem, rng: np.random.Generator, *, evicted: Eviction = "next") -> Answer:
    """Gr with eviction; an evicted subscriber is assigned `next`, or after all others (`last`).

    Notes
    -----
    There are at most as many evictions as subscribers: on instances without a feasible answer they would never end.
    """
    served_by, _ = _greedy(problem, problem.candidate_sets(), rng, by_room=False, evicted=evicted)
    return served_by, fit_filters(problem, served_by)


def _greedy(
    problem: PlacementProblem,
    sets: CandidateSets,
    rng: np.random.Generator | None,
    *,
    by_room: bool,
    evicted: Eviction | None = None,
) -> Answer:
    from thatch.placement.kernels import assignment
    from thatch.placement.kernels.volumes import room_for

    m, nodes = problem.subscribers, len(problem.tree.parents)
    order = np.arange(m) if rng is None else rng.permutation(m)
    mode = (None, "next", "last").index(evicted)  # as numbered in the kernel
    draws = rng.random(2 * m) if evicted is not None and rng is not None else np.zeros(0)
    slots = int(problem.complexities.max())
    sides = problem.interests.boxes.shape[1]
    lists = sets.lists()
    around = hull(problem.interests.boxes)
    tie = _TIE * float(np.prod(around[sides // 2 :] - around[: sides // 2]))
    tree = (problem.complexities, problem.tree.path_start, problem.tree.path_nodes)
    for factor, is_last in _factors(problem):
        served_by = np.full(m, -1, np.int64)
        filters = np.zeros((nodes, slots, sides))
        counts = np.zeros(nodes, np.int64)
        stuck = assignment.assign_greedily(
            order,
            by_room,
            mode,
            draws,
            is_last,
            (problem.interests.boxes, problem.interests.start, problem.interest_of),
            (sets.of, sets.matrix, *lists),
            tree,
            problem.capacities(factor),
            tie,
            room_for(slots + 1, sides // 2),
            served_by,
            (filters, counts, np.zeros(nodes)),
        )
        if not stuck:
            break
    return served_by, tuple(filters[node, : counts[node]].copy() for node in range(nodes))


def _factors(problem: PlacementProblem) -> list[tuple[float, bool]]:
    """The load factors that are tried, and whether each is the last."""
    factors = [problem.beta]
    while factors[-1] * _STEP < problem.beta_max:
        factors.append(factors[-1] * _STEP)
    factors.append(problem.beta_max)
    return [(each, each == problem.beta_max) for each in factors]
