"""Boxes inside boxes: which contain which, and the smallest around several."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel

__all__ = [
    "all_held",
    "contains",
    "copy_box",
    "copy_boxes",
    "enclose",
    "find_holder",
    "mark_contained",
    "mark_maximal",
    "shrink",
]


@subkernel
def contains(boxes, slot, rows, row):
    """Whether a box contains a row."""
    d = boxes.shape[1] // 2
    for axis in range(d):
        if boxes[slot, axis] > rows[row, axis] or boxes[slot, d + axis] < rows[row, d + axis]:
            return False
    return True


@subkernel
def find_holder(boxes, k, rows, row):
    """The first of `k` boxes that contains a row, or −1."""
    for slot in range(k):
        if contains(boxes, slot, rows, row):
            return slot
    return -1


@subkernel
def all_held(boxes, k, rows, first, last):
    """Whether each of the rows lies inside one of `k` boxes."""
    lost = 0
    for row in range(first, last):
        lost += find_holder(boxes, k, rows, row) < 0
    return lost == 0


@subkernel
def copy_box(boxes, slot, rows, row):
    """Make a box equal to a row."""
    for side in range(boxes.shape[1]):
        boxes[slot, side] = rows[row, side]


@subkernel
def copy_boxes(target, source, k):
    """Copy the first `k` boxes."""
    for slot in range(k):
        copy_box(target, slot, source, slot)


@subkernel
def enclose(boxes, slot, rows, row):
    """Enlarge a box until it contains a row."""
    d = boxes.shape[1] // 2
    for axis in range(d):
        boxes[slot, axis] = min(boxes[slot, axis], rows[row, axis])
        boxes[slot, d + axis] = max(boxes[slot, d + axis], rows[row, d + axis])


@kernel
def mark_contained(filter, k, boxes, interest_start, interests, out):
    """Mark the interests whose boxes each lie inside one of the `k` boxes of a filter."""
    for at in range(interests.shape[0]):
        interest = interests[at]
        out[at] = all_held(filter, k, boxes, interest_start[interest], interest_start[interest + 1])


@kernel
def shrink(candidates, boxes, out):
    """Write the hull of the boxes that each candidate contains to `out`; the result marks candidates that contain any."""
    n = candidates.shape[0]
    is_used = np.zeros(n, np.bool_)
    for c in range(n):
        for row in range(boxes.shape[0]):
            if not contains(candidates, c, boxes, row):
                continue
            if is_used[c]:
                enclose(out, c, boxes, row)
            else:
                copy_box(out, c, boxes, row)
                is_used[c] = True
    return is_used


@kernel
def mark_maximal(rows, out):
    """Mark the rows that lie inside no other; of equal ones the first."""
    n = rows.shape[0]
    for a in range(n):
        out[a] = True
        for b in range(n):
            if a != b and contains(rows, b, rows, a) and (b < a or not contains(rows, a, rows, b)):
                out[a] = False
                break
