"""Filters that do not allow the loads grow until they do.

Filters that were drawn miss some subscribers, and where they contain all of them leaves may still be too small: the flow
does not serve everybody. Then it leaves a cut: groups that wait, and full leaves that they reach; beyond it are leaves with
room. Only a branch beyond the cut that grows for those before it helps, so the branches beyond it make offers, volume for
each subscriber they would serve, and the cheapest are taken; then the flow is asked again. This ends with everybody served
whenever candidates and capacities allow it. Beyond the paper, which leaves the case open (spec 2, B3.3).
"""

from __future__ import annotations

import numpy as np

from thatch.placement.flow import Routing
from thatch.placement.rows import Bools, Floats, Ints
from thatch.placement.slp.coverage import Coverage
from thatch.placement.volumes import union_volume

__all__ = ["repaired"]

_ROUNDS = 400
_TRIED = 300  # interests that branches may grow for, those of the most subscribers that wait
_COUNTED = 3_000  # interests that are counted when a branch grows
_TIE = 1e-12
_SPARE = 0.1  # of its capacity, what a full leaf beyond the cut counts for: others can leave it
_AT_ONCE = 8  # one branch in so many grows before the flow is asked again


def repaired(state: Coverage) -> tuple[Routing, Ints, int] | None:
    """Let filters grow until everybody is served; the routing, the group of each type and the number of groups.

    None if the capacities do not allow it, or not within a number of rounds.
    """
    capacities = state.part.capacities
    for _ in range(_ROUNDS):
        routing, matrix, group, supplies = state.routed()
        if routing.routed == supplies.sum():
            return routing, group, len(supplies)
        is_waiting, is_full = _cut(routing, matrix, supplies)
        deficit = int(supplies.sum()) - routing.routed
        if not _grow(state, is_waiting[group], is_full, _room(routing, capacities), deficit):
            return None
    return None


def _cut(routing: Routing, matrix: Bools, supplies: Ints) -> tuple[Bools, Bools]:
    """Groups from which nobody more can be sent, and the leaves that they reach."""
    flow = np.zeros(matrix.shape, np.bool_)
    flow[routing.group, routing.leaf] = True
    sent = np.bincount(routing.group, routing.amount, minlength=len(supplies))
    is_waiting = sent < supplies
    is_full = np.zeros(matrix.shape[1], np.bool_)
    while True:
        is_full |= matrix[is_waiting].any(axis=0)
        more = is_waiting | flow[:, is_full].any(axis=1)
        if (more == is_waiting).all():
            return is_waiting, is_full
        is_waiting = more


def _room(routing: Routing, capacities: Ints) -> Floats:
    loads = np.bincount(routing.leaf, routing.amount, minlength=len(capacities))
    room: Floats = capacities - loads + _SPARE * capacities
    return room


def _grow(state: Coverage, is_waiting: Bools, is_full: Bools, room: Floats, deficit: int) -> bool:
    """Let the branches with the cheapest offers grow; whether any could."""
    branches = state.branches
    is_beyond = ~is_full & (branches.of_leaf >= 0) & (room > 0)
    rooms = np.bincount(branches.of_leaf[is_beyond], room[is_beyond], len(branches)).astype(np.float64)
    counted, waiting = _waiting(state, is_waiting, is_beyond)
    if not len(counted):
        return False
    prices, grown = _offers(state, rooms, counted, waiting)
    order = np.argsort(prices[:, 0], kind="stable")
    order = order[np.isfinite(prices[order, 0])]
    enough = 1 + int(np.searchsorted(np.cumsum(prices[order, 1]), deficit))
    for branch in order[: min(enough, max(1, len(branches) // _AT_ONCE))].tolist():
        state.replace(branch, grown[branch])
    return len(order) > 0


def _offers(state: Coverage, rooms: Floats, counted: Ints, waiting: Floats) -> tuple[Floats, list[Floats]]:
    """The price of each branch and how many it would serve, and its filter then."""
    from thatch.placement.slp import kernels
    from thatch.placement.volumes.kernels import room_for

    branches, own = state.branches, state.problem.interests
    d = own.axes
    slots = int(branches.complexities.max())
    filters = np.zeros((len(branches), slots, 2 * d))
    for branch, boxes in enumerate(state.filters):
        filters[branch, : len(boxes)] = boxes
    extent = own.boxes[:, d:].max(axis=0) - own.boxes[:, :d].min(axis=0)
    grown = np.zeros_like(filters)
    counts = np.zeros(len(branches), np.int64)
    prices = np.empty((len(branches), 2))
    kernels.offers(
        filters,
        np.array([len(each) for each in state.filters], np.int64),
        np.array([union_volume(each) for each in state.filters]),
        branches.complexities,
        rooms,
        own.boxes,
        own.start,
        state.interests[counted],
        min(_TRIED, len(counted)),
        waiting,
        max(_TIE * float(np.prod(extent)), 1e-300),
        room_for(slots + 1, d),
        grown,
        counts,
        prices,
    )
    return prices, [boxes[:k].copy() for boxes, k in zip(grown, counts.tolist(), strict=True)]


def _waiting(state: Coverage, is_waiting: Bools, is_beyond: Bools) -> tuple[Ints, Floats]:
    """Interests of those that wait and could go beyond the cut, most wanted first, and how many could go to each branch.

    No branch that they could go to contains them: its leaf would not be beyond the cut.
    """
    types = state.types
    near = state.branches.any_leaf(types.sets.matrix & is_beyond)
    can_go: Bools = np.asarray(near.any(axis=1))
    chosen = np.flatnonzero(is_waiting & can_go[types.candidates])
    total = np.bincount(state.interest[chosen], types.count[chosen], minlength=len(state.interests))
    counted = np.argsort(-total, kind="stable")[:_COUNTED]
    counted = counted[total[counted] > 0]
    place = np.full(len(total), -1, np.int64)
    place[counted] = np.arange(len(counted))
    chosen = chosen[place[state.interest[chosen]] >= 0]
    row, candidates, count = place[state.interest[chosen]], types.candidates[chosen], types.count[chosen]
    answer = np.zeros((len(state.branches), len(counted)))
    for branch in np.flatnonzero(near.any(axis=0)).tolist():
        answer[branch] = np.bincount(row, count * near[candidates, branch], minlength=len(counted))
    return counted, answer
