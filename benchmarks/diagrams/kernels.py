"""Covering in two phases over groups of boxes with the same axes, without diagrams: what diagrams are measured beside."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["two_phases"]

_AXES = 20


@njit(cache=True)
def two_phases(offsets, axes, lows, highs, is_active):
    """Boxes on axes below 20, one after the other: who covers it; if nobody does, whom it covers. How many comparisons."""
    count = offsets.shape[0] - 1
    group_of = np.full(1 << _AXES, -1, np.int32)
    groups = 0
    masks = np.empty(count, np.int64)
    first = np.full(count, -1, np.int64)
    after = np.full(count, -1, np.int64)
    low, high = np.zeros(_AXES, np.int64), np.zeros(_AXES, np.int64)
    compared = 0
    for box in range(count):
        mask = 0
        for side in range(offsets[box], offsets[box + 1]):
            mask |= 1 << axes[side]
            low[axes[side]], high[axes[side]] = lows[side], highs[side]
        is_covered = False
        some = mask
        while some > 0 and not is_covered:
            if group_of[some] >= 0:
                other = first[group_of[some]]
                while other >= 0 and not is_covered:
                    compared += 1
                    is_covered = True
                    for side in range(offsets[other], offsets[other + 1]):
                        if lows[side] > low[axes[side]] or highs[side] < high[axes[side]]:
                            is_covered = False
                            break
                    other = after[other]
            some = (some - 1) & mask
        if is_covered:
            continue
        for group in range(groups):
            if masks[group] & mask == mask:
                before, other = -1, first[group]
                while other >= 0:
                    compared += 1
                    covers = True
                    for side in range(offsets[other], offsets[other + 1]):
                        axis = axes[side]
                        if mask >> axis & 1 and (lows[side] < low[axis] or highs[side] > high[axis]):
                            covers = False
                            break
                    following = after[other]
                    if not covers:
                        before = other
                    else:
                        is_active[other] = False
                        if before < 0:
                            first[group] = following
                        else:
                            after[before] = following
                    other = following
        is_active[box] = True
        if group_of[mask] < 0:
            masks[groups] = mask
            group_of[mask] = groups
            groups += 1
        after[box] = first[group_of[mask]]
        first[group_of[mask]] = box
    return compared
