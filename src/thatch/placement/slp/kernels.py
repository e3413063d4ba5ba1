"""What sampling, rounding and repair do with many boxes, compiled."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
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

    `waiting` has, for each branch, how many of each interest could come to it, none of which its filter contains; the first
    `tried` interests are those that it may grow for. `out` gets the price of each branch, infinite if it has nothing to
    offer, and how many it then serves; `grown` its filter then.
    """
    n, slots, sides = filters.shape
    draft = np.empty((slots + 1, sides))
    trial = np.empty((slots + 1, sides))
    columns = np.empty((sides, interests.shape[0]))
    lost = np.empty(interests.shape[0], np.bool_)
    is_plain = boxes.shape[0] == interest_start.shape[0] - 1  # one box an interest
    for branch in range(n):
        out[branch, 0] = np.inf
        out[branch, 1] = 0.0
        if rooms[branch] <= 0.0:
            continue
        mine = np.flatnonzero(waiting[branch])
        amounts = waiting[branch][mine]
        most = min(rooms[branch], amounts.sum())
        for at in range(mine.shape[0]):
            for side in range(sides):
                columns[side, at] = boxes[interest_start[interests[mine[at]]], side]
        for place in mine[: np.searchsorted(mine, tried)]:
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
            if growth / most >= out[branch, 0]:
                continue  # too dear even if it serves all that it can
            if is_plain:  # then one box has grown, and holds all that is new
                served = _within(draft[holder(draft, k, boxes, begin)], columns, amounts, lost)
            else:
                served = 0.0
                for at in range(mine.shape[0]):
                    interest = interests[mine[at]]
                    if held(draft, k, boxes, interest_start[interest], interest_start[interest + 1]):
                        served += amounts[at]
            price = growth / min(served, rooms[branch])
            if price < out[branch, 0]:
                out[branch, 0] = price
                out[branch, 1] = min(served, rooms[branch])
                grown_counts[branch] = k
                for slot in range(k):
                    begin_box(grown[branch], slot, draft, slot)


@subkernel
def _within(box, columns, amounts, lost):
    """The sum of amounts whose boxes, given side by side, lie inside one box; without branches, since most of this runs here."""
    n = amounts.shape[0]
    d = box.shape[0] // 2
    for at in range(n):
        lost[at] = False
    for axis in range(d):
        low, high = box[axis], box[d + axis]
        for at in range(n):
            lost[at] |= (columns[axis, at] < low) | (columns[d + axis, at] > high)
    total = 0.0
    for at in range(n):
        total += 0.0 if lost[at] else amounts[at]
    return total
