"""What sampling, rounding and repair do with many boxes, compiled."""

from __future__ import annotations

import numpy as np

from thatch.matching.segments.compiling.kernels import kernel
from thatch.placement.growth.kernels import begin_box, enclose, held, holder, insert

__all__ = ["contained", "offers", "shrink"]


@kernel
def shrink(candidates, boxes, out):
    """The hull of those boxes that each candidate contains, in `out`; the answer marks candidates that contain any."""
    n = candidates.shape[0]
    is_used = np.zeros(n, np.bool_)
    outer = np.empty((1, candidates.shape[1]))
    for c in range(n):
        begin_box(outer, 0, candidates, c)
        for row in range(boxes.shape[0]):
            if holder(outer, 1, boxes, row) < 0:
                continue
            if is_used[c]:
                enclose(out, c, boxes, row)
            else:
                begin_box(out, c, boxes, row)
                is_used[c] = True
    return is_used


@kernel
def contained(filter, k, boxes, interest_start, interests, out):
    """Mark those interests whose boxes each lie inside one of `k` boxes."""
    for place in range(interests.shape[0]):
        interest = interests[place]
        out[place] = held(filter, k, boxes, interest_start[interest], interest_start[interest + 1])


@kernel
def offers(
    filters,
    counts,
    volumes,
    complexities,
    rooms,
    boxes,
    interest_start,
    interests,
    tried,
    waiting,
    tie,
    room,
    grown,
    grown_counts,
    out,
):
    """For each branch with room the interest that it grows for most cheaply, volume for each subscriber it then serves.

    `waiting` has, for each interest, how many could come to each branch; `tried` are places in `interests`. `out` gets
    the price of each branch, infinite if it has nothing to offer, and how many it then serves; `grown` its filter then.
    """
    n, slots, sides = filters.shape
    draft = np.empty((slots + 1, sides))
    trial = np.empty((slots + 1, sides))
    for branch in range(n):
        out[branch, 0] = np.inf
        out[branch, 1] = 0.0
        if rooms[branch] <= 0.0:
            continue
        for place in tried:
            if waiting[place, branch] <= 0.0:
                continue
            for slot in range(counts[branch]):
                begin_box(draft, slot, filters[branch], slot)
            begin, end = interest_start[interests[place]], interest_start[interests[place] + 1]
            k, volume = insert(
                draft,
                counts[branch],
                complexities[branch],
                volumes[branch],
                boxes,
                begin,
                end,
                tie,
                trial,
                room,
            )
            growth = max(volume - volumes[branch], tie)
            if growth / rooms[branch] >= out[branch, 0]:
                continue  # too dear even if it fills the branch
            served = 0.0
            for other in range(interests.shape[0]):
                if waiting[other, branch] > 0.0:
                    first, last = interest_start[interests[other]], interest_start[interests[other] + 1]
                    if held(draft, k, boxes, first, last):
                        served += waiting[other, branch]
            price = growth / min(served, rooms[branch])
            if price < out[branch, 0]:
                out[branch, 0] = price
                out[branch, 1] = min(served, rooms[branch])
                grown_counts[branch] = k
                for slot in range(k):
                    begin_box(grown[branch], slot, draft, slot)
