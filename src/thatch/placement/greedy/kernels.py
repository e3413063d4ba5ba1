"""The greedy assignment, compiled: one subscriber after the other to the leaf where filters grow least."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.placement.growth.kernels import climb, held

__all__ = ["EVICTED_LAST", "EVICTED_NEXT", "NO_EVICTION", "assign"]

NO_EVICTION = 0
EVICTED_NEXT = 1
EVICTED_LAST = 2


@subkernel
def _insert(filters, counts, volumes, complexities, nodes, first, last, boxes, begin, end, tie, work):
    """Let the filters on a way contain the boxes of an interest, one after the other."""
    carried, trial, room = work
    growth = 0.0
    for row in range(begin, end):
        for side in range(boxes.shape[1]):
            carried[0, side] = boxes[row, side]
        growth += climb(filters, counts, volumes, complexities, nodes, first, last, carried, tie, trial, room)
    return growth


@subkernel
def _cost(state, tree, boxes, begin, end, leaf, tie, work, draft, levels):
    """What an interest would cost at a leaf, found on a copy of the filters on its way."""
    filters, counts, volumes = state
    complexities, path_start, path_nodes = tree
    first, last = path_start[leaf], path_start[leaf + 1]
    bottom = path_nodes[first]
    if held(filters[bottom], counts[bottom], boxes, begin, end):
        return 0.0
    draft_filters, draft_counts, draft_volumes, draft_complexities = draft
    for at in range(first, last):
        node = path_nodes[at]
        level = at - first
        for slot in range(counts[node]):
            for side in range(boxes.shape[1]):
                draft_filters[level, slot, side] = filters[node, slot, side]
        draft_counts[level] = counts[node]
        draft_volumes[level] = volumes[node]
        draft_complexities[level] = complexities[node]
    return _insert(
        draft_filters,
        draft_counts,
        draft_volumes,
        draft_complexities,
        levels,
        0,
        last - first,
        boxes,
        begin,
        end,
        tie,
        work,
    )


@subkernel
def _cheapest(
    state, tree, boxes, begin, end, candidates, loads, limits, capacities, tie, work, draft, levels
):
    """The candidate leaf of least cost, ties to the least loaded; −1 if all are at their limits."""
    start, stop, leaf_of = candidates
    best = np.inf
    chosen = -1
    best_load = np.inf
    for at in range(start, stop):
        leaf = leaf_of[at]
        if loads[leaf] >= limits[leaf]:
            continue
        load = loads[leaf] / capacities[leaf] if capacities[leaf] > 0 else np.inf
        cost = _cost(state, tree, boxes, begin, end, leaf, tie, work, draft, levels)
        if chosen < 0 or cost < best - tie or (cost <= best + tie and load < best_load):
            best = cost
            chosen = leaf
            best_load = load
    return chosen


@subkernel
def _sort_by_room(queue, first, last, set_of, left, spare, buckets):
    """A stable counting sort of what is left of the queue by the number of candidates with room."""
    for k in range(buckets.shape[0]):
        buckets[k] = 0
    for at in range(first, last):
        buckets[left[set_of[queue[at]]] + 1] += 1
    for k in range(buckets.shape[0] - 1):
        buckets[k + 1] += buckets[k]
    for at in range(first, last):
        k = left[set_of[queue[at]]]
        spare[buckets[k]] = queue[at]
        buckets[k] += 1
    for at in range(first, last):
        queue[at] = spare[at - first]


@kernel
def assign(
    order,
    by_room,
    eviction,
    draws,
    best_effort,
    interest_of,
    interest_start,
    boxes,
    set_of,
    sets,
    set_start,
    set_leaf,
    complexities,
    path_start,
    path_nodes,
    capacities,
    tie,
    room,
    served_by,
    filters,
    counts,
    volumes,
):
    """Assign every subscriber in `order`, or, `by_room`, always one with the fewest candidates that have room.

    `served_by` (−1 throughout), `filters`, `counts` and `volumes` (of empty filters) are filled. The answer is how many
    subscribers found all candidates full; without `best_effort` the first of them ends it.
    """
    m = order.shape[0]
    n_leaves = capacities.shape[0]
    sides = boxes.shape[1]
    depth = 0
    for leaf in range(n_leaves):
        depth = max(depth, path_start[leaf + 1] - path_start[leaf])
    slots = filters.shape[1]
    work = (np.empty((1, sides)), np.empty((slots + 1, sides)), room)
    draft = (
        np.empty((depth, slots, sides)),
        np.empty(depth, np.int64),
        np.empty(depth),
        np.empty(depth, np.int64),
    )
    levels = np.arange(depth)
    state = (filters, counts, volumes)
    tree = (complexities, path_start, path_nodes)
    loads = np.zeros(n_leaves, np.int64)
    boundless = np.full(n_leaves, m + 1, np.int64)
    is_full = capacities <= 0
    left = np.zeros(sets.shape[0], np.int64)
    for k in range(sets.shape[0]):
        for leaf in range(n_leaves):
            if sets[k, leaf] and not is_full[leaf]:
                left[k] += 1

    budget = draws.shape[0] // 2 if eviction != NO_EVICTION else 0
    queue = np.empty(m + budget, np.int64)
    queue[:m] = order
    end = m
    spare = np.empty(m, np.int64) if by_room else np.empty(0, np.int64)
    buckets = np.empty(n_leaves + 2, np.int64)
    if by_room:
        _sort_by_room(queue, 0, m, set_of, left, spare, buckets)
    # Whom each leaf serves, for eviction alone: places `first_member[leaf]` and on.
    first_member = np.zeros(n_leaves + 1, np.int64)
    if budget:
        for leaf in range(n_leaves):
            first_member[leaf + 1] = first_member[leaf] + capacities[leaf]
    members = np.empty(first_member[n_leaves], np.int64)

    stuck = 0
    drawn = 0
    at = 0
    pending = -1
    while at < end or pending >= 0:
        if pending >= 0:
            j = pending
            pending = -1
        else:
            j = queue[at]
            at += 1
        begin, last = interest_start[interest_of[j]], interest_start[interest_of[j] + 1]
        candidates = (set_start[set_of[j]], set_start[set_of[j] + 1], set_leaf)
        chosen = -1
        if left[set_of[j]] > 0:
            chosen = _cheapest(
                state,
                tree,
                boxes,
                begin,
                last,
                candidates,
                loads,
                capacities,
                capacities,
                tie,
                work,
                draft,
                levels,
            )
        if chosen < 0 and drawn < budget:
            # Somebody at a random candidate makes room.
            span = candidates[1] - candidates[0]
            leaf = set_leaf[candidates[0] + min(span - 1, int(draws[2 * drawn] * span))]
            if capacities[leaf] > 0:
                place = first_member[leaf] + min(
                    capacities[leaf] - 1, int(draws[2 * drawn + 1] * capacities[leaf])
                )
                leaving = members[place]
                members[place] = members[first_member[leaf] + loads[leaf] - 1]
                loads[leaf] -= 1
                served_by[leaving] = -1
                if eviction == EVICTED_NEXT:
                    pending = leaving
                else:
                    queue[end] = leaving
                    end += 1
                chosen = leaf
            drawn += 1
        if chosen < 0:
            stuck += 1
            if not best_effort:
                return stuck
            chosen = _cheapest(
                state,
                tree,
                boxes,
                begin,
                last,
                candidates,
                loads,
                boundless,
                capacities,
                tie,
                work,
                draft,
                levels,
            )
        _insert(
            filters,
            counts,
            volumes,
            complexities,
            path_nodes,
            path_start[chosen],
            path_start[chosen + 1],
            boxes,
            begin,
            last,
            tie,
            work,
        )
        served_by[j] = chosen
        if budget and loads[chosen] < capacities[chosen]:
            members[first_member[chosen] + loads[chosen]] = j
        loads[chosen] += 1
        if not is_full[chosen] and loads[chosen] >= capacities[chosen]:
            is_full[chosen] = True
            for k in range(sets.shape[0]):
                if sets[k, chosen]:
                    left[k] -= 1
            if by_room and at < end:
                _sort_by_room(queue, at, end, set_of, left, spare, buckets)
    return stuck
