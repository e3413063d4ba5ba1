"""Moves of the local search.

A move takes a box of a leaf and one of its sides, and sends away the subscribers who hold that side out: first the outermost,
then the next ones too, as far as it pays. They go to leaves that contain their interests already and have room; one leaf may
be enlarged for them. The move is made if the volumes of both leaves together fall.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.placement.kernels.boxes import all_held, copy_box, copy_boxes, enclose, find_holder
from thatch.placement.kernels.growth import insert
from thatch.placement.kernels.volumes import union_of

__all__ = ["sweep"]


@kernel
def sweep(order, depth, interests, sets, capacities, complexities, tie, room, served_by, leaf_filters):
    """Try all moves at the leaves in `order`, at most `depth` steps each; `served_by` and filters change.

    Parameters
    ----------
    interests : the boxes, where each interest starts among them, and the interest of each subscriber
    sets : the candidate set of each subscriber, and the sets as lists of leaves
    leaf_filters : boxes, number of boxes and volume of each

    Returns
    -------
    How many moves were made.
    """
    boxes, interest_start, interest_of = interests
    set_of, set_start, set_leaf = sets
    filters, counts, volumes = leaf_filters
    m = served_by.shape[0]
    n_leaves, slots, sides = filters.shape
    loads = np.zeros(n_leaves, np.int64)
    heads = np.full(n_leaves, -1, np.int64)  # the subscribers of each leaf, as linked lists
    nexts = np.full(m, -1, np.int64)
    for j in range(m - 1, -1, -1):
        leaf = served_by[j]
        nexts[j] = heads[leaf]
        heads[leaf] = j
        loads[leaf] += 1
    work = (np.empty((slots + 1, sides)), np.empty((slots + 1, sides)), room)
    target = np.empty((slots + 1, sides))
    best_target = np.empty((slots + 1, sides))
    rest = np.empty((slots + 1, sides))
    best_rest = np.empty((slots + 1, sides))
    extra = np.zeros(n_leaves, np.int64)
    goes_to = np.empty(m, np.int64)
    who = np.empty(m, np.int64)
    hulls = np.empty((m + 1, sides))
    tails = np.empty((m + 1, sides))
    keys = np.empty(m)
    members = (heads, nexts, interest_of, interest_start)
    state = (filters, counts, volumes, complexities, loads, extra, capacities)
    moves = 0
    for leaf in order:
        slot = 0
        while slot < counts[leaf]:
            side = 0
            while side < sides and slot < counts[leaf]:
                k = counts[leaf]
                n = _find_needing(leaf, slot, filters[leaf], k, members, boxes, side, who, hulls, keys)
                if n == 0:
                    for other in range(slot, k - 1):
                        copy_box(filters[leaf], other, filters[leaf], other + 1)
                    counts[leaf] = k - 1
                    volumes[leaf] = union_of(filters[leaf], k - 1, room)
                    side = 0
                    continue
                by_key = np.argsort(keys[:n])
                # tails[at]: the hull of what stays when the outermost `at` subscribers leave
                copy_box(tails, n - 1, hulls, by_key[n - 1])
                for at in range(n - 2, -1, -1):
                    copy_box(tails, at, tails, at + 1)
                    enclose(tails, at, hulls, by_key[at])
                for other in range(n_leaves):
                    extra[other] = 0
                enlarged = -1
                target_k = 0
                target_volume = 0.0
                cost = 0.0
                gain = tie
                leaving = 0
                best_enlarged = -1
                best_target_k = 0
                best_target_volume = 0.0
                best_k = 0
                best_volume = 0.0
                at = 0
                steps = 0
                while at < n and steps < depth:
                    steps += 1
                    key = keys[by_key[at]]
                    is_stuck = False
                    while at < n and keys[by_key[at]] == key:
                        j = who[by_key[at]]
                        wanted = (boxes, interest_start[interest_of[j]], interest_start[interest_of[j] + 1])
                        candidates = set_leaf[set_start[set_of[j]] : set_start[set_of[j] + 1]]
                        chosen = _find_room(state, wanted, candidates, leaf, enlarged, target, target_k)
                        if chosen < 0:
                            chosen = _find_cheapest(state, wanted, candidates, leaf, enlarged, tie, work)
                            if chosen < 0:
                                is_stuck = True
                                break
                            if enlarged < 0:
                                enlarged = chosen
                                target_k = counts[chosen]
                                target_volume = volumes[chosen]
                                copy_boxes(target, filters[chosen], target_k)
                            most = complexities[enlarged]
                            target_k, target_volume = insert(
                                target, target_k, most, target_volume, wanted, tie, work[0], room
                            )
                            cost = target_volume - volumes[enlarged]
                        goes_to[at] = chosen
                        extra[chosen] += 1
                        at += 1
                    if is_stuck or cost >= volumes[leaf]:
                        break
                    rest_k = 0
                    for other in range(k):
                        if other != slot:
                            copy_box(rest, rest_k, filters[leaf], other)
                            rest_k += 1
                    if at < n:
                        copy_box(rest, rest_k, tails, at)
                        rest_k += 1
                    rest_volume = union_of(rest, rest_k, room)
                    if volumes[leaf] - rest_volume - cost > gain:
                        gain = volumes[leaf] - rest_volume - cost
                        leaving = at
                        best_k = rest_k
                        best_volume = rest_volume
                        copy_boxes(best_rest, rest, rest_k)
                        best_enlarged = enlarged
                        best_target_k = target_k
                        best_target_volume = target_volume
                        if enlarged >= 0:
                            copy_boxes(best_target, target, target_k)
                if leaving == 0:
                    side += 1
                    continue
                moves += 1
                for at in range(leaving):
                    served_by[who[by_key[at]]] = goes_to[at]
                _relink(leaf, served_by, heads, nexts, loads)
                counts[leaf] = best_k
                volumes[leaf] = best_volume
                copy_boxes(filters[leaf], best_rest, best_k)
                if best_enlarged >= 0:
                    counts[best_enlarged] = best_target_k
                    volumes[best_enlarged] = best_target_volume
                    copy_boxes(filters[best_enlarged], best_target, best_target_k)
                # The current box came last, or is gone: whatever is in its slot now is tried from its first side.
                side = 0
            slot += 1
    return moves


@subkernel
def _find_needing(leaf, slot, filter, k, members, boxes, side, who, hulls, keys):
    """Find the members of a leaf who need the box in `slot`, because some of their boxes lie in no other one.

    `who` gets them, `hulls` the hull of those boxes, `keys` how far out it reaches. How many there are.
    """
    heads, nexts, interest_of, interest_start = members
    d = boxes.shape[1] // 2
    n = 0
    j = heads[leaf]
    while j >= 0:
        interest = interest_of[j]
        is_needed = False
        for row in range(interest_start[interest], interest_start[interest + 1]):
            if find_holder(filter, slot, boxes, row) >= 0:
                continue
            if find_holder(filter[slot + 1 :], k - slot - 1, boxes, row) >= 0:
                continue
            if is_needed:
                enclose(hulls, n, boxes, row)
            else:
                copy_box(hulls, n, boxes, row)
                is_needed = True
        if is_needed:
            who[n] = j
            keys[n] = hulls[n, side] if side < d else -hulls[n, side]
            n += 1
        j = nexts[j]
    return n


@subkernel
def _find_room(state, wanted, candidates, leaf, enlarged, target, target_k):
    """The least loaded other candidate that has room and contains an interest, or −1; `target` is the enlarged filter."""
    filters, counts, _, _, loads, extra, capacities = state
    boxes, begin, end = wanted
    chosen = -1
    least = np.inf
    for other in candidates:
        load = loads[other] + extra[other]
        if other == leaf or load >= capacities[other]:
            continue
        if other == enlarged:
            is_held = all_held(target, target_k, boxes, begin, end)
        else:
            is_held = all_held(filters[other], counts[other], boxes, begin, end)
        if is_held and load / capacities[other] < least:
            least = load / capacities[other]
            chosen = other
    return chosen


@subkernel
def _find_cheapest(state, wanted, candidates, leaf, enlarged, tie, work):
    """The candidate with room that grows least for an interest, or −1; once a leaf is enlarged, that one only."""
    filters, counts, volumes, complexities, loads, extra, capacities = state
    trial, draft, room = work
    chosen = -1
    least = np.inf
    for other in candidates:
        if other == leaf or loads[other] + extra[other] >= capacities[other]:
            continue
        if other == enlarged:
            return other
        if enlarged >= 0:
            continue
        copy_boxes(draft, filters[other], counts[other])
        _, grown = insert(draft, counts[other], complexities[other], volumes[other], wanted, tie, trial, room)
        if grown - volumes[other] < least:
            least = grown - volumes[other]
            chosen = other
    return chosen


@subkernel
def _relink(leaf, served_by, heads, nexts, loads):
    """Move the members of a leaf that are served elsewhere now to the lists of those leaves."""
    kept = -1
    j = heads[leaf]
    while j >= 0:
        after = nexts[j]
        other = served_by[j]
        if other == leaf:
            kept = j
        else:
            if kept < 0:
                heads[leaf] = after
            else:
                nexts[kept] = after
            nexts[j] = heads[other]
            heads[other] = j
            loads[other] += 1
            loads[leaf] -= 1
        j = after
