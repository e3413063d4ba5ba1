"""Random points and narrowest gaps, compiled."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel

__all__ = ["FAR", "guess", "log_probability"]

FAR = 1 << 62  # beyond every end
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_ONE = np.uint64(0xBF58476D1CE4E5B9)
_MIX_TWO = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@subkernel
def _mixed(state):
    """SplitMix64: 64 random bits of a state, which the caller raises by `_GOLDEN` each time."""
    z = (state ^ (state >> np.uint64(30))) * _MIX_ONE
    z = (z ^ (z >> np.uint64(27))) * _MIX_TWO
    return z ^ (z >> np.uint64(31))


@subkernel
def _scaled(bits, width):
    """The upper half of the product of two numbers of 64 bits: random bits as a number below `width`.

    An interval of numbers is met with its share to within 2^-63, whatever the width.
    """
    a1, a0 = bits >> _HALF, bits & _LOW_HALF
    b1, b0 = width >> _HALF, width & _LOW_HALF
    middle = a1 * b0 + ((a0 * b0) >> _HALF)
    other = a0 * b1 + (middle & _LOW_HALF)
    return a1 * b1 + (middle >> _HALF) + (other >> _HALF)


@subkernel
def _point(state, low, high, point):
    """Draw a point of the box; gives the state after it."""
    for j in range(low.shape[0]):
        state += _GOLDEN
        width = np.uint64(high[j] - low[j] + 1)
        point[j] = low[j] + np.int64(_scaled(_mixed(state), width))
    return state


@kernel
def guess(state, low, high, lows, highs, rows, trials, point):
    """Paper 000, algorithm 1: how many points were drawn, and whether the last one, `point`, is in none of the rows.

    `state` is one number of 64 bits, read and written. Rows that contain a point move to the front of `rows`, by half
    the way, so that large ones are soon asked first.
    """
    m = low.shape[0]
    at = np.uint64(state[0])
    done = 0
    is_witness = False
    while done < trials and not is_witness:
        done += 1
        at = _point(at, low, high, point)
        is_witness = True
        for a in range(rows.shape[0]):
            row = rows[a]
            is_inside = True
            for j in range(m):
                if point[j] < lows[row, j] or point[j] > highs[row, j]:
                    is_inside = False
                    break
            if is_inside:
                rows[a] = rows[a >> 1]
                rows[a >> 1] = row
                is_witness = False
                break
    state[0] = at
    return done, is_witness


@kernel
def log_probability(low, high, lowers, uppers, is_literal):
    """The logarithm to base 10 of a bound on the share of the box that is a witness, if there is any.

    `lowers` and `uppers` have a line for each axis: the low ends above that of the box, rising, and `FAR` for others;
    the high ends below that of the box, rising, after `-FAR` for others.
    """
    m, k = lowers.shape
    total = 0.0
    for j in range(m):
        width = high[j] - low[j] + 1
        narrowest = width
        if k > 0:
            narrowest = min(narrowest, lowers[j, 0] - low[j], high[j] - uppers[j, k - 1])
        if not is_literal:
            below = 0  # high ends with at least one place between them and the low end at hand
            for a in range(k):
                lower = lowers[j, a]
                if lower == FAR:
                    break
                while below < k and uppers[j, below] < lower - 1:
                    below += 1
                if below > 0:
                    narrowest = min(narrowest, lower - uppers[j, below - 1] - 1)
        total += np.log10(narrowest / width)
    return total
