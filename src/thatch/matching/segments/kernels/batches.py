"""Kernels for batches: one search for each event or, for segments that most events must read whole, masks.

With masks, 512 events are tested at once against one box: every cell of every attribute has a mask of the events at or
below it and one of the events at or above it, and a box is the AND of two masks for each side.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count, masks512, trailing_zeros, transpose64
from thatch.compiled.decorators import kernel, subkernel
from thatch.matching.segments.kernels.cells import wide_code
from thatch.matching.segments.kernels.rows import cell_of, forget_rows
from thatch.matching.segments.kernels.search import search, sorted_unique
from thatch.matching.segments.records import MIXED_SIDES, UNORDERED, GroupRecord, SearchContext, SegmentRecord

__all__ = [
    "DENSE", "EVENTS", "MASKS", "collect_batch", "count_grid", "emit_grid", "file_pairs", "fill_masks",
    "lay_out", "match_masks",
]  # fmt: skip

WORDS = 8  # of a mask
EVENTS = 64 * WORDS
MASKS = 67 * WORDS + 64  # words that `match_masks` needs to work in
KEY, SECOND = 65 * WORDS + 64, 66 * WORDS + 64  # in those: masks of a key side, and of another side beside it
DENSE = 512  # matches of a block from which on it is quicker to transpose all bits


@subkernel
def _text_of(kind, code, offsets):
    """Where the text of a value begins, and how long it is; nothing if it is none."""
    return (offsets[code], offsets[code + 1] - offsets[code]) if kind == 6 else (np.int64(0), np.int64(0))


@subkernel
def _file_event(context, event, attribute, classes, numbers, codes, offsets):
    """Write one event as the rows that `search` reads; return how many attributes it has."""
    has_delta = context.n_deltas > 0
    count = 0
    for column in range(len(attribute)):
        kind = np.int64(classes[column, event])
        which = attribute[column]
        if kind == 0 or which >= context.heads_length:
            continue
        start, length = _text_of(kind, codes[column, event], offsets)
        context.row_class[count] = kind
        context.row_numbers[count] = numbers[column, event]
        context.row_text_at[count], context.row_text_length[count] = start, length
        context.row_next[count] = -1
        context.heads[which] = count
        context.touched[count] = which
        if has_delta:
            wide = wide_code(kind, numbers[column, event], context.words, start, length)
            context.wide_low[which], context.wide_high[which] = wide, wide
        count += 1
    return count


@kernel
def collect_batch(
    table, attribute, classes, numbers, codes, offsets, first, flags, moment, newest, out_slots, out_counts, out_pending
):  # fmt: skip
    """Search for events from `first` on, until all are done or the room for matches might run out.

    Returns the first event that is not done, how many slots and how many triples to verify (event, source, owner)
    there are. Every event may match everything, so that there must be room for that.
    """
    context = SearchContext(table, 0)
    counts = context.counts
    room = context.slots_length
    used = waiting = np.int64(0)
    event = first
    while event < classes.shape[1] and used + room <= len(out_slots) and waiting + room <= len(out_pending):
        counts.sure = 0
        counts.waiting = 0
        touched = _file_event(context, event, attribute, classes, numbers, codes, offsets)
        search(context, touched, flags, moment, newest)
        forget_rows(context, touched)
        found = counts.sure
        if flags & UNORDERED == 0:
            found = sorted_unique(context, found)
        for index in range(found):
            out_slots[used + index] = context.slots[index]
        used += found
        for index in range(counts.waiting):
            out_pending[waiting, 0] = event
            out_pending[waiting, 1] = context.pending[index] >> 32
            out_pending[waiting, 2] = context.pending[index] & 0xFFFFFFFF
            waiting += 1
        out_counts[event] = found
        counts.events += 1
        counts.matches += found
        event += 1
    return event, used, waiting


# --- masks ----------------------------------------------------------------------------------------------------------


@kernel
def fill_masks(
    table, attribute, classes, numbers, codes, offsets, blob, first, count, cell_at, out_below, out_above
):
    """Write the masks of the events `first` to `first + count`: at or below, and at or above, every cell."""
    segment = SegmentRecord(table, 0)
    attributes = segment.n_attributes
    one = np.uint64(1)
    out_below[:] = 0
    out_above[:] = 0
    column_of = np.full(attributes, -1, np.int64)
    for column in range(len(attribute)):
        if attribute[column] < segment.local_of_length and segment.local_of[attribute[column]] >= 0:
            column_of[segment.local_of[attribute[column]]] = column
    for local in range(attributes):
        base, cells = cell_at[local], cell_at[local + 1] - cell_at[local]
        column = column_of[local]
        for index in range(count):
            cell = np.int64(0)
            if column >= 0:
                event = first + index
                kind = np.int64(classes[column, event])
                start, length = _text_of(kind, codes[column, event], offsets)
                cell = np.int64(cell_of(segment, local, kind, numbers[column, event], blob, start, length))
            at = (base + cell) * WORDS + (index >> 6)
            bit = one << np.uint64(index & 63)
            out_below[at] |= bit
            out_above[at] |= bit
        for cell in range(1, cells):
            for word in range(WORDS):
                out_below[(base + cell) * WORDS + word] |= out_below[(base + cell - 1) * WORDS + word]
        for cell in range(cells - 2, -1, -1):
            for word in range(WORDS):
                out_above[(base + cell) * WORDS + word] |= out_above[(base + cell + 1) * WORDS + word]


@subkernel
def _narrow(mask, at, base, lo, hi, below, above):
    """Keep only those events of a mask that lie inside a side; return whether any is left."""
    return masks512(mask, at, above, (base + lo) * WORDS, below, (base + hi) * WORDS) != 0


@subkernel
def _copy(mask, target, source):
    """Copy a mask; slower with a slice."""
    for word in range(WORDS):
        mask[target + word] = mask[source + word]


@subkernel
def _transposed(mask, lanes, out_grid, grid_at):
    """Turn the masks of 64 boxes, those of `lanes`, into a row of the grid: a word per event."""
    one = np.uint64(1)
    column = mask[WORDS * 65 : WORDS * 65 + 64]
    for word in range(WORDS):
        for lane in range(64):
            is_in = (lanes >> np.uint64(lane)) & one
            column[lane] = mask[WORDS * (lane + 1) + word] if is_in else np.uint64(0)
        transpose64(column, 0, out_grid, grid_at + (word << 6))


@subkernel
def _listed(mask, lanes, first_box, claims, used, out_events, out_slots):
    """Write the same as pairs of event and slot, from `used` on; return where they end."""
    one = np.uint64(1)
    while lanes != 0:
        lane = np.int64(trailing_zeros(lanes))
        lanes &= lanes - one
        slot = np.int32(claims[first_box + lane] >> 1)
        for word in range(WORDS):
            events = mask[WORDS * (lane + 1) + word]
            while events != 0:
                out_events[used] = (word << 6) + np.int64(trailing_zeros(events))
                out_slots[used] = slot
                used += 1
                events &= events - one
    return used


@kernel
def match_masks(
    table, cell_at, below, above, everyone, moment, state, mask, out_grid, out_boxes, out_events, out_slots
):
    """Match all events against the boxes of an exact segment in which every owner has one box and no checks.

    A block of 64 boxes with many matches becomes a row of the grid: for every event a bit per box, and where the
    block's boxes begin. Of others every match becomes a pair of event and slot. `state` has the group and the block
    to go on with; returns how many rows and pairs there are, once all is done or there might not be room for another
    block. At the end the group is the number of groups.
    """
    segment = SegmentRecord(table, 0)
    codes, mixed, left = segment.codes, segment.mixed, segment.left
    one = np.uint64(1)
    n_groups = segment.groups_length // segment.group_width
    rows = used = np.int64(0)
    number, block = state[0], state[1]
    while number < n_groups:
        group = GroupRecord(segment.groups, number * segment.group_width)
        keys, blocks = group.n_keys, group.n_blocks
        while block < blocks:
            if rows == len(out_boxes) or used + DENSE > len(out_events):
                state[0], state[1] = number, block
                return rows, used
            zone = group.zones_at + (block >> 6) * keys * 128 + (block & 63)
            mask[:WORDS] = everyone
            alive = True
            for key in range(keys):
                base = cell_at[group.keys[key]]
                lo, hi = np.int64(codes[zone + key * 128]), np.int64(codes[zone + key * 128 + 64])
                if not _narrow(mask, 0, base, lo, hi, below, above):
                    alive = False
                    break
            if not alive:
                block += 1
                continue
            at = group.codes_at + block * keys * 128
            mixed_at = group.mixed_at
            first_box = group.first_box + (block << 6)
            bits = np.int64(0)
            lanes = np.uint64(0)
            shared_lo, shared_hi, shared_which = np.int64(-1), np.int64(-1), np.int64(-1)
            second_lo, second_hi = np.int64(-1), np.int64(-1)
            key_alive, second_alive = True, True
            for lane in range(min(np.int64(64), group.n_boxes - (block << 6))):
                box = first_box + lane
                at_lane = WORDS * (lane + 1)
                alive = segment.died[box] > moment
                key = np.int64(0)
                step = np.int64(0)
                if mixed_at < 0:
                    _copy(mask, at_lane, 0)
                elif alive:
                    # Boxes with equal first sides lie side by side, so that what they share is computed once.
                    where = mixed_at + block * (MIXED_SIDES * 192) + lane
                    lo, hi = np.int64(0), np.int64(0)
                    if keys > 0:
                        lo, hi = np.int64(codes[at + lane]), np.int64(codes[at + 64 + lane])
                    if lo != shared_lo or hi != shared_hi:
                        shared_lo, shared_hi, shared_which = lo, hi, np.int64(-1)
                        _copy(mask, KEY, 0)
                        key_alive = True
                        if keys > 0:
                            base = cell_at[group.keys[0]]
                            key_alive = _narrow(mask, KEY, base, lo, hi, below, above)
                    which = np.int64(mixed[where])
                    lo, hi = np.int64(mixed[where + 64]), np.int64(mixed[where + 128])
                    if key_alive and (which != shared_which or lo != second_lo or hi != second_hi):
                        shared_which, second_lo, second_hi = which, lo, hi
                        _copy(mask, SECOND, KEY)
                        second_alive = True
                        if lo != 0 or hi != 65535:
                            second_alive = _narrow(mask, SECOND, cell_at[which], lo, hi, below, above)
                    alive = key_alive and second_alive
                    if alive:
                        _copy(mask, at_lane, SECOND)
                    key = keys
                    step = np.int64(1) if lo != 0 or hi != 65535 else np.int64(MIXED_SIDES)
                while alive and key < keys:
                    base = cell_at[group.keys[key]]
                    where = at + key * 128 + lane
                    lo, hi = np.int64(codes[where]), np.int64(codes[where + 64])
                    alive = _narrow(mask, at_lane, base, lo, hi, below, above)
                    key += 1
                while alive and mixed_at >= 0 and step < MIXED_SIDES:
                    where = mixed_at + (block * MIXED_SIDES + step) * 192 + lane
                    lo, hi = np.int64(mixed[where + 64]), np.int64(mixed[where + 128])
                    if lo == 0 and hi == 65535:
                        break  # empty ones come last
                    alive = _narrow(mask, at_lane, cell_at[mixed[where]], lo, hi, below, above)
                    step += 1
                if not alive:
                    continue
                if mixed_at >= 0:
                    for side in range(3 * segment.left_at[box], 3 * segment.left_at[box + 1], 3):
                        base = cell_at[left[side]]
                        lo, hi = np.int64(left[side + 1]), np.int64(left[side + 2])
                        if not _narrow(mask, at_lane, base, lo, hi, below, above):
                            alive = False
                            break
                    if not alive:
                        continue
                lanes |= one << np.uint64(lane)
                for word in range(WORDS):
                    bits += np.int64(bit_count(mask[at_lane + word]))
            if bits >= DENSE:
                _transposed(mask, lanes, out_grid, rows * EVENTS)
                out_boxes[rows] = first_box
                rows += 1
            elif bits > 0:
                used = _listed(mask, lanes, first_box, segment.claims, used, out_events, out_slots)
            block += 1
        block = np.int64(0)
        number += 1
    state[0], state[1] = number, 0
    return rows, used


@kernel
def count_grid(grid, rows, out_counts):
    """Add to out_counts how many boxes every event matches."""
    for row in range(rows):
        for event in range(EVENTS):
            out_counts[event] += np.int64(bit_count(grid[row * EVENTS + event]))


@kernel
def emit_grid(grid, first_boxes, rows, slots, start, end, next_at, out_slots):
    """Write the slots that each event from `start` to `end` matches, from next_at[event] on.

    Eight events are read at a time, which lie in one line of the cache.
    """
    one = np.uint64(1)
    for group in range(start - start % 8, end, 8):
        lowest, highest = max(group, start), min(group + 8, end)
        for row in range(rows):
            first_box = first_boxes[row]
            for event in range(lowest, highest):
                bits = grid[row * EVENTS + event]
                if bits == 0:
                    continue
                where = next_at[event]
                while bits != 0:
                    out_slots[where] = slots[first_box + np.int64(trailing_zeros(bits))]
                    where += 1
                    bits &= bits - one
                next_at[event] = where


@kernel
def file_pairs(events, slots, start, end, next_at, out_slots):
    """Append the slots of pairs to those of their events, for events from `start` to `end`."""
    for pair in range(len(events)):
        event = np.int64(events[pair])
        if event < start or event >= end:
            continue
        out_slots[next_at[event]] = slots[pair]
        next_at[event] += 1


@kernel
def lay_out(counts, slots, next_at, out_slots):
    """Append slots, which come event by event, to what each event has already."""
    start = 0
    for event in range(len(counts)):
        where = next_at[event]
        for step in range(counts[event]):
            out_slots[where + step] = slots[start + step]
        start += counts[event]
        next_at[event] = where + counts[event]
