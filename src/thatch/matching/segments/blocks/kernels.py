"""Kernels that test blocks of sixty-four boxes, or of zones, against an event."""

from __future__ import annotations

import numpy as np

from thatch.matching.segments import fields as f
from thatch.matching.segments.vectors.kernels import inlined, mixed64, sides64

__all__ = ["alive", "mixed_alive"]


@inlined
def alive(codes, at, groups, row, keys, low, high):
    """One bit for each of 64 boxes, or zones of them, whose key sides pass."""
    lanes = ~np.uint64(0)
    for key in range(keys):
        which = groups[row + f.FIRST_KEY + key]
        lanes &= sides64(codes, at + key * 128, low[which], high[which])
        if lanes == 0:
            break
    return lanes


@inlined
def mixed_alive(mixed, at, low, high, lanes, is_narrow):
    """Those of some boxes whose mixed sides pass."""
    for step in range(f.SLOTS):
        if lanes == 0:
            break
        lanes = mixed64(mixed, at + step * 192, low, high, lanes, is_narrow)
    return lanes
