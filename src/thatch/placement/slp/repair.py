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
    from thatch.placement.slp import kernels
    from thatch.placement.volumes.kernels import room_for

    branches, own = state.branches, state.problem.interests
    is_beyond = ~is_full & (branches.of_leaf >= 0)
    rooms = np.bincount(branches.of_leaf[is_beyond], room[is_beyond], minlength=len(branches))
    waiting = _waiting(state, is_waiting, is_beyond)
    total = waiting.max(axis=1)
    counted = np.argsort(-total, kind="stable")[:_COUNTED]
    counted = counted[total[counted] > 0]
    if not len(counted) or not (rooms > 0).any():
        return False
    slots = int(branches.complexities.max())
    filters = np.zeros((len(branches), slots, own.boxes.shape[1]))
    for branch, boxes in enumerate(state.filters):
        filters[branch, : len(boxes)] = boxes
    counts = np.array([len(each) for each in state.filters], np.int64)
    volumes = np.array([union_volume(each) for each in state.filters])
    extent = np.concatenate([own.boxes.min(axis=0, keepdims=True), own.boxes.max(axis=0, keepdims=True)])
    d = own.axes
    tie = max(_TIE * float(np.prod(extent[1, d:] - extent[0, :d])), 1e-300)
    scratch = room_for(slots + 1, d)
    found = np.empty((len(branches), 3))
    kernels.offers(
        filters,
        counts,
        volumes,
        branches.complexities,
        rooms,
        own.boxes,
        own.start,
        state.interests[counted],
        np.arange(min(_TRIED, len(counted))),
        np.ascontiguousarray(waiting[counted]),
        tie,
        scratch,
        found,
    )
    order = np.argsort(found[:, 1], kind="stable")
    order = order[np.isfinite(found[order, 1])]
    enough = 1 + int(np.searchsorted(np.cumsum(found[order, 2]), deficit))
    order = order[: min(enough, max(1, len(branches) // _AT_ONCE))]
    for branch in order.tolist():
        interest = state.interests[counted[int(found[branch, 0])]]
        rows = own.boxes[own.start[interest] : own.start[interest + 1]]
        out = np.zeros((slots + 1, own.boxes.shape[1]))
        out[: counts[branch]] = filters[branch, : counts[branch]]
        k = kernels.grown(
            out, counts[branch], branches.complexities[branch], volumes[branch], rows, tie, scratch
        )
        state.replace(branch, out[:k].copy())
    return len(order) > 0


def _waiting(state: Coverage, is_waiting: Bools, is_beyond: Bools) -> Floats:
    """For each interest how many that wait could go to each branch, if it contained that."""
    types = state.types
    near = state.branches.any_leaf(types.sets.matrix & is_beyond)
    answer = np.zeros(state.contains.shape)
    chosen = np.flatnonzero(is_waiting)
    interest, candidates = state.interest[chosen], types.candidates[chosen]
    for branch in np.flatnonzero(near.any(axis=0)).tolist():
        count = types.count[chosen] * near[candidates, branch]
        answer[:, branch] = np.bincount(interest, count, minlength=len(answer))
    answer[state.contains] = 0.0
    return answer
