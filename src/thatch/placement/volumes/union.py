"""The volume of a union of boxes, and of each box.

Boxes are rows of `2 d` numbers: the low ends on all axes, then the high ends.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.rows import Floats

__all__ = ["box_volumes", "union_volume"]


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
    from thatch.placement.volumes import kernels

    boxes = np.ascontiguousarray(boxes, np.float64)
    k, sides = boxes.shape
    return float(kernels.union_volume(boxes, k, kernels.room_for(k, sides // 2)))


def box_volumes(boxes: Floats) -> Floats:
    """The volume of each box."""
    d = boxes.shape[1] // 2
    volumes: Floats = np.prod(boxes[:, d:] - boxes[:, :d], axis=1)
    return volumes
