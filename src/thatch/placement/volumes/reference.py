"""The definition: cut space at every end of every box, add the cells that some box contains.

Slow, and written apart from the kernels: certificates and tests rest on it.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.rows import Floats

__all__ = ["union_volume"]


def union_volume(boxes: Floats) -> float:
    """The volume of the union of boxes, by counting cells: O((2 k)^d) for k boxes on d axes."""
    if len(boxes) == 0:
        return 0.0
    d = boxes.shape[1] // 2
    ends = [np.unique(boxes[:, [axis, d + axis]]) for axis in range(d)]
    is_inside = np.zeros([len(each) - 1 for each in ends], np.bool_)
    for box in boxes:
        cells = tuple(
            slice(np.searchsorted(each, box[axis]), np.searchsorted(each, box[d + axis]))
            for axis, each in enumerate(ends)
        )
        is_inside[cells] = True
    volume = is_inside.astype(np.float64)
    for each in reversed(ends):
        volume = volume @ np.diff(each)
    return float(volume)
