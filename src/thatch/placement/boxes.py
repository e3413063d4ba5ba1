"""Boxes in event space: volumes, hulls and containment.

A box is a row of `2 d` numbers: its low ends on all axes, then its high ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.placement.arrays import Bools, Floats, Ints

__all__ = ["box_volumes", "hull", "is_inside", "stack_filters", "union_volume"]


def union_volume(boxes: Floats) -> float:
    """The exact volume of the union, up to rounding; 0 for no boxes.

    Notes
    -----
    Up to three boxes by inclusion and exclusion, more by a sweep over the cells between their ends:
    O((2 k)^(d − 1) k d) for k boxes on d axes.

    Examples
    --------
    >>> union_volume(np.array([[0.0, 0, 2, 2], [1, 1, 3, 3]]))
    7.0
    """
    from thatch.placement.kernels import volumes

    boxes = np.ascontiguousarray(boxes, np.float64)
    k, sides = boxes.shape
    return float(volumes.union_volume(boxes, k, volumes.room_for(k, sides // 2)))


def box_volumes(boxes: Floats) -> Floats:
    """The volume of each box."""
    d = boxes.shape[1] // 2
    volumes: Floats = np.prod(boxes[:, d:] - boxes[:, :d], axis=1)
    return volumes


def hull(boxes: Floats) -> Floats:
    """The smallest box around boxes."""
    d = boxes.shape[1] // 2
    return np.concatenate([boxes[:, :d].min(axis=0), boxes[:, d:].max(axis=0)])


def stack_filters(filters: Sequence[Floats], slots: int) -> tuple[Floats, Ints, Floats]:
    """Filters as kernels take them: an array with room for `slots` boxes in each, how many each has, and its volume."""
    stacked = np.zeros((len(filters), slots, filters[0].shape[1]))
    for number, boxes in enumerate(filters):
        stacked[number, : len(boxes)] = boxes
    counts = np.array([len(boxes) for boxes in filters], np.int64)
    return stacked, counts, np.array([union_volume(boxes) for boxes in filters])


def is_inside(inner: Floats, outer: Floats) -> Bools:
    """Whether inner boxes lie inside outer ones; the two arrays are broadcast against each other but for their last axis."""
    d = inner.shape[-1] // 2
    answer: Bools = np.ones(np.broadcast_shapes(inner.shape[:-1], outer.shape[:-1]), np.bool_)
    for axis in range(d):
        answer &= outer[..., axis] <= inner[..., axis]
        answer &= outer[..., d + axis] >= inner[..., d + axis]
    return answer
