"""Check that arrays are boxes; this runs before every question."""

from __future__ import annotations

from thatch.compiled.decorators import kernel, short_kernel, subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST

__all__ = ["fault", "fault_of_many"]


@subkernel
def _fault(axes, lows, highs, start, end, most):
    for i in range(start, end):
        if lows[i] > highs[i] or lows[i] < LOWEST or highs[i] > HIGHEST or axes[i] < 0 or axes[i] > most:
            return i
        if i > start and axes[i] <= axes[i - 1]:
            return i
    return -1


@short_kernel
def fault(axes, lows, highs, most):
    """The first invalid side of a box, -1 if there is none."""
    return _fault(axes, lows, highs, 0, len(axes), most)


@kernel
def fault_of_many(offsets, axes, lows, highs, most):
    """The first box with an invalid side, and that side; -1 if there is none."""
    for box in range(len(offsets) - 1):
        wrong = _fault(axes, lows, highs, offsets[box], offsets[box + 1], most)
        if wrong >= 0:
            return box, wrong
    return -1, -1
