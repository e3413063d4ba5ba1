"""Decide whether boxes of an index together cover a box, by refinement of a small set of them (CEGAR).

`refute` decides whether the small set covers the box. If it leaves a point, the index is searched for boxes that hold the
point, and the one that covers most of the box joins the set. If there is none, the point is a witness against all boxes.
A set that covers the box is a proof; it names few boxes, however many there are.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.kernels.questions import axis_at, load_box, row_at, unload_box, volume_of
from thatch.reduction.index.kernels.search import find_best, find_container
from thatch.reduction.index.kernels.tree import ADDED, FULL, insert
from thatch.reduction.index.records import IndexRecord
from thatch.reduction.kernels.refutation import BUDGET, COVERED, OPEN, ROOM, refute

__all__ = ["COVERED", "DONE", "LONGER", "OPEN", "ROOM", "SMALL", "decide", "decide_many"]

DONE = 0  # all boxes are decided
LONGER = 2  # the proofs need more room
SMALL = -3  # the small set has no room for another box or axis

_COMPARED = 64  # boxes that hold a point, at most
_LEAST_SHARE = 1.0 / (HIGHEST - LOWEST + 1)  # of an axis that the box spans


@subkernel
def _join(index, row, k, m, lows, highs, low, high, local):
    """Write a box into the small set, with its axes; return the new number of axes."""
    ends, slots, box = index.ends, index.slots, row_at(index, row)
    for j in range(m):
        lows[k, j] = LOWEST
        highs[k, j] = HIGHEST
    for p in range(box.start, box.start + 2 * box.n_ends, 2):
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
    """Move a point outside the small set up to the high end of the box on every axis where it stays outside.

    `refute` returns the lowest point of a region. Low ends often crowd there, so that most boxes would be found.
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


@subkernel
def _find_at(index, m, local, witness, volume, before):
    """The row of the box at a point that covers most of the box, -1 if there is none."""
    for j in range(m):
        index.point[2 * local[j]], index.point[2 * local[j] + 1] = witness[j], -witness[j]
    best, share, limit = find_best(index, index.state.common, volume, before, _COMPARED, np.int64(-1), 0.0)
    for j in range(m):
        if limit <= 0:
            break
        if witness[j] > LOWEST and axis_at(index, local[j]).root >= 0:
            root = axis_at(index, local[j]).root
            best, share, limit = find_best(index, root, volume, before, limit, best, share)
    return best


@subkernel
def _refine(index, work, m, volume, before, budget):
    """Grow the small set until it is decided; return the code of `refute` or SMALL, cells, rounds, boxes and axes."""
    lows, highs, rows, used, misses, local, low, high, witness, words = work
    k, nodes, rounds, code = 0, 0, 0, OPEN
    while True:
        rounds += 1
        if rounds & 1 == 1:
            _lift(k, m, lows, highs, high, witness, misses)
        best = _find_at(index, m, local, witness, volume, before)
        if best < 0:
            return OPEN, nodes, rounds, k, m
        if k == lows.shape[0] or m + row_at(index, best).n_ends > lows.shape[1]:
            return SMALL, nodes, rounds, k, m
        before_m = m
        m = _join(index, best, k, m, lows, highs, low, high, local)
        for j in range(before_m, m):
            witness[j] = LOWEST
        rows[k] = best
        k += 1
        code, cells = refute(lows, highs, k, m, low, high, budget - nodes, words, witness, used)
        nodes += cells
        if code == OPEN and nodes >= budget:
            code = BUDGET
        if code != OPEN:
            return code, nodes, rounds, k, m


@kernel
def decide(table, work, axes, lows, highs, start, end, before, budget, is_pairwise):
    """Decide one box: return the code of `refute` or SMALL, cells, rounds, boxes of the small set, local axes.

    `work` has the small set (lows, highs, rows, used) and, for every local axis, its number, the box and the witness.
    """
    set_lows, _, set_rows, used, _, local, low, high, witness, _ = work
    index = IndexRecord(table, 0)
    point, slots, shares, n_axes = index.point, index.slots, index.shares, index.state.n_axes
    if set_lows.shape[1] < end - start:
        return SMALL, 0, 0, 0, 0
    load_box(index, axes, lows, highs, start, end)
    found = find_container(index, axes, lows, highs, start, end, before)
    if found >= 0 or is_pairwise:
        unload_box(index, axes, start, end)
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
    volume = volume_of(lows, highs, start, end)
    code, nodes, rounds, k, m = _refine(index, work, m, volume, before, budget)
    for j in range(m):
        point[2 * local[j]], point[2 * local[j] + 1] = LOWEST, -LOWEST
        slots[2 * local[j]] = -1
        shares[local[j]] = _LEAST_SHARE
    unload_box(index, axes, start, end)
    return code, nodes, rounds, k, m


@subkernel
def _write_proof(index, set_rows, used, k, at, out_used):
    """Write the numbers of the boxes of a proof; return where the next proof begins."""
    for i in range(k):
        if used[i]:
            out_used[at] = row_at(index, set_rows[i]).number
            at += 1
    return at


@kernel
def decide_many(
    table,
    work,
    boxes,
    befores,
    numbers,
    budget,
    is_pairwise,
    first,
    out_codes,
    out_used_at,
    out_used,
    out_work,
):
    """Decide boxes from `first` on. With `numbers`, add every uncovered box before the next one is decided.

    Returns how many boxes are done; DONE, or the code of what needs more room (LONGER: `out_used`); and what the last
    `insert` asks for.
    """
    offsets, axes, lows, highs = boxes
    index = IndexRecord(table, 0)
    for box in range(first, len(offsets) - 1):
        start, end = offsets[box], offsets[box + 1]
        code, nodes, rounds, k, _ = decide(
            table, work, axes, lows, highs, start, end, befores[box], budget, is_pairwise
        )
        if code in (ROOM, SMALL):
            return box, code, np.int64(ADDED)
        at = out_used_at[box]
        wish = np.int64(ADDED)
        if code == COVERED:
            if at + k > len(out_used):
                return box, LONGER, np.int64(ADDED)
            at = _write_proof(index, work[2], work[3], k, at, out_used)
        elif len(numbers):
            wish = insert(index, numbers[box], axes, lows, highs, start, end)
            if wish == FULL:
                return box, DONE, wish
        out_codes[box] = code
        out_used_at[box + 1] = at
        out_work[box, 0] = nodes
        out_work[box, 1] = rounds
        if wish != ADDED:
            return box + 1, DONE, wish
    return len(offsets) - 1, DONE, np.int64(ADDED)
