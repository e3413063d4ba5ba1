"""Whether boxes of an index together cover a box, by refinement of a small set of them (CEGAR).

`refute` is asked whether the small set covers the box; if it leaves a point, the index is asked for boxes that contain
that point, and the one that takes most of the box joins the set. If there is none, the point is a witness against all
boxes. A set that covers is a proof; it names few boxes, however many there are.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.compiled.pointers import doubles_at, int64_at
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.branch_and_bound.kernels.search import BUDGET, COVERED, OPEN, ROOM, refute
from thatch.reduction.index.kernels.layout import (
    COMMON,
    CONTAIN,
    N_AXES,
    POINT,
    ROW,
    ROW_AT,
    ROW_ENDS,
    ROW_NUMBER,
    SHARES,
    SLOTS,
    STACK,
)
from thatch.reduction.index.kernels.search import (
    best_at,
    find_containing,
    load_box,
    room_of,
    unload_box,
    volume_of,
)
from thatch.reduction.index.kernels.tree import ADDED, insert

__all__ = ["COVERED", "DONE", "LONGER", "OPEN", "SMALL", "covered_many", "decide", "stream"]

DONE = 0  # all boxes are decided
LONGER = 2  # the proofs need more room
SMALL = -3  # the small set has no room for another box or axis

_LOOK = 64  # boxes that contain a point and are compared, at most
_LEAST_SHARE = 1.0 / (HIGHEST - LOWEST + 1)  # of an axis of which the box says nothing
_ALL = np.iinfo(np.int64).max


@subkernel
def _join(room, row, k, m, lows, highs, low, high, local, slots):
    """Write a box into the small set, with its axes; how many axes there are then."""
    rows, ends = room[2], room[3]
    for j in range(m):
        lows[k, j] = LOWEST
        highs[k, j] = HIGHEST
    start = rows[row * ROW + ROW_AT]
    for p in range(start, start + 2 * rows[row * ROW + ROW_ENDS], 2):
        e = ends[p]
        j = slots[e & ~1]
        if j < 0:
            j = m
            m += 1
            slots[e & ~1] = j
            local[j] = e >> 1
            low[j] = LOWEST
            high[j] = HIGHEST
            for i in range(k + 1):
                lows[i, j] = LOWEST
                highs[i, j] = HIGHEST
        if e & 1 == 0:
            lows[k, j] = ends[p + 1]
        else:
            highs[k, j] = -ends[p + 1]
    return m


@subkernel
def _lift(k, m, lows, highs, high, witness, misses):
    """Move a point that is in none of the small set up to the high end of the box on every axis where it stays so.

    `refute` gives the lowest point of a region. Where low ends crowd, as they often do, most boxes are found there.
    """
    for i in range(k):
        misses[i] = 0
        for j in range(m):
            if witness[j] < lows[i, j] or witness[j] > highs[i, j]:
                misses[i] += 1
    for j in range(m):
        is_free = True
        for i in range(k):
            now = witness[j] < lows[i, j] or witness[j] > highs[i, j]
            then = high[j] < lows[i, j] or high[j] > highs[i, j]
            if misses[i] == now and not then:
                is_free = False
                break
        if is_free:
            for i in range(k):
                now = witness[j] < lows[i, j] or witness[j] > highs[i, j]
                then = high[j] < lows[i, j] or high[j] > highs[i, j]
                misses[i] += np.int64(then) - np.int64(now)
            witness[j] = high[j]


@kernel
def decide(desc, work, axes, lows, highs, start, end, before, budget, is_pairwise):
    """Decide one box: the code of `refute` or SMALL, cells, rounds, boxes of the small set, local axes.

    `work` has the small set (lows, highs, rows, used) and, for every local axis, its number, the box and the witness.
    """
    set_lows, set_highs, set_rows, used, misses, local, low, high, witness, words = work
    room = room_of(desc)
    rows, roots, state = room[2], room[4], room[5]
    box, point = int64_at(desc, CONTAIN), int64_at(desc, POINT)
    slots, stack, shares = int64_at(desc, SLOTS), int64_at(desc, STACK), doubles_at(desc, SHARES)
    n_axes = state[N_AXES]
    if set_lows.shape[1] < end - start:
        return SMALL, 0, 0, 0, 0
    load_box(box, axes, lows, highs, start, end, n_axes)
    volume = volume_of(axes, lows, highs, start, end)
    found = find_containing(room, state[COMMON], box, volume - 64, before, stack)
    for i in range(start, end):
        if found >= 0:
            break
        if axes[i] < n_axes and lows[i] > LOWEST and roots[2 * np.int64(axes[i])] >= 0:
            found = find_containing(room, roots[2 * np.int64(axes[i])], box, volume - 64, before, stack)
    if found >= 0 or is_pairwise:
        unload_box(box, axes, start, end, n_axes, LOWEST, -HIGHEST)
        set_rows[0] = found
        used[0] = True
        return (COVERED if found >= 0 else OPEN), 0, 0, (1 if found >= 0 else 0), 0

    m = 0
    for i in range(start, end):
        if axes[i] < n_axes:
            local[m] = axes[i]
            low[m], high[m] = lows[i], highs[i]
            witness[m] = lows[i]
            slots[2 * np.int64(axes[i])] = m
            shares[axes[i]] = 1.0 / (highs[i] - lows[i] + 1.0)
            m += 1
    k, nodes, rounds, code = 0, 0, 0, OPEN
    while True:
        rounds += 1
        if rounds & 1 == 1:
            _lift(k, m, set_lows, set_highs, high, witness, misses)
        for j in range(m):
            point[2 * local[j]], point[2 * local[j] + 1] = witness[j], -witness[j]
        best, share, look = best_at(
            room, state[COMMON], point, box, shares, volume, before, _LOOK, -1, 0.0, stack
        )
        for j in range(m):
            if look <= 0:
                break
            if witness[j] > LOWEST and roots[2 * local[j]] >= 0:
                best, share, look = best_at(
                    room, roots[2 * local[j]], point, box, shares, volume, before, look, best, share, stack
                )
        if best < 0:
            code = OPEN
            break
        if k == set_lows.shape[0] or m + rows[best * ROW + ROW_ENDS] > set_lows.shape[1]:
            code = SMALL
            break
        before_m = m
        m = _join(room, best, k, m, set_lows, set_highs, low, high, local, slots)
        for j in range(before_m, m):
            witness[j] = LOWEST
        set_rows[k] = best
        k += 1
        code, cells = refute(set_lows, set_highs, k, m, low, high, budget - nodes, words, witness, used)
        nodes += cells
        if code == OPEN and nodes >= budget:
            code = BUDGET
        if code != OPEN:
            break
    for j in range(m):
        point[2 * local[j]], point[2 * local[j] + 1] = LOWEST, -LOWEST
        slots[2 * local[j]] = -1
        shares[local[j]] = _LEAST_SHARE
    unload_box(box, axes, start, end, n_axes, LOWEST, -HIGHEST)
    return code, nodes, rounds, k, m


@subkernel
def _write_proof(desc, set_rows, used, k, at, out_used):
    """Write the numbers of the boxes that are used; where the next proof begins."""
    rows = room_of(desc)[2]
    for i in range(k):
        if used[i]:
            out_used[at] = rows[set_rows[i] * ROW + ROW_NUMBER]
            at += 1
    return at


@kernel
def covered_many(
    desc, work, boxes, befores, budget, is_pairwise, first, out_codes, out_used_at, out_used, out_work
):
    """Decide boxes from `first` on: how many are done, and DONE or the code of what there is too little of.

    `out_used` is too short if the code is LONGER.
    """
    offsets, axes, lows, highs = boxes
    for box in range(first, len(offsets) - 1):
        code, nodes, rounds, k, _ = decide(
            desc, work, axes, lows, highs, offsets[box], offsets[box + 1], befores[box], budget, is_pairwise
        )
        if code in (ROOM, SMALL):
            return box, code
        at = out_used_at[box]
        if code == COVERED:
            if at + k > len(out_used):
                return box, LONGER
            at = _write_proof(desc, work[2], work[3], k, at, out_used)
        out_codes[box] = code
        out_used_at[box + 1] = at
        out_work[box, 0] = nodes
        out_work[box, 1] = rounds
    return len(offsets) - 1, DONE


@kernel
def stream(
    desc, work, boxes, numbers, budget, is_pairwise, first, out_codes, out_used_at, out_used, out_work
):
    """The same, and add every box that is not covered before the next one is decided.

    The third number is what `insert` asks for after the last box that is done, ADDED if it is content.
    """
    offsets, axes, lows, highs = boxes
    for box in range(first, len(offsets) - 1):
        start, end = offsets[box], offsets[box + 1]
        code, nodes, rounds, k, _ = decide(
            desc, work, axes, lows, highs, start, end, _ALL, budget, is_pairwise
        )
        if code in (ROOM, SMALL):
            return box, code, ADDED
        at = out_used_at[box]
        wish = ADDED
        if code == COVERED:
            if at + k > len(out_used):
                return box, LONGER, ADDED
            at = _write_proof(desc, work[2], work[3], k, at, out_used)
        else:
            wish = insert(desc, numbers[box], axes, lows, highs, start, end)
            if wish < ADDED:
                return box, DONE, wish
        out_codes[box] = code
        out_used_at[box + 1] = at
        out_work[box, 0] = nodes
        out_work[box, 1] = rounds
        if wish != ADDED:
            return box + 1, DONE, wish
    return len(offsets) - 1, DONE, ADDED
