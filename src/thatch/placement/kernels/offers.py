"""What each branch would charge to grow for waiting subscribers: the inner loop of `slp/repair.py`."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.placement.kernels.boxes import all_held, copy_boxes, find_holder
from thatch.placement.kernels.growth import insert

__all__ = ["price_offers"]


@kernel
def price_offers(branches, rooms, wanted, tried, waiting, tie, room, grown, grown_counts, out):
    """Find, for each branch with room, the interest it can grow for at the lowest price.

    The price is the growth in volume divided by the number of subscribers that the branch then serves.

    Parameters
    ----------
    branches : boxes, number of boxes, volume and complexity of the filter of each
    wanted : the boxes of interests, where each interest starts among them, and the interests that count
    rooms : how many more subscribers each branch can take
    tried : how many of the `interests`, counted from the first, branches may grow for
    waiting : for each branch how many subscribers of each interest could come to it, none of which its filter contains
    grown, grown_counts : get the filter of each branch after growth
    out : gets the price of each branch, infinite if it has nothing to offer, and how many subscribers it then serves
    """
    filters, counts, volumes, complexities = branches
    boxes, interest_start, interests = wanted
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
        for i in range(mine.shape[0]):
            for side in range(sides):
                columns[side, i] = boxes[interest_start[interests[mine[i]]], side]
        for at in mine[: np.searchsorted(mine, tried)]:
            copy_boxes(draft, filters[branch], counts[branch])
            begin, end = interest_start[interests[at]], interest_start[interests[at] + 1]
            most_boxes, before, new = complexities[branch], volumes[branch], (boxes, begin, end)
            k, volume = insert(draft, counts[branch], most_boxes, before, new, tie, trial, room)
            growth = max(volume - before, tie)
            if growth / most >= out[branch, 0]:
                continue  # too dear even if it serves all that it can
            if is_plain:  # one box has grown, and holds all that is new
                served = _sum_within(draft[find_holder(draft, k, boxes, begin)], columns, amounts, lost)
            else:
                served = 0.0
                for i in range(mine.shape[0]):
                    interest = interests[mine[i]]
                    if all_held(draft, k, boxes, interest_start[interest], interest_start[interest + 1]):
                        served += amounts[i]
            price = growth / min(served, rooms[branch])
            if price < out[branch, 0]:
                out[branch, 0] = price
                out[branch, 1] = min(served, rooms[branch])
                grown_counts[branch] = k
                copy_boxes(grown[branch], draft, k)


@subkernel
def _sum_within(box, columns, amounts, lost):
    """The sum of the amounts whose boxes lie inside one box.

    `columns` has the boxes side by side. Most time is spent here, so the loops have no branches.
    """
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
