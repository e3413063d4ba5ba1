"""The conflict table, compiled.

`step` is 1 for whole numbers and 0 for the paper's continuous reading: the entries `x < lo` and `x > hi` of two rows
conflict iff `hi >= lo - step`. For each axis the two smallest defined `lo` and the two largest defined `hi` are kept:
the second is for the row that the first belongs to. So a pass over k rows on m axes takes O(mk).
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel

__all__ = ["find_beside", "reduce", "tally"]

_FAR = 1 << 62  # beyond every end


@subkernel
def _nearest(low, high, lows, highs, rows, count, near, owner):
    """For each axis the two smallest defined low ends, the two largest defined high ends and whose the first are."""
    m = low.shape[0]
    for j in range(m):
        near[0, j] = _FAR
        near[1, j] = _FAR
        near[2, j] = -_FAR
        near[3, j] = -_FAR
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
    """How many entries of a row are defined, and how many of these conflict with nothing."""
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
    """For every row the number of defined entries and of those without a conflict."""
    k, m = lows.shape
    near = np.empty((4, m), np.int64)
    owner = np.empty((2, m), np.int64)
    rows = np.arange(k)
    _nearest(low, high, lows, highs, rows, k, near, owner)
    for row in range(k):
        defined[row], free[row] = _counts(low, high, lows, highs, row, step, near, owner)


@kernel
def reduce(low, high, lows, highs, step, kept, removed):
    """Paper 000, algorithm 2: write the rows that are kept and those removed, in order; give the number kept.

    What conflicts with no row of the beginning of a pass conflicts with none that is left, so that ends are gathered
    once a pass; rows that are missed are found in the next.
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
    """Find a point of the box in none of the rows, if `point` is in none of the rows `kept`.

    Each of these is missed by an entry that the point satisfies; then each row of `order` chooses an entry that still
    leaves something of the box. Without luck, False: then `order` was none in which every row finds an entry.
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
