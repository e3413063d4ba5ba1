"""The naive compiled scan, which any index must beat by far."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from numba import njit

__all__ = ["naive_scan"]


@njit(nogil=True, cache=True)
def naive_scan(offsets, attributes, low, high, point, out):
    """Write the rows of all boxes that contain a point to `out`; returns their number."""
    count = 0
    for box in range(len(offsets) - 1):
        passes = True
        for side in range(offsets[box], offsets[box + 1]):
            value = point[attributes[side]]
            if not (low[side] <= value <= high[side]):
                passes = False
                break
        if passes:
            out[count] = box
            count += 1
    return count
