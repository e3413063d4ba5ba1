"""The naive compiled scan, the peer that any index must beat by far."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from numba import njit

__all__ = ["naive_scan"]


@njit(nogil=True, cache=True)
def naive_scan(offsets, attributes, low, high, point, out):
    """Rows of all boxes that hold a point, into `out`; how many: every box, every side, stop at the first that fails."""
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
