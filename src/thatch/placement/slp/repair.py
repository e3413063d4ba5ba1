"""Grow filters until the flow serves everybody. Beyond yu2012, which leaves the case open.

Filters that were drawn miss some subscribers, and even where they contain all of them leaves may be too small. Then the flow
leaves a cut: groups that wait, and the full leaves that they reach; beyond the cut are leaves with room. It only helps if a
branch beyond the cut grows for those before it. So these branches make offers, at a price in volume for each subscriber they
would serve; the cheapest are taken, and the flow is computed again. This ends with everybody served whenever candidates and
capacities allow it.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.arrays import Bools, Floats, Ints
from thatch.placement.boxes import hull, stack_filters
from thatch.placement.flow import LeafFlow
from thatch.placement.slp.coverage import Coverage

__all__ = ["repair"]

_ROUNDS = 400
_TRIED = 300  # interests that branches may grow for: those of the most waiting subscribers
_COUNTED = 3_000  # interests that are counted when a branch grows
_TIE = 1e-12
_SPARE = 0.1  # of its capacity: what a full leaf beyond the cut counts for, because subscribers can leave it
_AT_ONCE = 8  # one branch in so many grows before the flow is computed again


def repair(coverage: Coverage) -> tuple[LeafFlow, Ints, int] | None:
    """Grow filters until everybody is served.

    Returns
    -------
    The flow, the group of each type and the number of groups; None if the capacities do not allow it, or not within a number
    of rounds.
    """
    capacities = coverage.part.capacities
    for _ in range(_ROUNDS):
        flow, matrix, group, supplies = coverage.route()
        if flow.routed == supplies.sum():
            return flow, group, len(supplies)
        is_waiting, is_full = _cut(flow, matrix, supplies)
        deficit = int(supplies.sum()) - flow.routed
        loads = np.bincount(flow.leaf, flow.amount, minlength=len(capacities))
        room = capacities - loads + _SPARE * capacities
        if not _grow(coverage, is_waiting[group], is_full, room, deficit):
            return None
    return None


def _cut(flow: LeafFlow, matrix: Bools, supplies: Ints) -> tuple[Bools, Bools]:
    """The groups from which nobody more can be sent, and the leaves that they reach."""
    is_used = np.zeros(matrix.shape, np.bool_)
    is_used[flow.group, flow.leaf] = True
    sent = np.bincount(flow.group, flow.amount, minlength=len(supplies))
    is_waiting = sent < supplies
    is_full = np.zeros(matrix.shape[1], np.bool_)
    while True:
        is_full |= matrix[is_waiting].any(axis=0)
        more = is_waiting | is_used[:, is_full].any(axis=1)
        if (more == is_waiting).all():
            return is_waiting, is_full
        is_waiting = more


def _grow(coverage: Coverage, is_waiting: Bools, is_full: Bools, room: Floats, deficit: int) -> bool:
    """Grow the branches with the cheapest offers; whether any could."""
    branches = coverage.branches
    is_beyond = ~is_full & (branches.of_leaf >= 0) & (room > 0)
    rooms = np.bincount(branches.of_leaf[is_beyond], room[is_beyond], len(branches)).astype(np.float64)
    counted, waiting = _count_waiting(coverage, is_waiting, is_beyond)
    if not len(counted):
        return False
    prices, grown = _price_offers(coverage, rooms, counted, waiting)
    order = np.argsort(prices[:, 0], kind="stable")
    order = order[np.isfinite(prices[order, 0])]
    enough = 1 + int(np.searchsorted(np.cumsum(prices[order, 1]), deficit))
    for branch in order[: min(enough, max(1, len(branches) // _AT_ONCE))].tolist():
        coverage.replace(branch, grown[branch])
    return len(order) > 0


def _price_offers(
    coverage: Coverage, rooms: Floats, counted: Ints, waiting: Floats
) -> tuple[Floats, list[Floats]]:
    """The price of each branch and how many subscribers it would serve, and its filter then."""
    from thatch.placement.kernels.offers import price_offers
    from thatch.placement.kernels.volumes import room_for

    branches, own = coverage.branches, coverage.problem.interests
    d = own.axes
    slots = int(branches.complexities.max())
    filters = stack_filters(coverage.filters, slots)
    around = hull(own.boxes)
    grown = np.zeros_like(filters[0])
    counts = np.zeros(len(branches), np.int64)
    prices = np.empty((len(branches), 2))
    price_offers(
        (*filters, branches.complexities),
        rooms,
        (own.boxes, own.start, coverage.interests[counted]),
        min(_TRIED, len(counted)),
        waiting,
        max(_TIE * float(np.prod(around[d:] - around[:d])), 1e-300),
        room_for(slots + 1, d),
        grown,
        counts,
        prices,
    )
    return prices, [boxes[:k].copy() for boxes, k in zip(grown, counts.tolist(), strict=True)]


def _count_waiting(coverage: Coverage, is_waiting: Bools, is_beyond: Bools) -> tuple[Ints, Floats]:
    """Interests of waiting subscribers that could go beyond the cut, most wanted first, and how many could go to each branch.

    No branch that they could go to contains them: its leaf would not be beyond the cut.
    """
    types = coverage.types
    near = coverage.branches.any_leaf(types.sets.matrix & is_beyond)
    can_go: Bools = np.asarray(near.any(axis=1))
    chosen = np.flatnonzero(is_waiting & can_go[types.candidates])
    total = np.bincount(coverage.interest[chosen], types.count[chosen], minlength=len(coverage.interests))
    counted = np.argsort(-total, kind="stable")[:_COUNTED]
    counted = counted[total[counted] > 0]
    row_of = np.full(len(total), -1, np.int64)
    row_of[counted] = np.arange(len(counted))
    chosen = chosen[row_of[coverage.interest[chosen]] >= 0]
    row, candidates, count = row_of[coverage.interest[chosen]], types.candidates[chosen], types.count[chosen]
    answer = np.zeros((len(coverage.branches), len(counted)))
    for branch in np.flatnonzero(near.any(axis=0)).tolist():
        answer[branch] = np.bincount(row, count * near[candidates, branch], minlength=len(counted))
    return counted, answer
