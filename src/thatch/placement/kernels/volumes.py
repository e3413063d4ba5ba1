"""The volume of a union of boxes.

`room` is scratch space for a sweep: `room_for(k, d)` is enough for `k` boxes on `d` axes. Its rows:

    0 .. d − 2    the sorted ends of all boxes on an axis
    d − 1         the current cell on each axis
    d             the boxes by their low end on the last axis
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel

__all__ = ["room_for", "union_of", "union_volume"]


def room_for(k: int, d: int) -> np.ndarray:
    """Scratch space for sweeps over up to `k` boxes on `d` axes."""
    return np.empty((d + 1, 2 * max(k, d)))


@kernel
def union_volume(boxes, k, room):
    """`union_of`, callable from Python."""
    return union_of(boxes, k, room)


@subkernel
def union_of(boxes, k, room):
    """The volume of the union of the first `k` boxes."""
    if k == 0:
        return 0.0
    if k > 3:
        return _sweep(boxes, k, room)
    total = _box_volume(boxes, 0)
    if k > 1:
        total += _box_volume(boxes, 1) - _shared(boxes, 0, 1)
    if k > 2:
        total += _box_volume(boxes, 2) - _shared(boxes, 0, 2) - _shared(boxes, 1, 2) + _shared_by_three(boxes)
    return total


@subkernel
def _box_volume(boxes, row):
    """The volume of one box."""
    d = boxes.shape[1] // 2
    volume = 1.0
    for axis in range(d):
        volume *= boxes[row, d + axis] - boxes[row, axis]
    return volume


@subkernel
def _shared(boxes, a, b):
    """The volume that two boxes share."""
    d = boxes.shape[1] // 2
    volume = 1.0
    for axis in range(d):
        side = min(boxes[a, d + axis], boxes[b, d + axis]) - max(boxes[a, axis], boxes[b, axis])
        if side <= 0.0:
            return 0.0
        volume *= side
    return volume


@subkernel
def _shared_by_three(boxes):
    """The volume that the first three boxes share."""
    d = boxes.shape[1] // 2
    volume = 1.0
    for axis in range(d):
        low = max(boxes[0, axis], boxes[1, axis], boxes[2, axis])
        side = min(boxes[0, d + axis], boxes[1, d + axis], boxes[2, d + axis]) - low
        if side <= 0.0:
            return 0.0
        volume *= side
    return volume


@subkernel
def _sweep(boxes, k, room):
    """The volume of the union, column by column."""
    d = boxes.shape[1] // 2
    _sort_ends(boxes, k, room)
    total = 0.0
    while True:
        total += _column(boxes, k, room)
        axis = 0
        while axis < d - 1:
            room[d - 1, axis] += 1.0
            if room[d - 1, axis] < 2 * k - 1:
                break
            room[d - 1, axis] = 0.0
            axis += 1
        if axis == d - 1:
            return total


@subkernel
def _sort_ends(boxes, k, room):
    """Sort the ends of each axis but the last, and the boxes by their low end on the last."""
    d = boxes.shape[1] // 2
    for axis in range(d - 1):
        for i in range(2 * k):
            value = boxes[i, axis] if i < k else boxes[i - k, d + axis]
            at = i
            while at > 0 and room[axis, at - 1] > value:
                room[axis, at] = room[axis, at - 1]
                at -= 1
            room[axis, at] = value
        room[d - 1, axis] = 0.0
    for i in range(k):
        at = i
        while at > 0 and boxes[int(room[d, at - 1]), d - 1] > boxes[i, d - 1]:
            room[d, at] = room[d, at - 1]
            at -= 1
        room[d, at] = i


@subkernel
def _column(boxes, k, room):
    """The volume above the current cell: its base times the length of the union on the last axis."""
    d = boxes.shape[1] // 2
    base = 1.0
    for axis in range(d - 1):
        at = int(room[d - 1, axis])
        base *= room[axis, at + 1] - room[axis, at]
    if base <= 0.0:
        return 0.0
    length = 0.0
    reached = -np.inf
    for i in range(k):
        row = int(room[d, i])
        inside = True
        for axis in range(d - 1):
            at = int(room[d - 1, axis])
            if boxes[row, axis] > room[axis, at] or boxes[row, d + axis] < room[axis, at + 1]:
                inside = False
                break
        if not inside:
            continue
        high = boxes[row, 2 * d - 1]
        if high > reached:
            length += high - max(boxes[row, d - 1], reached)
            reached = high
    return base * length
