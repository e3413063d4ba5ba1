"""Kernels that lay out a segment: order sides and boxes, write blocks and zones, and the grids of its numbers."""

from __future__ import annotations

import numpy as np

from thatch.matching.segments.kernels import SLOTS, grid_cell
from thatch.matching.segments.vectors.kernels import LANES, inlined, kernel

__all__ = ["emit_blocks", "fill_grid", "kd_order", "order_sides"]


@kernel
def fill_grid(numbers, start, end, scale, out_grid):
    """out_grid[s] = how many numbers lie before grid step s."""
    last = len(out_grid) - 2
    place = start
    for step in range(last + 1):
        while place < end and grid_cell(numbers[place], numbers[start], scale, last) < step:
            place += 1
        out_grid[step] = place - start
    out_grid[last + 1] = end - start


@kernel
def order_sides(offsets, selectivity, out_order):
    """out_order = the sides of every box, the most selective first."""
    for box in range(len(offsets) - 1):
        for side in range(offsets[box], offsets[box + 1]):
            out_order[side] = side
            place = side
            while place > offsets[box] and selectivity[out_order[place - 1]] > selectivity[side]:
                out_order[place] = out_order[place - 1]
                place -= 1
            out_order[place] = side


@inlined
def _select(key, order, start, end, middle):
    """Partly sort order[start:end] by key so that what belongs at `middle` stands there."""
    end -= 1
    while end > start:
        a, b, c = key[order[start]], key[order[(start + end) >> 1]], key[order[end]]
        pivot = max(min(a, b), min(max(a, b), c))
        left, right = start, end
        while left <= right:
            while key[order[left]] < pivot:
                left += 1
            while key[order[right]] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            end = right
        elif middle >= left:
            start = left
        else:
            return


@kernel
def kd_order(centres, widths, out_order):
    """Order boxes so that runs of 64 lie close together: split at the median of the widest-spread key, again and again.

    centres and widths have a row per key; out_order starts as 0, 1, 2, ...
    """
    keys, count = centres.shape
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, count
    depth = 1
    while depth > 0:
        depth -= 1
        start, end = stack[depth, 0], stack[depth, 1]
        if end - start <= LANES:
            continue
        best, chosen = -1.0, 0
        step = max(1, (end - start) // 512)
        for key in range(keys):
            least, most, width, seen = np.inf, -np.inf, 0.0, 0
            for index in range(start, end, step):
                centre = centres[key, out_order[index]]
                least, most = min(least, centre), max(most, centre)
                width += widths[key, out_order[index]]
                seen += 1
            spread = (most - least) / (width / seen + 1e-6)
            if spread > best:
                best, chosen = spread, key
        middle = start + ((end - start + LANES - 1) // LANES // 2) * LANES
        _select(centres[chosen], out_order, start, end, middle)
        stack[depth, 0], stack[depth, 1] = start, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, end
        depth += 2


@kernel
def emit_blocks(first, count, keys, at, boxes, order, codes16, out_codes, out_mixed, out_left, left):
    """Write the blocks and zones of one group: the boxes `first` to `first + count`.

    Parameters
    ----------
    keys : its key attributes
    at : where its codes, zones, second zones and mixed sides (or -1) begin
    boxes : offsets of the boxes' sides and the attribute of each side
    order : the sides of each box, most selective first
    codes16 : lo and hi code of every side
    out_left : offsets, attributes, lo and hi of the sides that are left over; `left` is how many there are by now
    """
    offsets, attributes = boxes
    lo16, hi16 = codes16
    left_offsets, left_attributes, left_lo, left_hi = out_left
    n_keys = len(keys)
    blocks = (count + LANES - 1) // LANES
    for block in range(blocks):
        base = at[0] + block * n_keys * 128
        for key in range(n_keys):
            out_codes[base + key * 128 : base + key * 128 + 64] = 65535
            out_codes[base + key * 128 + 64 : base + key * 128 + 128] = 0
        for lane in range(LANES):
            index = block * LANES + lane
            taken = 0
            if index < count:
                box = first + index
                left_offsets[box] = left
                for position in range(offsets[box], offsets[box + 1]):
                    side = order[position]
                    is_key = False
                    for key in range(n_keys):
                        if keys[key] == attributes[side]:
                            is_key = True
                            out_codes[base + key * 128 + lane] = lo16[side]
                            out_codes[base + key * 128 + 64 + lane] = hi16[side]
                    if is_key:
                        continue
                    if taken < SLOTS:
                        place = at[3] + (block * SLOTS + taken) * 192 + lane
                        out_mixed[place] = attributes[side]
                        out_mixed[place + 64] = lo16[side]
                        out_mixed[place + 128] = hi16[side]
                        taken += 1
                    else:
                        left_attributes[left] = attributes[side]
                        left_lo[left] = lo16[side]
                        left_hi[left] = hi16[side]
                        left += 1
                left_offsets[box + 1] = left
            if at[3] >= 0:
                for step in range(taken, SLOTS):
                    place = at[3] + (block * SLOTS + step) * 192 + lane
                    out_mixed[place] = 0
                    # A free slot always passes; a lane without a box never does.
                    out_mixed[place + 64] = 0 if index < count else 65535
                    out_mixed[place + 128] = 65535 if index < count else 0
    _write_zones(out_codes, at[0], at[1], blocks, n_keys)
    _write_zones(out_codes, at[1], at[2], (blocks + 63) // 64, n_keys)
    return left


@inlined
def _write_zones(codes, source, target, count, n_keys):
    """The hull of every block of 64, as lanes of the next level."""
    for index in range((count + 63) // 64 * 64):
        place = target + (index >> 6) * n_keys * 128 + (index & 63)
        for key in range(n_keys):
            least, most = 65535, 0
            if index < count:
                start = source + index * n_keys * 128 + key * 128
                for lane in range(LANES):
                    least = min(least, codes[start + lane])
                    most = max(most, codes[start + 64 + lane])
            codes[place + key * 128] = least
            codes[place + key * 128 + 64] = most
