"""Local search with rebalancing, from any start: rounds of moves, new filters, and loads spread evenly again. Beyond yu2012.

Moves (`kernels/moves.py`) lower bandwidth until leaves are full. Then filters are fitted anew and, with filters fixed,
subscribers are routed at the smallest load factor, which makes room for the next round. The rounds end when several in a row
gain nothing. After that a few leaves at a time, drawn at random, lose their filters and are filled anew: subscribers that
the other leaves cannot take wait, and filters grow by the cheapest offers until everybody is served (`slp/repair.py`), so that
the flow moves subscribers along whole chains of leaves. This step gains most; it is kept where it gains.

Latency limits and the load factor of the start, or β where that is larger, are kept throughout. On trees of several levels
moves look at leaves alone; the filters above follow, and the best of all rounds is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.boxes import stack_filters, union_volume
from thatch.placement.filters import fit_filters
from thatch.placement.flow import assign_flow, interest_rank, least_factor
from thatch.placement.placement import Answer
from thatch.placement.problem import PlacementProblem
from thatch.placement.slp.branches import Branches, Subproblem
from thatch.placement.slp.coverage import Coverage
from thatch.placement.slp.repair import repair

__all__ = ["improve"]

_DEPTH = 60  # steps of a move
_ROUNDS = 20
_ROUND_TYPES = 4_000_000  # rounds times the number of types, which is what rounds cost; at least one round
_PATIENCE = 3  # rounds without gain
_GAIN = 1e-4  # of the bandwidth: less is none
_TIE = 1e-12
_REBUILDS = 100  # times that leaves are filled anew, at most
_REBUILD_TYPES = 3_000_000  # the same times the number of types, which is what it costs
_INTEREST = 2  # types that an interest counts as at least: where no two are alike, flows have as many groups
_REBUILD_PATIENCE = 0.15  # times without gain, for each leaf; 3 at least
_EMPTIED = 0.03  # of the leaves, each time


def improve(
    problem: PlacementProblem,
    start: Answer,
    rng: np.random.Generator,
    *,
    is_over: Callable[[], bool] = lambda: False,
) -> Answer:
    """Find a placement of no more bandwidth than the start, under the same limits.

    Parameters
    ----------
    is_over : asked before every step whether the search should end with what it has
    """
    served_by, filters = start
    sets = problem.candidate_sets()
    if not sets.matrix[sets.of, served_by].all():
        return start  # it breaks latency limits: there is nothing to keep
    loads = np.bincount(served_by, minlength=len(problem.shares))
    factor = min(max(problem.beta, problem.load_factor(loads)), problem.beta_max)
    capacities = np.maximum(problem.capacities(factor), loads)
    whole = Subproblem.of(problem, problem.subscriber_types(), Branches.leaves(problem), capacities)
    best = start
    least = _bandwidth(filters)
    idle = 0
    for _ in range(max(min(_ROUNDS, _ROUND_TYPES // _cost(whole)), 1)):
        if is_over():
            return best
        served_by, filters = _sweep(whole, (served_by, filters), rng)
        bandwidth = _bandwidth(filters)
        idle = 0 if bandwidth < least * (1 - _GAIN) else idle + 1
        if bandwidth < least:
            best, least = (served_by, filters), bandwidth
        if idle == _PATIENCE:
            break
        served_by = _rebalance(whole, filters, factor, served_by)
    return _rebuild_often(whole, best, rng, is_over)


def _cost(whole: Subproblem) -> int:
    """What a step costs: types, and more of them where no two interests are alike."""
    return max(len(whole.types), _INTEREST * len(whole.problem.interests))


def _bandwidth(filters: tuple[Floats, ...]) -> float:
    return sum(map(union_volume, filters))


def _sweep(whole: Subproblem, answer: Answer, rng: np.random.Generator) -> Answer:
    """One round of moves, and filters fitted anew."""
    from thatch.placement.kernels.moves import sweep
    from thatch.placement.kernels.volumes import room_for

    problem, sets = whole.problem, whole.types.sets
    served_by, new = answer[0].copy(), list(answer[1])
    leaves = problem.tree.leaves
    boxes = problem.interests.boxes
    slots = int(problem.complexities[leaves].max())
    filters, counts, volumes = stack_filters([new[leaf] for leaf in leaves.tolist()], slots)
    sweep(
        rng.permutation(len(leaves)),
        _DEPTH,
        (boxes, problem.interests.start, problem.interest_of),
        (sets.of, *sets.lists()),
        whole.capacities,
        problem.complexities[leaves],
        _TIE * float(volumes.sum()),
        room_for(slots + 1, boxes.shape[1] // 2),
        served_by,
        (filters, counts, volumes),
    )
    for number, leaf in enumerate(leaves.tolist()):
        new[leaf] = filters[number, : counts[number]].copy()
    return served_by, fit_filters(problem, served_by, new)


def _rebalance(whole: Subproblem, filters: tuple[Floats, ...], most: float, served_by: Ints) -> Ints:
    """The assignment of the smallest load factor up to `most` that these filters allow, or the same if none does."""
    coverage = Coverage(whole, [filters[leaf] for leaf in whole.branches.nodes.tolist()])
    matrix, group, supplies = coverage.groups()
    found = least_factor(whole.problem, supplies, matrix, 1.0, most)
    if found is None:
        return served_by
    return assign_flow(found[1], group[whole.types.of], interest_rank(whole.problem), len(supplies))


def _rebuild_often(
    whole: Subproblem, best: Answer, rng: np.random.Generator, is_over: Callable[[], bool]
) -> Answer:
    """Empty leaves and fill them anew as long as that gains something."""
    least = _bandwidth(best[1])
    patience = max(3, round(_REBUILD_PATIENCE * len(whole.capacities)))
    idle = 0
    for _ in range(min(_REBUILDS, _REBUILD_TYPES // _cost(whole))):
        if is_over():
            break
        found = _rebuild(whole, best[1], rng)
        if found is not None:
            found = _sweep(whole, found, rng)
        idle += 1
        if found is not None and (bandwidth := _bandwidth(found[1])) < least * (1 - _GAIN):
            best, least, idle = found, bandwidth, 0
        if idle == patience:
            break
    return best


def _rebuild(whole: Subproblem, filters: tuple[Floats, ...], rng: np.random.Generator) -> Answer | None:
    """Empty a few leaves and fill them anew within the same capacities; None if not everybody can be served.

    Filters above the leaves stay as they are, to be fitted anew.
    """
    nodes = whole.branches.nodes
    own = [filters[node] for node in nodes.tolist()]
    for leaf in rng.choice(len(nodes), max(1, round(_EMPTIED * len(nodes))), replace=False).tolist():
        own[leaf] = own[leaf][:0]
    coverage = Coverage(whole, own)
    done = repair(coverage)
    if done is None:
        return None
    flow, group, groups = done
    served_by = assign_flow(flow, group[whole.types.of], rng.permutation(len(whole.members)), groups)
    new = list(filters)
    for node, boxes in zip(nodes.tolist(), coverage.filters, strict=True):
        new[node] = boxes
    return served_by, tuple(new)
