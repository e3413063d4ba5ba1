"""How a filter grows to contain one more box, and the filters above it with it.

yu2012, section 3: the cost of a subscriber at a leaf is the sum, over the path up, of the least growth of each filter. Growth
is measured on the volume of the union; either one box is enlarged or, while there are fewer than α, a new one is opened.
Deviation: a parent must contain the box as it was ENLARGED below, not the interest alone; the paper leaves this open.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.placement.kernels.boxes import copy_box, copy_boxes, enclose, find_holder
from thatch.placement.kernels.volumes import union_of

__all__ = ["climb", "insert", "least_growth"]


@subkernel
def least_growth(boxes, k, most, volume, rows, row, tie, trial, room):
    """The slot where a row that no box contains costs least, and the volume of the union then.

    Ties within `tie`, which is rounding, go to a new box, then to the first slot. `trial` and `room` are scratch space.
    """
    best = np.inf
    chosen = -1
    if k < most:
        copy_boxes(trial, boxes, k)
        copy_box(trial, k, rows, row)
        best = union_of(trial, k + 1, room)
        chosen = k
        if best <= volume + tie:
            return chosen, best
    for slot in range(k):
        copy_boxes(trial, boxes, k)
        enclose(trial, slot, rows, row)
        grown = union_of(trial, k, room)
        if grown < best - tie:
            best = grown
            chosen = slot
    return chosen, best


@subkernel
def insert(filter, k, most, volume, wanted, tie, trial, room):
    """Grow a filter until it contains the boxes of an interest; its number of boxes and its volume then.

    `wanted` is an array of boxes and the range of rows that belong to the interest.
    """
    boxes, begin, end = wanted
    for row in range(begin, end):
        if find_holder(filter, k, boxes, row) >= 0:
            continue
        slot, volume = least_growth(filter, k, most, volume, boxes, row, tie, trial, room)
        if slot == k:
            copy_box(filter, k, boxes, row)
            k += 1
        else:
            enclose(filter, slot, boxes, row)
    return k, volume


@subkernel
def climb(filters, counts, volumes, complexities, path, carried, tie, trial, room):
    """Grow the filters on a path, from a leaf upwards, until they contain the box `carried[0]`; the growth.

    `path` is an array of nodes and the range of it that is walked. `carried` is overwritten: it becomes the box that the next
    filter must contain.
    """
    nodes, first, last = path
    total = 0.0
    for at in range(first, last):
        node = nodes[at]
        boxes = filters[node]
        k = counts[node]
        if find_holder(boxes, k, carried, 0) >= 0:
            break  # and so do all above
        slot, grown = least_growth(boxes, k, complexities[node], volumes[node], carried, 0, tie, trial, room)
        if slot == k:
            copy_box(boxes, slot, carried, 0)
            counts[node] = k + 1
        else:
            enclose(boxes, slot, carried, 0)
        total += grown - volumes[node]
        volumes[node] = grown
        copy_box(carried, 0, boxes, slot)
    return total
