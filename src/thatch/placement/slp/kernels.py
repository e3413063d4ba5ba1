"""Boxes shrunk to what they contain, compiled."""

from __future__ import annotations

import numpy as np

from thatch.matching.segments.compiling.kernels import kernel
from thatch.placement.growth.kernels import begin_box, enclose, holder

__all__ = ["shrink"]


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
