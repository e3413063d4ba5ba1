"""One subscriber after the other to a leaf: the nearest (Closest), or the one where filters grow least (Gr and its kin)."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.placement.kernels.boxes import all_held, copy_box, copy_boxes
from thatch.placement.kernels.growth import climb

__all__ = ["EVICTED_LAST", "EVICTED_NEXT", "NO_EVICTION", "assign_greedily", "assign_nearest"]

NO_EVICTION = 0
EVICTED_NEXT = 1
EVICTED_LAST = 2


@kernel
def assign_nearest(order, points, leaves, capacities, out_served_by):
    """Assign each subscriber to the nearest leaf with room or, when all are full, to the nearest."""
    n, axes = leaves.shape
    loads = np.zeros(n, np.int64)
    for j in order:
        best = np.inf
        chosen = -1
        best_anyway = np.inf
        anyway = 0
        for leaf in range(n):
            square = 0.0
            for axis in range(axes):
                square += (points[j, axis] - leaves[leaf, axis]) ** 2
            if square < best_anyway:
                best_anyway = square
                anyway = leaf
            if square < best and loads[leaf] < capacities[leaf]:
                best = square
                chosen = leaf
        if chosen < 0:
            chosen = anyway
        out_served_by[j] = chosen
        loads[chosen] += 1


@kernel
def assign_greedily(
    order,
    by_room,
    eviction,
    draws,
    best_effort,
    interests,
    sets,
    tree,
    capacities,
    tie,
    room,
    served_by,
    state,
):
    """Assign every subscriber in `order` or, `by_room`, always one with the fewest candidates that have room.

    Parameters
    ----------
    draws : random numbers for evictions, two for each; how many there are limits how many subscribers are evicted
    best_effort : whether to go on, regardless of capacities, when somebody finds all candidates full
    interests : the boxes, where each interest starts among them, and the interest of each subscriber
    sets : the candidate set of each subscriber, and the sets as a matrix and as lists of leaves
    tree : the complexity of each node, and the paths of leaves: `path_start`, `path_nodes`
    tie : growth below this is rounding
    served_by : −1 throughout; gets the leaf of each subscriber
    state : `filters`, `counts` and `volumes` of all nodes, at first empty; these change

    Returns
    -------
    How many subscribers found all candidates full; without `best_effort` the first of them ends the run.
    """
    filters, counts, volumes = state
    complexities, path_start, path_nodes = tree
    boxes, interest_start, interest_of = interests
    set_of, is_candidate, set_start, set_leaf = sets
    m = order.shape[0]
    n_leaves = capacities.shape[0]
    sides = boxes.shape[1]
    depth = 0
    for leaf in range(n_leaves):
        depth = max(depth, path_start[leaf + 1] - path_start[leaf])
    slots = filters.shape[1]
    work = (np.empty((1, sides)), np.empty((slots + 1, sides)), room)
    path_copy = (
        np.empty((depth, slots, sides)),
        np.empty(depth, np.int64),
        np.empty(depth),
        np.empty(depth, np.int64),
        np.arange(depth),
    )
    loads = np.zeros(n_leaves, np.int64)
    boundless = np.full(n_leaves, m + 1, np.int64)
    is_full = capacities <= 0
    left = np.zeros(is_candidate.shape[0], np.int64)  # candidates with room, of each set
    for k in range(is_candidate.shape[0]):
        for leaf in range(n_leaves):
            if is_candidate[k, leaf] and not is_full[leaf]:
                left[k] += 1

    budget = draws.shape[0] // 2 if eviction != NO_EVICTION else 0
    queue = np.empty(m + budget, np.int64)
    queue[:m] = order
    end = m
    spare = np.empty(m, np.int64) if by_room else np.empty(0, np.int64)
    buckets = np.empty(n_leaves + 2, np.int64)
    if by_room:
        _sort_by_room(queue, 0, m, set_of, left, spare, buckets)
    # The subscribers of each leaf, needed for eviction only: `members[first_member[leaf]:]`.
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
        wanted = (boxes, interest_start[interest_of[j]], interest_start[interest_of[j] + 1])
        candidates = set_leaf[set_start[set_of[j]] : set_start[set_of[j] + 1]]
        chosen = -1
        if left[set_of[j]] > 0:
            chosen = _cheapest(
                state, tree, wanted, candidates, loads, capacities, capacities, tie, work, path_copy
            )
        if chosen < 0 and drawn < budget:
            # Evict a random subscriber of a random candidate.
            span = candidates.shape[0]
            leaf = candidates[min(span - 1, int(draws[2 * drawn] * span))]
            if capacities[leaf] > 0:
                position = first_member[leaf] + min(
                    capacities[leaf] - 1, int(draws[2 * drawn + 1] * capacities[leaf])
                )
                leaving = members[position]
                members[position] = members[first_member[leaf] + loads[leaf] - 1]
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
                state, tree, wanted, candidates, loads, boundless, capacities, tie, work, path_copy
            )
        path = (path_nodes, path_start[chosen], path_start[chosen + 1])
        _insert(filters, counts, volumes, complexities, path, wanted, tie, work)
        served_by[j] = chosen
        if budget and loads[chosen] < capacities[chosen]:
            members[first_member[chosen] + loads[chosen]] = j
        loads[chosen] += 1
        if not is_full[chosen] and loads[chosen] >= capacities[chosen]:
            is_full[chosen] = True
            for k in range(is_candidate.shape[0]):
                if is_candidate[k, chosen]:
                    left[k] -= 1
            if by_room and at < end:
                _sort_by_room(queue, at, end, set_of, left, spare, buckets)
    return stuck


@subkernel
def _cheapest(state, tree, wanted, candidates, loads, limits, capacities, tie, work, path_copy):
    """The candidate leaf of least cost, ties to the least loaded; −1 if all are at their limits."""
    best = np.inf
    chosen = -1
    best_load = np.inf
    for leaf in candidates:
        if loads[leaf] >= limits[leaf]:
            continue
        load = loads[leaf] / capacities[leaf] if capacities[leaf] > 0 else np.inf
        cost = _cost(state, tree, wanted, leaf, tie, work, path_copy)
        if chosen < 0 or cost < best - tie or (cost <= best + tie and load < best_load):
            best = cost
            chosen = leaf
            best_load = load
    return chosen


@subkernel
def _cost(state, tree, wanted, leaf, tie, work, path_copy):
    """What an interest would cost at a leaf, measured on a copy of the filters on its path."""
    filters, counts, volumes = state
    complexities, path_start, path_nodes = tree
    boxes, begin, end = wanted
    first, last = path_start[leaf], path_start[leaf + 1]
    bottom = path_nodes[first]
    if all_held(filters[bottom], counts[bottom], boxes, begin, end):
        return 0.0
    copied, copied_counts, copied_volumes, copied_complexities, levels = path_copy
    for at in range(first, last):
        node = path_nodes[at]
        level = at - first
        copy_boxes(copied[level], filters[node], counts[node])
        copied_counts[level] = counts[node]
        copied_volumes[level] = volumes[node]
        copied_complexities[level] = complexities[node]
    path = (levels, 0, last - first)
    return _insert(copied, copied_counts, copied_volumes, copied_complexities, path, wanted, tie, work)


@subkernel
def _insert(filters, counts, volumes, complexities, path, wanted, tie, work):
    """Make the filters on a path contain the boxes of an interest, one after the other; the growth."""
    boxes, begin, end = wanted
    carried, trial, room = work
    growth = 0.0
    for row in range(begin, end):
        copy_box(carried, 0, boxes, row)
        growth += climb(filters, counts, volumes, complexities, path, carried, tie, trial, room)
    return growth


@subkernel
def _sort_by_room(queue, first, last, set_of, left, spare, buckets):
    """Sort what is left of the queue by the number of candidates with room: a stable counting sort."""
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
