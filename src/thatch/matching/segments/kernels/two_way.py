"""Find bytes in bytes in linear time and without memory: the two-way algorithm (Crochemore and Perrin 1991).

The needle is cut in two at a place where its period shows. The right part is compared first, from left to right; where
it disagrees, all places up to there are ruled out. Then the left part is compared; where that disagrees, the
needle moves by its period. If the needle repeats itself, what agreed before the move is not compared again.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel

__all__ = ["NOWHERE", "find_in_linear_time"]

NOWHERE = -1


@subkernel
def _cut(needles, needle, size, is_reversed):
    """Where the greatest suffix begins, shifted by 32 bits, and its period; of the reversed alphabet if asked."""
    start, at, step, period = 0, 1, 0, 1
    while at + step < size:
        one, other = np.int64(needles[needle + at + step]), np.int64(needles[needle + start + step])
        if one == other:
            step += 1
            if step == period:
                at += period
                step = 0
        elif (one < other) != (is_reversed != 0):
            at += step + 1
            step = 0
            period = at - start
        else:
            start = at
            at, step, period = start + 1, 0, 1
    return (np.int64(start) << 32) | np.int64(period)


@subkernel
def find_in_linear_time(needles, needle, size, words, at, stop):
    """Where the first occurrence of the `size` bytes at `needle` ends, in `words` from `at` to `stop`; else NOWHERE."""
    best, other = _cut(needles, needle, size, 0), _cut(needles, needle, size, 1)
    if other > best:
        best = other
    cut, period = best >> 32, best & 0xFFFFFFFF
    repeats = 0
    while repeats < cut and needles[needle + repeats] == needles[needle + period + repeats]:
        repeats += 1
    is_periodic = repeats == cut
    move = period if is_periodic else max(cut, size - cut) + 1
    known = 0  # bytes at the needle's beginning that agree, as is known from before
    while at <= stop - size:
        step = max(cut, known)
        while step < size and needles[needle + step] == words[at + step]:
            step += 1
        if step < size:
            at += step - cut + 1
            known = 0
            continue
        step = cut
        while step > known and needles[needle + step - 1] == words[at + step - 1]:
            step -= 1
        if step <= known:
            return at + size
        at += move
        known = size - period if is_periodic else 0
    return NOWHERE
