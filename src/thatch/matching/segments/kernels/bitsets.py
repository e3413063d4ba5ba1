"""Kernels of bitsets: one bit a box, for what all sides on an attribute say of a value.

Along the line of an attribute a box's bit turns at the two edges of its side. Edges stand in the order of their cells;
the bits are kept before the first edge and after every `stride` edges, and a search turns the few that lie between.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import kernel
from thatch.compiled.pointers import int32_at, int64_at, uint16_at, uint32_at, uint64_at
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.on_demand import apart

__all__ = ["count_edges", "file_edges", "keep_bits", "sweep"]


@kernel
def count_edges(attribute, low, high, cell_at, counts):
    """Count the edges at every cell of every attribute; a side that reaches the end of its line has one."""
    for side in range(len(attribute)):
        first, past = cell_at[attribute[side]], cell_at[attribute[side] + 1]
        counts[first + np.int64(low[side])] += 1
        if first + np.int64(high[side]) + 1 < past:
            counts[first + np.int64(high[side]) + 1] += 1


@kernel
def file_edges(offsets, attribute, low, high, cell_at, ends, slots):
    """Write the box of every edge where `ends` says that those of a cell end; it says where they begin after that."""
    for box in range(len(offsets) - 2, -1, -1):
        for side in range(offsets[box], offsets[box + 1]):
            first, past = cell_at[attribute[side]], cell_at[attribute[side] + 1]
            cell = first + np.int64(low[side])
            ends[cell] -= 1
            slots[ends[cell]] = box
            cell = first + np.int64(high[side]) + 1
            if cell < past:
                ends[cell] -= 1
                slots[ends[cell]] = box


@kernel
def keep_bits(offsets, attribute, layout, slots, bits):
    """Fill the bits that are kept: at first of those boxes that have no side on an attribute, then as they turn."""
    one = np.uint64(1)
    words, stride = layout[f.BITSET_ROW], layout[f.BITSET_STRIDE]
    attributes = (len(layout) - f.FIRST_BITSET) // f.BITSET_WIDTH
    boxes = len(offsets) - 1
    for local in range(attributes):
        row = layout[f.FIRST_BITSET + local * f.BITSET_WIDTH + f.KEPT_AT] * words
        for box in range(boxes):
            bits[row + (box >> 6)] |= one << np.uint64(box & 63)
    for box in range(boxes):
        for side in range(offsets[box], offsets[box + 1]):
            at = f.FIRST_BITSET + np.int64(attribute[side]) * f.BITSET_WIDTH
            bits[layout[at + f.KEPT_AT] * words + (box >> 6)] &= ~(one << np.uint64(box & 63))
    for local in range(attributes):
        at = f.FIRST_BITSET + local * f.BITSET_WIDTH
        row = layout[at + f.KEPT_AT] * words
        for step in range(layout[at + f.EDGES] // stride):
            for word in range(words):
                bits[row + words + word] = bits[row + word]
            row += words
            first = layout[at + f.EDGES_AT] + step * stride
            for edge in range(first, first + stride):
                bits[row + (slots[edge] >> 6)] ^= one << np.uint64(slots[edge] & 63)


@apart(f.BITSETS)
def sweep(desc, context, flags, moment):
    """Add all living boxes that hold an event of single values to PLACES; return whether to stop."""
    layout, starts = int64_at(desc, f.BITSET_LAYOUT), int32_at(desc, f.BITSET_STARTS)
    slots, bits = int32_at(desc, f.BITSET_SLOTS), uint64_at(desc, f.BITSET_BITS)
    claims, died = uint32_at(desc, f.CLAIMS), int64_at(desc, f.DIED)
    has_deaths = int64_at(desc, f.DEATHS)[0] > 0
    low = uint16_at(context, f.LOW)
    left, own = uint64_at(context, f.SWEPT), uint64_at(context, f.TURNED)
    places, counts = int64_at(context, f.PLACES), int64_at(context, f.COUNTS)
    words, stride = layout[f.BITSET_ROW], layout[f.BITSET_STRIDE]
    one = np.uint64(1)
    for word in range(words):
        left[word] = ~np.uint64(0)
    for local in range(desc[f.ATTRIBUTES]):
        at = f.FIRST_BITSET + local * f.BITSET_WIDTH
        first_edge, edges = layout[at + f.EDGES_AT], layout[at + f.EDGES]
        past = np.int64(starts[layout[at + f.CELLS_AT] + np.int64(low[local]) + 1])
        step = (past - first_edge + (stride >> 1)) // stride  # the nearest that is kept
        step = step if step <= edges // stride else edges // stride
        row = (layout[at + f.KEPT_AT] + step) * words
        for word in range(words):
            own[word] = bits[row + word]
        kept = first_edge + step * stride
        for edge in range(past if past < kept else kept, kept if past < kept else past):
            slot = np.int64(slots[edge])
            own[slot >> 6] ^= one << np.uint64(slot & 63)
        for word in range(words):
            left[word] &= own[word]
    sure = counts[f.SURE]
    for word in range(words):
        found = left[word]
        while found != 0:
            slot = (word << 6) + np.int64(trailing_zeros(found))
            found &= found - one
            if has_deaths and died[slot] <= moment:
                continue
            places[sure] = np.int64(claims[slot]) >> 1
            sure += 1
    counts[f.LOOKED] += sure - counts[f.SURE]
    is_found = sure > counts[f.SURE]
    counts[f.SURE] = sure
    return np.int64(1) if is_found and flags & f.STOP else np.int64(0)
