"""Kernels for batches: one search an event, or for segments where little is selective, all events as masks.

With masks, 512 events are tested at once against one box: for every attribute and cell there is a mask of the events
at or below it and one of those at or above it, and a box is the AND of two masks a side.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count, trailing_zeros
from thatch.compiled.decorators import kernel, subkernel
from thatch.compiled.pointers import (
    doubles_at,
    int32_at,
    int64_at,
    pointer_to,
    uint8_at,
    uint16_at,
    uint32_at,
)
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.cells import wide_code
from thatch.matching.segments.kernels.rows import cell_of, forget_rows
from thatch.matching.segments.kernels.search import search, sorted_unique
from thatch.matching.segments.kernels.vectors import masks512, transpose64

__all__ = [
    "DENSE",
    "EVENTS",
    "MASKS",
    "collect_batch",
    "count_grid",
    "emit_grid",
    "fill_masks",
    "lay_out",
    "match_masks",
    "place_pairs",
]

WORDS = 8  # of a mask
EVENTS = 64 * WORDS
MASKS = 67 * WORDS + 64  # words that `match_masks` needs to work in
KEY, SECOND = (
    65 * WORDS + 64,
    66 * WORDS + 64,
)  # in those: the mask of a key side, and of another side beside it
DENSE = 512  # matches of a block from which on it is quicker to transpose all bits


@subkernel
def _file_event(context, event, attribute, classes, numbers, codes, offsets):
    """Put one event's values where `search` looks for them; return how many attributes there are."""
    row_numbers, row_class = doubles_at(context, f.ROW_NUMBERS), uint8_at(context, f.ROW_CLASS)
    text_at, text_length = int32_at(context, f.ROW_TEXT_AT), int32_at(context, f.ROW_TEXT_LENGTH)
    row_next, words = int32_at(context, f.ROW_NEXT), uint8_at(context, f.WORDS)
    heads, touched = int32_at(context, f.HEADS), int32_at(context, f.TOUCHED)
    wide_low, wide_high = uint16_at(context, f.WIDE_LOW), uint16_at(context, f.WIDE_HIGH)
    has_delta = context[f.DELTAS + 1] > 0
    count = 0
    for column in range(len(attribute)):
        kind = np.int64(classes[column, event])
        which = attribute[column]
        if kind == 0 or which >= context[f.HEADS + 1]:
            continue
        start, length = np.int64(0), np.int64(0)
        if kind == 6:
            code = codes[column, event]
            start, length = offsets[code], offsets[code + 1] - offsets[code]
        row_class[count] = kind
        row_numbers[count] = numbers[column, event]
        text_at[count], text_length[count] = start, length
        row_next[count] = -1
        heads[which] = count
        touched[count] = which
        if has_delta:
            wide = wide_code(kind, numbers[column, event], words, start, length)
            wide_low[which], wide_high[which] = wide, wide
        count += 1
    return count


@kernel
def collect_batch(
    context,
    attribute,
    classes,
    numbers,
    codes,
    offsets,
    first,
    flags,
    moment,
    newest,
    out_places,
    out_counts,
    out_pending,
):
    """Search for events from `first` on, until all are done or the room for matches might not be enough.

    Returns the first event that is not done, how many places and how many triples to verify (event, source, owner)
    there are. Every event may match everything, so that there must be room for that.
    """
    context = pointer_to(context)
    counts, places = int64_at(context, f.COUNTS), int64_at(context, f.PLACES)
    room = context[f.PLACES + 1]
    pending = int64_at(context, f.PENDING)
    used = waiting = np.int64(0)
    event = first
    while event < classes.shape[1] and used + room <= len(out_places) and waiting + room <= len(out_pending):
        counts[f.SURE] = 0
        counts[f.WAITING] = 0
        touched = _file_event(context, event, attribute, classes, numbers, codes, offsets)
        search(context, touched, flags, moment, newest)
        forget_rows(context, touched)
        found = counts[f.SURE]
        if flags & f.UNORDERED == 0:
            found = sorted_unique(context, found)
        for index in range(found):
            out_places[used + index] = places[index]
        used += found
        for index in range(counts[f.WAITING]):
            out_pending[waiting, 0] = event
            out_pending[waiting, 1] = pending[index] >> 32
            out_pending[waiting, 2] = pending[index] & 0xFFFFFFFF
            waiting += 1
        out_counts[event] = found
        counts[f.EVENTS] += 1
        counts[f.MATCHES] += found
        event += 1
    return event, used, waiting


# --- masks ----------------------------------------------------------------------------------------------------------


@kernel
def fill_masks(
    desc, attribute, classes, numbers, codes, offsets, blob, first, count, cell_at, out_below, out_above
):
    """Masks of the events `first` to `first + count` at or below, and at or above, every cell of every attribute."""
    local_of = int32_at(desc, f.LOCAL_OF)
    attributes = desc[f.ATTRIBUTES]
    one = np.uint64(1)
    out_below[:] = 0
    out_above[:] = 0
    column_of = np.full(attributes, -1, np.int64)
    for column in range(len(attribute)):
        if attribute[column] < desc[f.LOCAL_OF + 1] and local_of[attribute[column]] >= 0:
            column_of[local_of[attribute[column]]] = column
    for local in range(attributes):
        base, cells = cell_at[local], cell_at[local + 1] - cell_at[local]
        column = column_of[local]
        for index in range(count):
            cell = np.int64(0)
            if column >= 0:
                event = first + index
                kind = np.int64(classes[column, event])
                code = codes[column, event]
                start, length = np.int64(0), np.int64(0)
                if kind == 6:
                    start, length = offsets[code], offsets[code + 1] - offsets[code]
                cell = np.int64(cell_of(desc, local, kind, numbers[column, event], blob, start, length))
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
    """Keep of the events in a mask those inside a side; return whether any is left."""
    return masks512(mask, at, above, (base + lo) * WORDS, below, (base + hi) * WORDS) != 0


@subkernel
def _copy(mask, target, source):
    """Copy a mask; a slice would be copied with more care, which takes longer."""
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
def _listed(mask, lanes, slot, claims, used, out_events, out_places):
    """Write the same as pairs of event and place, from `used` on; return where they end."""
    one = np.uint64(1)
    while lanes != 0:
        lane = np.int64(trailing_zeros(lanes))
        lanes &= lanes - one
        place = np.int32(claims[slot + lane] >> 1)
        for word in range(WORDS):
            events = mask[WORDS * (lane + 1) + word]
            while events != 0:
                out_events[used] = (word << 6) + np.int64(trailing_zeros(events))
                out_places[used] = place
                used += 1
                events &= events - one
    return used


@kernel
def match_masks(
    desc, cell_at, below, above, everyone, moment, state, mask, out_grid, out_slots, out_events, out_places
):
    """Match all events against the boxes of an exact segment in which every owner has one box and no checks.

    A block of 64 boxes with many matches becomes a row of the grid: for every event a bit per box, and where the
    block's boxes begin. Of others every match becomes a pair of event and place. `state` has the group and the block
    to go on with; returns how many rows and pairs there are, once all is done or there might not be room for another
    block. At the end the group is the number of groups.
    """
    groups, width = int64_at(desc, f.GROUPS), desc[f.GROUP_WIDTH]
    codes, mixed = uint16_at(desc, f.CODES), uint16_at(desc, f.MIXED)
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    claims, died = uint32_at(desc, f.CLAIMS), int64_at(desc, f.DIED)
    one = np.uint64(1)
    n_groups = desc[f.GROUPS + 1] // width
    rows = used = np.int64(0)
    group, block = state[0], state[1]
    while group < n_groups:
        row = group * width
        keys, blocks = groups[row + f.GROUP_KEYS], groups[row + f.GROUP_BLOCKS]
        while block < blocks:
            if rows == len(out_slots) or used + DENSE > len(out_events):
                state[0], state[1] = group, block
                return rows, used
            zone = groups[row + f.GROUP_ZONES] + (block >> 6) * keys * 128 + (block & 63)
            mask[:WORDS] = everyone
            alive = True
            for key in range(keys):
                base = cell_at[groups[row + f.FIRST_KEY + key]]
                lo, hi = np.int64(codes[zone + key * 128]), np.int64(codes[zone + key * 128 + 64])
                if not _narrow(mask, 0, base, lo, hi, below, above):
                    alive = False
                    break
            if not alive:
                block += 1
                continue
            at = groups[row + f.GROUP_CODES] + block * keys * 128
            mixed_at = groups[row + f.GROUP_MIXED]
            slot = groups[row + f.FIRST_SLOT] + (block << 6)
            bits = np.int64(0)
            lanes = np.uint64(0)
            shared_lo, shared_hi, shared_which = np.int64(-1), np.int64(-1), np.int64(-1)
            second_lo, second_hi = np.int64(-1), np.int64(-1)
            key_alive, second_alive = True, True
            for lane in range(min(np.int64(64), groups[row + f.GROUP_BOXES] - (block << 6))):
                box = slot + lane
                at_lane = WORDS * (lane + 1)
                alive = died[box] > moment
                key = np.int64(0)
                step = np.int64(0)
                if mixed_at < 0:
                    _copy(mask, at_lane, 0)
                elif alive:
                    # Boxes that begin alike lie side by side, so that what they share is worked out once.
                    place = mixed_at + block * (f.SLOTS * 192) + lane
                    lo, hi = np.int64(0), np.int64(0)
                    if keys > 0:
                        lo, hi = np.int64(codes[at + lane]), np.int64(codes[at + 64 + lane])
                    if lo != shared_lo or hi != shared_hi:
                        shared_lo, shared_hi, shared_which = lo, hi, np.int64(-1)
                        _copy(mask, KEY, 0)
                        key_alive = True
                        if keys > 0:
                            base = cell_at[groups[row + f.FIRST_KEY]]
                            key_alive = _narrow(mask, KEY, base, lo, hi, below, above)
                    which = np.int64(mixed[place])
                    lo, hi = np.int64(mixed[place + 64]), np.int64(mixed[place + 128])
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
                    step = np.int64(1) if lo != 0 or hi != 65535 else np.int64(f.SLOTS)
                while alive and key < keys:
                    base = cell_at[groups[row + f.FIRST_KEY + key]]
                    lo, hi = (
                        np.int64(codes[at + key * 128 + lane]),
                        np.int64(codes[at + key * 128 + 64 + lane]),
                    )
                    alive = _narrow(mask, at_lane, base, lo, hi, below, above)
                    key += 1
                while alive and mixed_at >= 0 and step < f.SLOTS:
                    place = mixed_at + (block * f.SLOTS + step) * 192 + lane
                    lo, hi = np.int64(mixed[place + 64]), np.int64(mixed[place + 128])
                    if lo == 0 and hi == 65535:
                        break  # free slots come last
                    alive = _narrow(mask, at_lane, cell_at[mixed[place]], lo, hi, below, above)
                    step += 1
                if not alive:
                    continue
                if mixed_at >= 0:
                    for side in range(3 * left_at[box], 3 * left_at[box + 1], 3):
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
                out_slots[rows] = slot
                rows += 1
            elif bits > 0:
                used = _listed(mask, lanes, slot, claims, used, out_events, out_places)
            block += 1
        block = np.int64(0)
        group += 1
    state[0], state[1] = group, 0
    return rows, used


@kernel
def count_grid(grid, rows, out_counts):
    """Add to out_counts how many boxes every event matches."""
    for row in range(rows):
        for event in range(EVENTS):
            out_counts[event] += np.int64(bit_count(grid[row * EVENTS + event]))


@kernel
def emit_grid(grid, slots, rows, places, start, end, next_at, out_places):
    """Write the places of what each event from `start` to `end` matches from next_at[event] on.

    Eight events are read at a time, which lie in one line of the cache.
    """
    one = np.uint64(1)
    for group in range(start - start % 8, end, 8):
        lowest, highest = max(group, start), min(group + 8, end)
        for row in range(rows):
            slot = slots[row]
            for event in range(lowest, highest):
                bits = grid[row * EVENTS + event]
                if bits == 0:
                    continue
                place = next_at[event]
                while bits != 0:
                    out_places[place] = places[slot + np.int64(trailing_zeros(bits))]
                    place += 1
                    bits &= bits - one
                next_at[event] = place


@kernel
def place_pairs(events, places, start, end, next_at, out_places):
    """Put the places of pairs where those of their event go on; only of events from `start` to `end`."""
    for pair in range(len(events)):
        event = np.int64(events[pair])
        if event < start or event >= end:
            continue
        out_places[next_at[event]] = places[pair]
        next_at[event] += 1


@kernel
def lay_out(counts, places, next_at, out_places):
    """Put places that stand event by event behind what there is of each event already."""
    start = 0
    for event in range(len(counts)):
        place = next_at[event]
        for step in range(counts[event]):
            out_places[place + step] = places[start + step]
        start += counts[event]
        next_at[event] = place + counts[event]
