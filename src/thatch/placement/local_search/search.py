"""Local search with rebalancing (spec 2, B5): rounds of moves, new filters, and loads spread evenly again.

Moves (told in `kernels.py`) lower bandwidth until leaves are full. Then filters are fitted anew and, with filters fixed,
subscribers are routed at the smallest load factor, which makes room for the next round. The search ends after some
rounds without gain. Then a few leaves at a time are emptied and filled anew (`rebuilding.py`), which stays where it gains:
beyond the spec, and what gains most. Latency limits and the load factor of the start, or β where that is larger, are kept
throughout.

On trees of several levels moves look at leaves alone; the filters above follow, and the best of all rounds is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thatch.placement.coverage import rebalanced
from thatch.placement.filters import filters_of
from thatch.placement.local_search.rebuilding import rebuilt
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.slp.branches import Branches
from thatch.placement.slp.part import Part
from thatch.placement.types import Types, types_of
from thatch.placement.volumes import union_volume

__all__ = ["improved"]

Answer = tuple[Ints, tuple[Floats, ...]]

_DEPTH = 60  # steps of a move
_ROUNDS = 20
_ROUND_TYPES = 4_000_000  # the same times the number of types, which is what rounds cost; one at least
_PATIENCE = 3  # rounds without gain
_GAIN = 1e-4  # of the bandwidth: less is none
_TIE = 1e-12
_REBUILT = 100  # times that leaves are filled anew, at most
_REBUILT_TYPES = 3_000_000  # the same times the number of types, which is what it costs
_INTEREST = 2  # types that an interest counts as at least: where no two are alike, flows have as many groups
_REBUILT_PATIENCE = 0.15  # times without gain, for each leaf; 3 at least


def improved(
    problem: Problem,
    start: Answer,
    rng: np.random.Generator,
    *,
    types: Types | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> Answer:
    """A placement of no more bandwidth than the start, under the same limits.

    Parameters
    ----------
    start : the leaf of each subscriber and the filters of all nodes, as algorithms answer
    types : those of the problem, if they are known
    is_over : asked before every step whether the search should end with what it has
    """
    served_by, filters = start
    types = types_of(problem) if types is None else types
    if not types.sets.matrix[types.sets.of, served_by].all():
        return start  # it breaks latency limits: there is nothing to keep
    loads = np.bincount(served_by, minlength=len(problem.shares))
    factor = min(max(problem.beta, problem.load_factor(loads)), problem.beta_max)
    capacities = np.maximum(problem.capacities(factor), loads)
    best = start
    least = _bandwidth(filters)
    idle = 0
    for _ in range(max(min(_ROUNDS, _ROUND_TYPES // _size(problem, types)), 1)):
        if is_over():
            return best
        served_by, filters = _swept(problem, types, (served_by, filters), capacities, rng)
        filters = filters_of(problem, served_by, filters)
        bandwidth = _bandwidth(filters)
        idle = 0 if bandwidth < least * (1 - _GAIN) else idle + 1
        if bandwidth < least:
            best, least = (served_by, filters), bandwidth
        if idle == _PATIENCE:
            break
        again = rebalanced(problem, types, filters, 1.0, factor)
        if again is not None:
            served_by = again[1]
    return _filled_anew(problem, types, best, capacities, rng, is_over)


def _size(problem: Problem, types: Types) -> int:
    """What steps cost: types, and more of them where no two interests are alike."""
    return max(len(types), _INTEREST * len(problem.interests))


def _filled_anew(
    problem: Problem,
    types: Types,
    best: Answer,
    capacities: Ints,
    rng: np.random.Generator,
    is_over: Callable[[], bool],
) -> Answer:
    """The answer after leaves were emptied and filled anew as long as that gained something."""
    part = Part.of(problem, types, Branches.leaves(problem), capacities)
    least = _bandwidth(best[1])
    patience = max(3, round(_REBUILT_PATIENCE * len(capacities)))
    idle = 0
    for _ in range(min(_REBUILT, _REBUILT_TYPES // _size(problem, types))):
        if is_over():
            break
        found = rebuilt(part, best[1], rng)
        if found is not None:
            served_by, filters = _swept(problem, types, found, capacities, rng)
            filters = filters_of(problem, served_by, filters)
            found = served_by, filters
        idle += 1
        if found is not None and (bandwidth := _bandwidth(found[1])) < least * (1 - _GAIN):
            best, least, idle = found, bandwidth, 0
        if idle == patience:
            break
    return best


def _bandwidth(filters: tuple[Floats, ...]) -> float:
    return sum(union_volume(each) for each in filters)


def _swept(
    problem: Problem, types: Types, answer: Answer, capacities: Ints, rng: np.random.Generator
) -> Answer:
    """One round of moves. Filters above the leaves are left as they are, to be fitted anew."""
    from thatch.placement.local_search import kernels
    from thatch.placement.volumes.kernels import room_for

    served_by, old = answer[0].copy(), answer[1]
    leaves = problem.tree.leaves
    boxes = problem.interests.boxes
    slots = int(problem.complexities[leaves].max())
    filters = np.zeros((len(leaves), slots, boxes.shape[1]))
    counts = np.array([len(old[leaf]) for leaf in leaves], np.int64)
    for number, leaf in enumerate(leaves.tolist()):
        filters[number, : counts[number]] = old[leaf]
    volumes = np.array([union_volume(old[leaf]) for leaf in leaves.tolist()])
    set_start, set_leaf = types.sets.lists()
    kernels.sweep(
        rng.permutation(len(leaves)),
        _DEPTH,
        boxes,
        problem.interests.start,
        problem.interest_of,
        types.sets.of,
        set_start,
        set_leaf,
        capacities,
        problem.complexities[leaves],
        _TIE * float(volumes.sum()),
        room_for(slots + 1, boxes.shape[1] // 2),
        served_by,
        filters,
        counts,
        volumes,
    )
    new = list(old)
    for number, leaf in enumerate(leaves.tolist()):
        new[leaf] = filters[number, : counts[number]].copy()
    return served_by, tuple(new)
