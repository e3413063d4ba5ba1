"""Searches in the trees of an index; `records.py` describes the layout."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import JIT, kernel, subkernel
from thatch.reduction.boxes import HIGHEST, LOWEST
from thatch.reduction.index.kernels.questions import axis_at, load_box, node_at, row_at, unload_box, volume_of
from thatch.reduction.index.records import LANES, VOLUME_STEPS, IndexRecord

__all__ = ["container_number", "find_best", "find_container", "inside_numbers", "meeting_numbers"]

_I64 = ir.IntType(64)
_KEYS = ir.VectorType(_I64, LANES)
_MEETING, _INSIDE = 0, 1


@intrinsic
def _not_above(typingctx, keys, offset, bound):
    """One bit for each of the keys at `offset`: whether it is at most `bound`."""
    signature = types.uint64(keys, types.int64, types.int64)

    def codegen(context, builder, signature, args):
        array, at, bound = args
        start = builder.bitcast(builder.gep(array, [at]), _KEYS.as_pointer())
        first = builder.insert_element(
            ir.Constant(_KEYS, ir.Undefined), bound, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        bounds = builder.shuffle_vector(first, ir.Constant(_KEYS, ir.Undefined), zeros)
        mask = builder.icmp_signed("<=", builder.load(start, align=8), bounds)
        return builder.zext(builder.bitcast(mask, ir.IntType(LANES)), _I64)

    return signature, codegen


if not JIT:
    _BITS = np.uint64(1) << np.arange(LANES, dtype=np.uint64)

    def _not_above(keys, offset, bound):
        return np.bitwise_or.reduce(_BITS[keys[offset : offset + LANES] <= bound], initial=np.uint64(0))


# --- leaves ----------------------------------------------------------------------------------------------------------


@subkernel
def _may_answer(leaves, start, columns, query):
    """Whether the smallest keys of a leaf leave room for an answer."""
    for c in range(columns):  # noqa: SIM110 - Numba's generators are slow
        if leaves[start + columns + c] > query[leaves[start + c]]:
            return False
    return True


@subkernel
def _answers(leaves, start, columns, capacity, first, count, query):
    """One bit for each box of a leaf from `first` on: whether its keys in columns are not above the question's."""
    mask = np.uint64((1 << LANES) - 1)
    if count - first < LANES:
        mask = (np.uint64(1) << np.uint64(count - first)) - np.uint64(1)
    keys = start + 2 * columns + 3 * capacity + first
    for c in range(columns):
        mask &= _not_above(leaves, keys, query[leaves[start + c]])
        if mask == 0:
            break
        keys += capacity
    return mask


@subkernel
def _is_dominated(index, row, query):
    """Whether a box answers the question, judged by all its ends."""
    box = row_at(index, row)
    for p in range(box.start, box.start + 2 * box.n_ends, 2):
        if index.ends[p + 1] > query[index.ends[p]]:
            return False
    return True


@subkernel
def _row_of(index, slot, capacity, before, query):
    """The row of a box whose columns pass; -1 if its other ends do not, or its number is not below `before`."""
    row = index.leaves[slot]
    if index.leaves[slot + capacity] >= before:
        return np.int64(-1)
    if row & 1 == 1 and not _is_dominated(index, row >> 1, query):
        return np.int64(-1)
    return row >> 1


# --- containment -----------------------------------------------------------------------------------------------------


@subkernel
def _push_children(index, node, query, stack, top):
    """Push the children that may answer the question, that with the larger boxes last; return the new top."""
    near, far = node.near, node.far
    if query[node.split] <= node.value:
        stack[top] = near
        return top + 1
    if node_at(index, far).volume < node_at(index, near).volume:
        near, far = far, near
    stack[top] = near
    stack[top + 1] = far
    return top + 2


@subkernel
def _find_in_tree(index, root, least, before):
    """The row of a box that answers the question `contain`, with a number below `before`; -1 if there is none.

    Looks at large boxes first, and at none with a volume below `least`.
    """
    leaves, query, stack = index.leaves, index.contain, index.stack
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = node_at(index, stack[top])
        if node.volume < least or node.first >= before:
            continue
        if node.split >= 0:
            top = _push_children(index, node, query, stack, top)
            continue
        start, columns, capacity, count = node.start, node.columns, node.capacity, node.count
        if not _may_answer(leaves, start, columns, query):
            continue
        for first in range(0, count, LANES):
            mask = _answers(leaves, start, columns, capacity, first, count, query)
            while mask != 0:
                slot = start + 2 * columns + first + np.int64(trailing_zeros(mask))
                mask &= mask - np.uint64(1)
                row = _row_of(index, slot, capacity, before, query)
                if row >= 0:
                    return row
    return -1


@subkernel
def find_container(index, axes, lows, highs, start, end, before):
    """The row of a box that contains the one in `contain`, with a number below `before`; -1 if there is none."""
    # Volumes are rounded down, and sums of logarithms are not exact.
    least = volume_of(lows, highs, start, end) - 64
    found = _find_in_tree(index, index.state.common, least, before)
    for i in range(start, end):
        if found >= 0:
            break
        if axes[i] < index.state.n_axes and lows[i] > LOWEST and axis_at(index, axes[i]).root >= 0:
            found = _find_in_tree(index, axis_at(index, axes[i]).root, least, before)
    return found


@kernel
def container_number(table, axes, lows, highs, before):
    """The number of a box that contains the given one and is below `before`; -1 if there is none."""
    index = IndexRecord(table, 0)
    load_box(index, axes, lows, highs, 0, len(axes))
    row = find_container(index, axes, lows, highs, 0, len(axes), before)
    unload_box(index, axes, 0, len(axes))
    return np.int64(-1) if row < 0 else row_at(index, row).number


# --- the best box at a point -----------------------------------------------------------------------------------------


@subkernel
def _share_of(index, ends, columns, keys, step):
    """Roughly the share of the box in `contain` that these keys leave, from 0 to 1, each end on its own."""
    share = 1.0
    for c in range(columns):
        e = index.leaves[ends + c]
        cut = index.leaves[keys + c * step] - index.contain[e]
        if cut > 0:
            share *= 1.0 - cut * index.shares[e >> 1]
    return share


@subkernel
def find_best(index, root, volume, before, limit, best, best_share):
    """Of the boxes that hold the point in `point`, find the one that covers most of the box in `contain`.

    Returns its row, its share and how many boxes may still be compared, of `limit`; what is passed in if no share is
    above `best_share`. Large boxes come first. Ends without columns do not count for the share, which only decides how
    soon a proof is found.
    """
    leaves, query, stack = index.leaves, index.point, index.stack
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = node_at(index, stack[top])
        if node.first >= before or node.count == 0:
            continue
        if best >= 0:
            gap = node.volume - volume
            if gap < 0 and np.exp2(gap / VOLUME_STEPS) <= best_share:
                continue
        if node.split >= 0:
            top = _push_children(index, node, query, stack, top)
            continue
        start, columns, capacity, count = node.start, node.columns, node.capacity, node.count
        if not _may_answer(leaves, start, columns, query):
            continue
        if best >= 0 and _share_of(index, start, columns, start + columns, 1) <= best_share:
            continue
        for first in range(0, count, LANES):
            mask = _answers(leaves, start, columns, capacity, first, count, query)
            while mask != 0:
                slot = start + 2 * columns + first + np.int64(trailing_zeros(mask))
                mask &= mask - np.uint64(1)
                row = _row_of(index, slot, capacity, before, query)
                if row < 0:
                    continue
                share = _share_of(index, start, columns, slot + 3 * capacity, capacity)
                if best < 0 or share > best_share:
                    best, best_share = row, share
                limit -= 1
                if limit <= 0:
                    return best, best_share, limit
    return best, best_share, limit


# --- all boxes that meet a box, or lie inside it ---------------------------------------------------------------------


@subkernel
def _collect_in_tree(index, root, kind, before, found, out_rows):
    """Append the boxes that answer the question `meet`; return how many there are by now.

    Of the kind _INSIDE, some that cannot lie inside the box in `contain` are left out.
    """
    leaves, query, stack = index.leaves, index.meet, index.stack
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = node_at(index, stack[top])
        if node.first >= before or node.count == 0:
            continue
        split = node.split
        if split >= 0:
            if query[split] > node.value:
                stack[top] = node.far
                top += 1
            if not (kind == _INSIDE and index.contain[split] > node.value):
                stack[top] = node.near
                top += 1
            continue
        start, columns, capacity, count = node.start, node.columns, node.capacity, node.count
        if not _may_answer(leaves, start, columns, query):
            continue
        for first in range(0, count, LANES):
            mask = _answers(leaves, start, columns, capacity, first, count, query)
            while mask != 0:
                slot = start + 2 * columns + first + np.int64(trailing_zeros(mask))
                mask &= mask - np.uint64(1)
                row = _row_of(index, slot, capacity, before, query)
                if row < 0:
                    continue
                if found < len(out_rows):
                    out_rows[found] = row
                found += 1
    return found


@subkernel
def _collect(index, axes, lows, highs, kind, before, out_rows):
    """The same in all trees."""
    n_axes = index.state.n_axes
    for i in range(len(axes)):
        if axes[i] < n_axes:
            index.meet[2 * np.int64(axes[i])] = highs[i]
            index.meet[2 * np.int64(axes[i]) + 1] = -lows[i]
    found = _collect_in_tree(index, index.state.common, kind, before, 0, out_rows)
    for axis in range(n_axes):
        if axis_at(index, axis).root >= 0:
            found = _collect_in_tree(index, axis_at(index, axis).root, kind, before, found, out_rows)
    for i in range(len(axes)):
        if axes[i] < n_axes:
            index.meet[2 * np.int64(axes[i])] = HIGHEST
            index.meet[2 * np.int64(axes[i]) + 1] = -LOWEST
    return found


@kernel
def meeting_numbers(table, axes, lows, highs, before, out_numbers):
    """Write the numbers of the boxes that meet a box, as far as there is room; return how many there are."""
    index = IndexRecord(table, 0)
    found = _collect(index, axes, lows, highs, _MEETING, before, out_numbers)
    for i in range(min(found, len(out_numbers))):
        out_numbers[i] = row_at(index, out_numbers[i]).number
    return found


@subkernel
def _is_inside(index, row, axes, lows, highs):
    """Whether a row lies in a box: it does not if it lacks an end of the box."""
    ends = index.ends
    p = row_at(index, row).start
    last = p + 2 * row_at(index, row).n_ends
    for i in range(len(axes)):
        for side in range(2):
            key = -highs[i] if side else lows[i]
            if key == (-HIGHEST if side else LOWEST):
                continue
            e = 2 * np.int64(axes[i]) + side
            while p < last and ends[p] < e:
                p += 2
            if p == last or ends[p] != e or ends[p + 1] < key:
                return False
    return True


@kernel
def inside_numbers(table, axes, lows, highs, before, out_numbers):
    """Write the numbers of the boxes inside a box; return how many there are.

    Returns how much room is needed if there is too little: `out_numbers` needs room for most that meet the box.
    """
    index = IndexRecord(table, 0)
    load_box(index, axes, lows, highs, 0, len(axes))
    found = _collect(index, axes, lows, highs, _INSIDE, before, out_numbers)
    unload_box(index, axes, 0, len(axes))
    if found > len(out_numbers):
        return found
    kept = 0
    for i in range(found):
        if _is_inside(index, out_numbers[i], axes, lows, highs):
            out_numbers[kept] = row_at(index, out_numbers[i]).number
            kept += 1
    return kept
