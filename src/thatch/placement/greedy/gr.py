"""Gr and its kin (paper 003, section 3): each subscriber goes to the leaf where filters grow least.

    Gr               in the order of arrival, as an online algorithm would
    Gr*              always next one with the fewest candidates that still have room
    Gr-evict         when all candidates are full somebody else, drawn at random, has to leave one
    Gr without l     every leaf is a candidate: latency may be broken, so this is a yardstick, no answer

All begin with capacities for β. Where somebody finds no room they start again with a larger factor, up to β_max; if that
fails too, whoever finds no room goes to the cheapest candidate regardless, and the status tells.

Deviations from the paper: factors rise by 2 %, the paper gives no step; a filter with fewer than α boxes may open a new
one, which the paper leaves open; filters do not shrink when somebody is evicted, but are fitted anew at the end.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from thatch.placement.filters.fitting import filters_of
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.types import CandidateSets, candidate_sets

__all__ = ["Eviction", "gr", "gr_evict", "gr_star", "gr_without_latency"]

Eviction = Literal["next", "last"]
Answer = tuple[Ints, tuple[Floats, ...]]

_STEP = 1.02
_TIE = 1e-12  # of the volume around all interests: growth below this is rounding


def gr(problem: Problem, rng: np.random.Generator | None = None) -> Answer:
    """Gr: by arrival, which is the order of subscribers or, given an `rng`, a random one."""
    return _greedy(problem, candidate_sets(problem), rng, by_room=False)


def gr_star(problem: Problem, rng: np.random.Generator | None = None) -> Answer:
    """Gr*: whoever has the fewest candidates with room is next, ties by arrival."""
    return _greedy(problem, candidate_sets(problem), rng, by_room=True)


def gr_without_latency(problem: Problem, rng: np.random.Generator | None = None) -> Answer:
    """Gr with all leaves as candidates."""
    return _greedy(problem, candidate_sets(problem).without_latency(), rng, by_room=False)


def gr_evict(problem: Problem, rng: np.random.Generator, *, evicted: Eviction = "next") -> Answer:
    """Gr with eviction; whoever is evicted is assigned `next`, or after all others (`last`).

    Notes
    -----
    At most as many evictions as subscribers: on instances without a feasible answer they would never end.
    """
    served_by, _ = _greedy(problem, candidate_sets(problem), rng, by_room=False, evicted=evicted)
    return served_by, filters_of(problem, served_by)


def _greedy(
    problem: Problem,
    sets: CandidateSets,
    rng: np.random.Generator | None,
    *,
    by_room: bool,
    evicted: Eviction | None = None,
) -> Answer:
    from thatch.placement.greedy import kernels
    from thatch.placement.volumes.kernels import room_for

    m, nodes = problem.subscribers, len(problem.tree.parents)
    order = np.arange(m) if rng is None else rng.permutation(m)
    mode = {None: kernels.NO_EVICTION, "next": kernels.EVICTED_NEXT, "last": kernels.EVICTED_LAST}[evicted]
    draws = rng.random(2 * m) if evicted is not None and rng is not None else np.zeros(0)
    slots = int(problem.complexities.max())
    sides = problem.interests.boxes.shape[1]
    set_start, set_leaf = sets.lists()
    for factor, is_last in _factors(problem):
        served_by = np.full(m, -1, np.int64)
        filters = np.zeros((nodes, slots, sides))
        counts = np.zeros(nodes, np.int64)
        stuck = kernels.assign(
            order,
            by_room,
            mode,
            draws,
            is_last,
            problem.interest_of,
            problem.interests.start,
            problem.interests.boxes,
            sets.of,
            sets.matrix,
            set_start,
            set_leaf,
            problem.complexities,
            problem.tree.path_start,
            problem.tree.path_nodes,
            problem.capacities(factor),
            _TIE * _space(problem),
            room_for(slots + 1, sides // 2),
            served_by,
            filters,
            counts,
            np.zeros(nodes),
        )
        if not stuck:
            break
    return served_by, tuple(filters[node, : counts[node]].copy() for node in range(nodes))


def _factors(problem: Problem) -> list[tuple[float, bool]]:
    """The load factors that are tried, and whether each is the last."""
    factors = [problem.beta]
    while factors[-1] * _STEP < problem.beta_max:
        factors.append(factors[-1] * _STEP)
    factors.append(problem.beta_max)
    return [(each, each == problem.beta_max) for each in factors]


def _space(problem: Problem) -> float:
    """The volume of the box around all interests."""
    boxes = problem.interests.boxes
    d = problem.interests.axes
    return float(np.prod(boxes[:, d:].max(axis=0) - boxes[:, :d].min(axis=0)))
