"""Kernels of bitsets: one bit a box, for what all sides on an attribute say of a value.

Along the line of an attribute a box's bit turns at the two edges of its side. Edges stand in the order of their cells;
the bits are kept before the first edge and after every `stride` edges, and a search turns the few that lie between.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import kernel
from thatch.matching.segments import records as r

__all__ = ["count_edges", "file_edges", "keep_bits", "sweep"]


@kernel
def count_edges(attribute, low, high, cell_at, counts):
    """Count the edges at every cell of every attribute; a side that reaches the end of its line has only one."""
    for side in range(len(attribute)):
        first, past = cell_at[attribute[side]], cell_at[attribute[side] + 1]
        counts[first + np.int64(low[side])] += 1
        if first + np.int64(high[side]) + 1 < past:
            counts[first + np.int64(high[side]) + 1] += 1


@kernel
def file_edges(offsets, attribute, low, high, cell_at, ends, boxes):
    """Write the box of every edge; `ends` has where the edges of each cell end, and afterwards where they begin."""
    for box in range(len(offsets) - 2, -1, -1):
        for side in range(offsets[box], offsets[box + 1]):
            first, past = cell_at[attribute[side]], cell_at[attribute[side] + 1]
            cell = first + np.int64(low[side])
            ends[cell] -= 1
            boxes[ends[cell]] = box
            cell = first + np.int64(high[side]) + 1
            if cell < past:
                ends[cell] -= 1
                boxes[ends[cell]] = box


@kernel
def keep_bits(offsets, attribute, table, edge_boxes, bits):
    """Fill the rows of bits that are kept: first the boxes without a side on an attribute, then as edges turn them."""
    one = np.uint64(1)
    layout = r.BitsetLayout(table, 0)
    words, stride, rows = layout.n_words, layout.stride, layout.attributes
    attributes = (len(table) - 2) // r.BITSET_WIDTH
    boxes = len(offsets) - 1
    for local in range(attributes):
        row = r.BitsetAttribute(rows, local * r.BITSET_WIDTH).kept_at * words
        for box in range(boxes):
            bits[row + (box >> 6)] |= one << np.uint64(box & 63)
    for box in range(boxes):
        for side in range(offsets[box], offsets[box + 1]):
            row = r.BitsetAttribute(rows, np.int64(attribute[side]) * r.BITSET_WIDTH).kept_at * words
            bits[row + (box >> 6)] &= ~(one << np.uint64(box & 63))
    for local in range(attributes):
        own = r.BitsetAttribute(rows, local * r.BITSET_WIDTH)
        row = own.kept_at * words
        for step in range(own.n_edges // stride):
            for word in range(words):
                bits[row + words + word] = bits[row + word]
            row += words
            first = own.edges_at + step * stride
            for edge in range(first, first + stride):
                bits[row + (edge_boxes[edge] >> 6)] ^= one << np.uint64(edge_boxes[edge] & 63)


@r.PARTS.part(r.BITSETS)
def sweep(segment: r.SegmentRecord, context: r.SearchContext, flags: int, moment: int) -> int:
    """Add the slots of all living boxes that hold an event of single values; return whether to stop."""
    layout, has_deaths = segment.bitset_layout, segment.deaths[0] > 0
    left, own, counts = context.bits_left, context.bits_own, context.counts
    words, stride, rows = layout.n_words, layout.stride, layout.attributes
    one = np.uint64(1)
    for word in range(words):
        left[word] = ~np.uint64(0)
    for local in range(segment.n_attributes):
        attribute = r.BitsetAttribute(rows, local * r.BITSET_WIDTH)
        first_edge, edges = attribute.edges_at, attribute.n_edges
        past = np.int64(segment.bitset_starts[attribute.cells_at + np.int64(context.low[local]) + 1])
        step = (past - first_edge + (stride >> 1)) // stride  # the nearest row that is kept
        step = step if step <= edges // stride else edges // stride
        row = (attribute.kept_at + step) * words
        for word in range(words):
            own[word] = segment.bitset_bits[row + word]
        kept = first_edge + step * stride
        for edge in range(past if past < kept else kept, kept if past < kept else past):
            box = np.int64(segment.bitset_boxes[edge])
            own[box >> 6] ^= one << np.uint64(box & 63)
        for word in range(words):
            left[word] &= own[word]
    sure = counts.sure
    for word in range(words):
        found = left[word]
        while found != 0:
            box = (word << 6) + np.int64(trailing_zeros(found))
            found &= found - one
            if has_deaths and segment.died[box] <= moment:
                continue
            context.slots[sure] = np.int64(segment.claims[box]) >> 1
            sure += 1
            if flags & r.STOP:
                counts.candidates += 1
                counts.sure = sure
                return np.int64(1)
    counts.candidates += sure - counts.sure
    counts.sure = sure
    return np.int64(0)
