"""Compiled loops of the conflict table and of random sampling (ouksel2006).

`step` is 1 for whole numbers and 0 for the paper's continuous attributes: the entries `x < lo` and `x > hi` of two rows
conflict iff `hi >= lo - step`. For each axis we keep the two smallest defined `lo` and the two largest defined `hi`; the
second one serves the row that owns the first. So a pass over k rows on m axes takes O(mk).
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel

__all__ = ["FAR", "find_beside", "guess", "log_probability", "reduce", "tally"]

FAR = 1 << 62  # beyond every end
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_ONE = np.uint64(0xBF58476D1CE4E5B9)
_MIX_TWO = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


# --- conflict table ----------------------------------------------------------------------------------------------------


@subkernel
def _nearest(low, high, lows, highs, rows, count, near, owner):
    """For each axis, find the two smallest defined low ends, the two largest defined high ends, and who owns the first."""
    m = low.shape[0]
    for j in range(m):
        near[0, j] = FAR
        near[1, j] = FAR
        near[2, j] = -FAR
        near[3, j] = -FAR
        owner[0, j] = -1
        owner[1, j] = -1
    for a in range(count):
        row = rows[a]
        for j in range(m):
            lower = lows[row, j]
            if lower > low[j]:
                if lower < near[0, j]:
                    near[1, j] = near[0, j]
                    near[0, j] = lower
                    owner[0, j] = row
                elif lower < near[1, j]:
                    near[1, j] = lower
            upper = highs[row, j]
            if upper < high[j]:
                if upper > near[2, j]:
                    near[3, j] = near[2, j]
                    near[2, j] = upper
                    owner[1, j] = row
                elif upper > near[3, j]:
                    near[3, j] = upper


@subkernel
def _counts(low, high, lows, highs, row, step, near, owner):
    """Count the defined entries of a row, and those of them without a conflict."""
    defined = 0
    free = 0
    for j in range(low.shape[0]):
        lower = lows[row, j]
        if lower > low[j]:
            defined += 1
            facing = near[3, j] if owner[1, j] == row else near[2, j]
            if facing < lower - step:
                free += 1
        upper = highs[row, j]
        if upper < high[j]:
            defined += 1
            facing = near[1, j] if owner[0, j] == row else near[0, j]
            if upper < facing - step:
                free += 1
    return defined, free


@kernel
def tally(low, high, lows, highs, step, defined, free):
    """Count the defined entries of every row, and those of them without a conflict."""
    k, m = lows.shape
    near = np.empty((4, m), np.int64)
    owner = np.empty((2, m), np.int64)
    rows = np.arange(k)
    _nearest(low, high, lows, highs, rows, k, near, owner)
    for row in range(k):
        defined[row], free[row] = _counts(low, high, lows, highs, row, step, near, owner)


@kernel
def reduce(low, high, lows, highs, step, kept, removed):
    """Algorithm 2: write the rows that are kept and those removed, in order; return the number kept.

    An entry that conflicts with no row at the beginning of a pass conflicts with none that is left, so ends are gathered
    once a pass. The next pass finds the rows that this one misses.
    """
    k, m = lows.shape
    near = np.empty((4, m), np.int64)
    owner = np.empty((2, m), np.int64)
    for row in range(k):
        kept[row] = row
    left = k
    gone = 0
    is_changed = True
    while is_changed and left > 0:
        is_changed = False
        _nearest(low, high, lows, highs, kept, left, near, owner)
        count = left
        to = 0
        for a in range(count):
            row = kept[a]
            defined, free = _counts(low, high, lows, highs, row, step, near, owner)
            if free > 0 or defined >= left:
                removed[gone] = row
                gone += 1
                left -= 1
                is_changed = True
            else:
                kept[to] = row
                to += 1
    return left


@kernel
def find_beside(low, high, lows, highs, kept, order, point):
    """Find a point of the box in none of the rows, given a `point` outside the rows `kept`.

    For each of these, choose an entry that the point satisfies; then for each row of `order`, choose an entry that leaves
    something of the box. Returns False if a row of `order` has no such entry.
    """
    m = low.shape[0]
    first = low.copy()
    last = high.copy()
    for a in range(kept.shape[0]):
        row = kept[a]
        for j in range(m):
            if point[j] < lows[row, j]:
                last[j] = min(last[j], lows[row, j] - 1)
                break
            if point[j] > highs[row, j]:
                first[j] = max(first[j], highs[row, j] + 1)
                break
    for a in range(order.shape[0]):
        row = order[a]
        is_chosen = False
        for j in range(m):
            if first[j] < lows[row, j]:
                last[j] = min(last[j], lows[row, j] - 1)
                is_chosen = True
                break
            if last[j] > highs[row, j]:
                first[j] = max(first[j], highs[row, j] + 1)
                is_chosen = True
                break
        if not is_chosen:
            return False
    for j in range(m):
        point[j] = first[j]
    return True


# --- random points -----------------------------------------------------------------------------------------------------


@subkernel
def _mix(state):
    """SplitMix64: 64 random bits from a state that the caller increases by `_GOLDEN` each time."""
    z = (state ^ (state >> np.uint64(30))) * _MIX_ONE
    z = (z ^ (z >> np.uint64(27))) * _MIX_TWO
    return z ^ (z >> np.uint64(31))


@subkernel
def _scale(bits, width):
    """The upper half of the product of two 64-bit numbers: random bits scaled to a number below `width`.

    The probability of every interval of numbers is right to within 2^-63.
    """
    a1, a0 = bits >> _HALF, bits & _LOW_HALF
    b1, b0 = width >> _HALF, width & _LOW_HALF
    middle = a1 * b0 + ((a0 * b0) >> _HALF)
    other = a0 * b1 + (middle & _LOW_HALF)
    return a1 * b1 + (middle >> _HALF) + (other >> _HALF)


@subkernel
def _point(state, low, high, point):
    """Draw a point of the box; return the new state."""
    for j in range(low.shape[0]):
        state += _GOLDEN
        width = np.uint64(high[j] - low[j] + 1)
        point[j] = low[j] + np.int64(_scale(_mix(state), width))
    return state


@kernel
def guess(state, low, high, lows, highs, rows, trials, point):
    """Algorithm 1: return how many points were drawn, and whether the last one, `point`, is outside all rows.

    `state` is one 64-bit number, read and written. A row that contains a point moves halfway to the front of `rows`, so
    that large rows are soon tested first.
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
    """Return log10 of a lower bound on the share of witnesses in the box, if there are any.

    `lowers` and `uppers` have a line for each axis. `lowers` has the low ends above that of the box, ascending, then `FAR`
    for all others; `uppers` has `-FAR` for all others, then the high ends below that of the box, ascending.
    """
    m, k = lowers.shape
    total = 0.0
    for j in range(m):
        width = high[j] - low[j] + 1
        narrowest = width
        if k > 0:
            narrowest = min(narrowest, lowers[j, 0] - low[j], high[j] - uppers[j, k - 1])
        if not is_literal:
            below = 0  # high ends with at least one number between them and this low end
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
