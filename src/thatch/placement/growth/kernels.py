"""Growing filters, compiled. A filter is the first `k` rows of an array of boxes, lows before highs.

Paper 003, section 3: the cost of a subscriber at a leaf is the sum, over the way up, of the least growth of each filter.
The growth is that of the union's volume; either one box is enlarged or, while there are fewer than α, a new one is
opened. A parent must contain the box as it was ENLARGED below, not the interest alone: the paper leaves this open.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.placement.volumes.kernels import union_of

__all__ = ["begin_box", "climb", "enclose", "held", "holder", "insert", "least_growth"]


@subkernel
def holder(boxes, k, rows, row):
    """The first of `k` boxes that contains a row, or −1."""
    sides = boxes.shape[1]
    d = sides // 2
    for slot in range(k):
        inside = True
        for axis in range(d):
            if boxes[slot, axis] > rows[row, axis] or boxes[slot, d + axis] < rows[row, d + axis]:
                inside = False
                break
        if inside:
            return slot
    return -1


@subkernel
def held(boxes, k, rows, first, last):
    """Whether each of the rows lies inside one of `k` boxes."""
    lost = 0
    for row in range(first, last):
        lost += holder(boxes, k, rows, row) < 0
    return lost == 0


@subkernel
def begin_box(boxes, slot, rows, row):
    """Let a box be a row."""
    for side in range(boxes.shape[1]):
        boxes[slot, side] = rows[row, side]


@subkernel
def enclose(boxes, slot, rows, row):
    """Let a box contain a row."""
    d = boxes.shape[1] // 2
    for axis in range(d):
        boxes[slot, axis] = min(boxes[slot, axis], rows[row, axis])
        boxes[slot, d + axis] = max(boxes[slot, d + axis], rows[row, d + axis])


@subkernel
def least_growth(boxes, k, most, volume, rows, row, tie, trial, room):
    """The slot where a row that no box contains costs least, and the volume of the union then.

    Ties within `tie`, which is rounding, go to a new box and then to the first slot.
    """
    sides = boxes.shape[1]
    best = np.inf
    chosen = -1
    if k < most:
        for slot in range(k):
            for side in range(sides):
                trial[slot, side] = boxes[slot, side]
        begin_box(trial, k, rows, row)
        best = union_of(trial, k + 1, room)
        chosen = k
        if best <= volume + tie:
            return chosen, best
    for slot in range(k):
        for other in range(k):
            for side in range(sides):
                trial[other, side] = boxes[other, side]
        enclose(trial, slot, rows, row)
        grown = union_of(trial, k, room)
        if grown < best - tie:
            best = grown
            chosen = slot
    return chosen, best


@subkernel
def insert(filter, k, most, volume, boxes, begin, end, tie, trial, room):
    """Let a filter contain the boxes of an interest; its number of boxes and its volume then."""
    for row in range(begin, end):
        if holder(filter, k, boxes, row) >= 0:
            continue
        slot, volume = least_growth(filter, k, most, volume, boxes, row, tie, trial, room)
        if slot == k:
            begin_box(filter, k, boxes, row)
            k += 1
        else:
            enclose(filter, slot, boxes, row)
    return k, volume


@subkernel
def climb(filters, counts, volumes, complexities, nodes, first, last, carried, tie, trial, room):
    """Let the filters of `nodes[first:last]`, from a leaf upwards, contain the box `carried[0]`, and tell the growth.

    `carried` is overwritten: it becomes the box that the next filter must contain.
    """
    sides = carried.shape[1]
    total = 0.0
    for at in range(first, last):
        node = nodes[at]
        boxes = filters[node]
        k = counts[node]
        if holder(boxes, k, carried, 0) >= 0:
            break  # and so do all above
        slot, grown = least_growth(boxes, k, complexities[node], volumes[node], carried, 0, tie, trial, room)
        if slot == k:
            begin_box(boxes, slot, carried, 0)
            counts[node] = k + 1
        else:
            enclose(boxes, slot, carried, 0)
        total += grown - volumes[node]
        volumes[node] = grown
        for side in range(sides):
            carried[0, side] = boxes[slot, side]
    return total
