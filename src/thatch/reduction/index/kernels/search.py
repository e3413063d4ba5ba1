"""Searches through the trees of an index: the layout is told in `fields.py`."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import JIT, kernel, subkernel
from thatch.compiled.pointers import int64_at
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.kernels.layout import (
    AT,
    CAPACITY,
    COLUMNS,
    COMMON,
    CONTAIN,
    COUNT,
    ENDS,
    FAR,
    FIRST,
    LANES,
    LEAVES,
    MEET,
    N_AXES,
    NEAR,
    NODE,
    NODES,
    ROOTS,
    ROW,
    ROW_AT,
    ROW_ENDS,
    ROWS,
    SPLIT,
    STACK,
    STATE,
    VALUE,
    VOLUME,
    VOLUME_STEPS,
)

__all__ = [
    "best_at",
    "containing",
    "find_containing",
    "inside",
    "load_box",
    "meeting",
    "room_of",
    "unload_box",
    "volume_of",
]

_I64 = ir.IntType(64)
_KEYS = ir.VectorType(_I64, LANES)
_MEETING, _INSIDE = 0, 1
_WHOLE_WIDTH = float(HIGHEST - LOWEST + 1)


@intrinsic
def _not_above(typingctx, keys, offset, bound):
    """One bit for each of the keys at `offset`: whether it is at most `bound`."""
    signature = types.uint64(keys, types.int64, types.int64)

    def codegen(context, builder, signature, args):
        array, at, bound = args
        place = builder.bitcast(builder.gep(array, [at]), _KEYS.as_pointer())
        first = builder.insert_element(
            ir.Constant(_KEYS, ir.Undefined), bound, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        bounds = builder.shuffle_vector(first, ir.Constant(_KEYS, ir.Undefined), zeros)
        mask = builder.icmp_signed("<=", builder.load(place, align=8), bounds)
        return builder.zext(builder.bitcast(mask, ir.IntType(LANES)), _I64)

    return signature, codegen


if not JIT:
    _BITS = np.uint64(1) << np.arange(LANES, dtype=np.uint64)

    def _not_above(keys, offset, bound):
        return np.bitwise_or.reduce(_BITS[keys[offset : offset + LANES] <= bound], initial=np.uint64(0))


@subkernel
def room_of(desc):
    """The arrays of an index: nodes, leaves, rows, ends, roots, state."""
    return (
        int64_at(desc, NODES),
        int64_at(desc, LEAVES),
        int64_at(desc, ROWS),
        int64_at(desc, ENDS),
        int64_at(desc, ROOTS),
        int64_at(desc, STATE),
    )


@subkernel
def volume_of(axes, lows, highs, start, end):
    """The volume of a box, a logarithm in whole steps."""
    volume = 1.0
    logs = 0.0
    for i in range(start, end):
        volume *= (highs[i] - lows[i] + 1.0) / _WHOLE_WIDTH
        if volume < 1e-200:
            logs += np.log2(volume)
            volume = 1.0
    return np.int64(np.floor((logs + np.log2(volume)) * VOLUME_STEPS))


@subkernel
def load_box(keys, axes, lows, highs, start, end, n_axes):
    """Make a box the question what contains it; axes that no box speaks of are left out."""
    for i in range(start, end):
        if axes[i] < n_axes:
            keys[2 * np.int64(axes[i])] = lows[i]
            keys[2 * np.int64(axes[i]) + 1] = -highs[i]


@subkernel
def unload_box(keys, axes, start, end, n_axes, low, high):
    """Let the question say of these axes what it says of all others."""
    for i in range(start, end):
        if axes[i] < n_axes:
            keys[2 * np.int64(axes[i])] = low
            keys[2 * np.int64(axes[i]) + 1] = high


@subkernel
def _may_answer(leaves, at, columns, query):
    """Whether the smallest keys of a leaf leave room for an answer."""
    for c in range(columns):  # noqa: SIM110 - Numba's generators are slow
        if leaves[at + columns + c] > query[leaves[at + c]]:
            return False
    return True


@subkernel
def _answers(leaves, at, columns, capacity, first, count, query):
    """One bit for each of the boxes of a leaf from `first` on whose keys in columns are not above the question's."""
    mask = np.uint64((1 << LANES) - 1)
    if count - first < LANES:
        mask = (np.uint64(1) << np.uint64(count - first)) - np.uint64(1)
    place = at + 2 * columns + 3 * capacity + first
    for c in range(columns):
        mask &= _not_above(leaves, place, query[leaves[at + c]])
        if mask == 0:
            break
        place += capacity
    return mask


@subkernel
def _is_dominated(rows, ends, row, query):
    """The same for one box, by all its ends."""
    start = rows[row * ROW + ROW_AT]
    for p in range(start, start + 2 * rows[row * ROW + ROW_ENDS], 2):  # noqa: SIM110
        if ends[p + 1] > query[ends[p]]:
            return False
    return True


@subkernel
def _row_at(leaves, slot, capacity, rows, ends, before, query):
    """The row of a box of a leaf that its columns let through, -1 if it does not answer or comes too late."""
    row = leaves[slot]
    if leaves[slot + capacity] >= before:
        return np.int64(-1)
    if row & 1 == 1 and not _is_dominated(rows, ends, row >> 1, query):
        return np.int64(-1)
    return row >> 1


@subkernel
def _push_below(nodes, node, split, query, stack, top):
    """Put the nodes below one on the stack that may answer the question, that with the larger boxes last; its new top."""
    near, far = nodes[node + NEAR], nodes[node + FAR]
    if query[split] <= nodes[node + VALUE]:
        stack[top] = near
        return top + 1
    if nodes[far * NODE + VOLUME] < nodes[near * NODE + VOLUME]:
        near, far = far, near
    stack[top] = near
    stack[top + 1] = far
    return top + 2


@subkernel
def find_containing(room, root, query, least, before, stack):
    """The row of a box under `root` that answers the question, with a number below `before`, or -1.

    Large ones first; none with a volume below `least`.
    """
    nodes, leaves, rows, ends, _, _ = room
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top] * NODE
        if nodes[node + VOLUME] < least or nodes[node + FIRST] >= before:
            continue
        split = nodes[node + SPLIT]
        if split >= 0:
            top = _push_below(nodes, node, split, query, stack, top)
            continue
        at, columns = nodes[node + AT], nodes[node + COLUMNS]
        if not _may_answer(leaves, at, columns, query):
            continue
        capacity, count = nodes[node + CAPACITY], nodes[node + COUNT]
        boxes = at + 2 * columns
        for first in range(0, count, LANES):
            mask = _answers(leaves, at, columns, capacity, first, count, query)
            while mask != 0:
                slot = boxes + first + np.int64(trailing_zeros(mask))
                mask &= mask - np.uint64(1)
                row = _row_at(leaves, slot, capacity, rows, ends, before, query)
                if row >= 0:
                    return row
    return -1


@subkernel
def _share_at(leaves, ends_at, columns, keys, step, box, shares):
    """Roughly how much of `box` is left by keys in columns: from 0 to 1, by each end on its own."""
    share = 1.0
    for c in range(columns):
        e = leaves[ends_at + c]
        cut = leaves[keys + c * step] - box[e]
        if cut > 0:
            share *= 1.0 - cut * shares[e >> 1]
    return share


@subkernel
def best_at(room, root, query, box, shares, volume, before, look, best, best_share, stack):
    """Of the boxes under `root` that answer the question, that which takes most of `box`, if more than `best_share`.

    Returns it, its share and how many boxes may still be looked at, of `look`. Large ones come first. Ends without
    columns do not count for the share, which decides nothing but how soon a proof is found.

    Parameters
    ----------
    shares : for every axis, what share of `box` a width of 1 is
    """
    nodes, leaves, rows, ends, _, _ = room
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top] * NODE
        if nodes[node + FIRST] >= before or nodes[node + COUNT] == 0:
            continue
        if best >= 0:
            gap = nodes[node + VOLUME] - volume
            if gap < 0 and np.exp2(gap / VOLUME_STEPS) <= best_share:
                continue
        split = nodes[node + SPLIT]
        if split >= 0:
            top = _push_below(nodes, node, split, query, stack, top)
            continue
        at, columns = nodes[node + AT], nodes[node + COLUMNS]
        if not _may_answer(leaves, at, columns, query):
            continue
        if best >= 0 and _share_at(leaves, at, columns, at + columns, 1, box, shares) <= best_share:
            continue
        capacity, count = nodes[node + CAPACITY], nodes[node + COUNT]
        boxes = at + 2 * columns
        for first in range(0, count, LANES):
            mask = _answers(leaves, at, columns, capacity, first, count, query)
            while mask != 0:
                slot = boxes + first + np.int64(trailing_zeros(mask))
                mask &= mask - np.uint64(1)
                row = _row_at(leaves, slot, capacity, rows, ends, before, query)
                if row < 0:
                    continue
                share = _share_at(leaves, at, columns, slot + 3 * capacity, capacity, box, shares)
                if best < 0 or share > best_share:
                    best, best_share = row, share
                look -= 1
                if look <= 0:
                    return best, best_share, look
    return best, best_share, look


@kernel
def containing(desc, axes, lows, highs, offsets, befores, out_rows):
    """out_rows = for each of some boxes, the row of one that contains it and has a number below `before`, or -1."""
    room = room_of(desc)
    roots, state = room[4], room[5]
    query, stack = int64_at(desc, CONTAIN), int64_at(desc, STACK)
    n_axes = state[N_AXES]
    for box in range(len(out_rows)):
        start, end, before = offsets[box], offsets[box + 1], befores[box]
        load_box(query, axes, lows, highs, start, end, n_axes)
        # Volumes are rounded down, and sums of logarithms are not exact.
        least = volume_of(axes, lows, highs, start, end) - 64
        found = find_containing(room, state[COMMON], query, least, before, stack)
        for i in range(start, end):
            if found >= 0:
                break
            if axes[i] < n_axes and lows[i] > LOWEST and roots[2 * np.int64(axes[i])] >= 0:
                found = find_containing(room, roots[2 * np.int64(axes[i])], query, least, before, stack)
        unload_box(query, axes, start, end, n_axes, LOWEST, -HIGHEST)
        out_rows[box] = found


@subkernel
def _collect(room, root, query, box, kind, before, stack, found, out_rows):
    """Write the boxes under `root` that answer the question behind those that were found before; how many by now.

    Of the kind _INSIDE, some that cannot lie inside `box` are left out.
    """
    nodes, leaves, rows, ends, _, _ = room
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top] * NODE
        if nodes[node + FIRST] >= before or nodes[node + COUNT] == 0:
            continue
        split = nodes[node + SPLIT]
        if split >= 0:
            if query[split] > nodes[node + VALUE]:
                stack[top] = nodes[node + FAR]
                top += 1
            if not (kind == _INSIDE and box[split] > nodes[node + VALUE]):
                stack[top] = nodes[node + NEAR]
                top += 1
            continue
        at, columns = nodes[node + AT], nodes[node + COLUMNS]
        if not _may_answer(leaves, at, columns, query):
            continue
        capacity, count = nodes[node + CAPACITY], nodes[node + COUNT]
        boxes = at + 2 * columns
        for first in range(0, count, LANES):
            mask = _answers(leaves, at, columns, capacity, first, count, query)
            while mask != 0:
                slot = boxes + first + np.int64(trailing_zeros(mask))
                mask &= mask - np.uint64(1)
                row = _row_at(leaves, slot, capacity, rows, ends, before, query)
                if row < 0:
                    continue
                if found < len(out_rows):
                    out_rows[found] = row
                found += 1
    return found


@kernel
def meeting(desc, axes, lows, highs, before, out_rows):
    """Write the rows of the boxes that meet a box, as far as there is room; how many there are."""
    room = room_of(desc)
    roots, state = room[4], room[5]
    query, stack = int64_at(desc, MEET), int64_at(desc, STACK)
    n_axes = state[N_AXES]
    for i in range(len(axes)):
        if axes[i] < n_axes:
            query[2 * np.int64(axes[i])] = highs[i]
            query[2 * np.int64(axes[i]) + 1] = -lows[i]
    found = _collect(room, state[COMMON], query, query, _MEETING, before, stack, 0, out_rows)
    for axis in range(n_axes):
        if roots[2 * axis] >= 0:
            found = _collect(room, roots[2 * axis], query, query, _MEETING, before, stack, found, out_rows)
    unload_box(query, axes, 0, len(axes), n_axes, HIGHEST, -LOWEST)
    return found


@subkernel
def _is_inside(rows, ends, row, axes, lows, highs):
    """Whether a row lies in a box: an end of the box that the row lacks is one that it violates."""
    p = rows[row * ROW + ROW_AT]
    end = p + 2 * rows[row * ROW + ROW_ENDS]
    for i in range(len(axes)):
        for side in range(2):
            key = -highs[i] if side else lows[i]
            if key == (-HIGHEST if side else LOWEST):
                continue
            e = 2 * np.int64(axes[i]) + side
            while p < end and ends[p] < e:
                p += 2
            if p == end or ends[p] != e or ends[p + 1] < key:
                return False
    return True


@kernel
def inside(desc, axes, lows, highs, before, out_rows):
    """Write the rows of the boxes that lie inside a box, as far as there is room; how many there are.

    `out_rows` must have room for all that meet it.
    """
    room = room_of(desc)
    rows, ends, roots, state = room[2], room[3], room[4], room[5]
    query, box, stack = int64_at(desc, MEET), int64_at(desc, CONTAIN), int64_at(desc, STACK)
    n_axes = state[N_AXES]
    load_box(box, axes, lows, highs, 0, len(axes), n_axes)
    for i in range(len(axes)):
        if axes[i] < n_axes:
            query[2 * np.int64(axes[i])] = highs[i]
            query[2 * np.int64(axes[i]) + 1] = -lows[i]
    found = _collect(room, state[COMMON], query, box, _INSIDE, before, stack, 0, out_rows)
    for axis in range(n_axes):
        if roots[2 * axis] >= 0:
            found = _collect(room, roots[2 * axis], query, box, _INSIDE, before, stack, found, out_rows)
    unload_box(query, axes, 0, len(axes), n_axes, HIGHEST, -LOWEST)
    unload_box(box, axes, 0, len(axes), n_axes, LOWEST, -HIGHEST)
    if found > len(out_rows):
        return found
    kept = 0
    for i in range(found):
        if _is_inside(rows, ends, out_rows[i], axes, lows, highs):
            out_rows[kept] = out_rows[i]
            kept += 1
    return kept
