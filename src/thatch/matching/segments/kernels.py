"""Kernels of the segment index: find the boxes of a segment that an event may satisfy.

The event arrives as two code arrays `low` and `high`, one entry per local attribute: a box's side `[lo, hi]` passes
when `lo <= high[a]` and `hi >= low[a]`. For a point both are its cell; for a list they are the ends of its hull.

A segment is one array of addresses (`desc`, laid out by `segment.py`); the arrays themselves are kept alive by their
owner for as long as a call runs.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from thatch.matching.segments.vectors.kernels import (
    address,
    inlined,
    kernel,
    mixed64,
    sides64,
    trailing_zeros,
)

__all__ = ["collect", "grid_cell"]

FIRST_NUMBER = 5  # cell of numbers below every value of an attribute's table
FIRST_TEXT = 6  # the same for texts, past the cells of numbers


# --- an event's cells --------------------------------------------------------------------------------------------


@inlined
def _count_below(table, start, end, value):
    """How many entries of a sorted part of a table are less than a value, without a branch to mispredict."""
    size = end - start
    place = start
    while size > 1:
        half = size >> 1
        place += half if table[place + half - 1] < value else 0
        size -= half
    if size == 1 and table[place] < value:
        place += 1
    return place - start


@inlined
def grid_cell(value, first, scale, last):
    """Which of the equal steps between the ends of an attribute's numbers a value falls into."""
    step = (value - first) * scale
    return last if step >= last else np.int64(step) if step > 0 else 0


@inlined
def number_cell(numbers, start, end, grid, grid_start, grid_end, scale, value):
    """The cell of a number: 2 i + 1 on the i-th value of the table, 2 i between the one before and it.

    The grid says between which entries to look, so that a search takes a step or two and not a dozen.
    """
    low, high = start, end
    if grid_end - grid_start > 1 and value - value == 0:
        step = grid_start + grid_cell(value, numbers[start], scale, grid_end - grid_start - 2)
        low, high = start + grid[step], start + grid[step + 1]
    place = low + _count_below(numbers, low, high, value)
    is_equal = place < end and numbers[place] == value
    return FIRST_NUMBER + 2 * (place - start) + (1 if is_equal else 0)


@inlined
def _text_key(blob, start, end):
    """The first eight bytes of a text as a number that sorts as they do."""
    key = np.uint64(0)
    for step in range(8):
        byte = np.uint64(blob[start + step]) if start + step < end else np.uint64(0)
        key = (key << np.uint64(8)) | byte
    return key


@inlined
def _compare_tails(blob, start, end, other, other_start, other_end):
    """-1, 0 or 1 as one text sorts before, with or after another."""
    size = min(end - start, other_end - other_start)
    for step in range(size):
        a, b = blob[start + step], other[other_start + step]
        if a != b:
            return -1 if a < b else 1
    return (end - start > other_end - other_start) - (end - start < other_end - other_start)


@inlined
def text_cell(keys, offsets, blob, start, end, words, at, length):
    """The cell of a text among texts `start` to `end` of a table, counted as `number_cell` counts."""
    key = _text_key(words, at, at + length)
    place = start + _count_below(keys, start, end, key)
    while place < end and keys[place] == key:
        order = _compare_tails(blob, offsets[place], offsets[place + 1], words, at, at + length)
        if order == 0:
            return 2 * (place - start) + 1
        if order > 0:
            break
        place += 1
    return 2 * (place - start)


# --- matching one event --------------------------------------------------------------------------------------------

# Fields of a group's row: number of keys, of blocks and of boxes, where its codes and two levels of zones begin, its
# first box among all, where its mixed sides begin (-1: it has none), then the keys.
KEYS, BLOCKS, BOXES, CODES, ZONES, ZONES2, FIRST_SLOT, MIXED, FIRST_KEY = range(9)
SLOTS = 3  # mixed sides that a box keeps in its block; what is left over stands in `left_*`
DEAD, VERIFY = 1, 2  # flags of a subscription
STOP, NUMERIC = 2, 4  # flags of an event
NO, YES, MAYBE = 0, 1, 2
JOINT = 1 << 30  # in the code of a value: whether it counts depends on the values beside it in a list


@inlined
def _alive(codes, at, groups, group, low, high):
    """One bit for each of 64 boxes, or zones of them, whose key sides pass."""
    lanes = ~np.uint64(0)
    for key in range(groups[group, KEYS]):
        which = groups[group, FIRST_KEY + key]
        lanes &= sides64(codes, at + key * 128, low[which], high[which])
        if lanes == 0:
            break
    return lanes


@inlined
def _encode(
    row, attribute, kind, is_joint, number, words, start, length, tables, codes, cells, chains, touched, count
):
    """Put one value of the event into the code arrays; return how many attributes are touched by now."""
    (
        local_of,
        number_at,
        numbers,
        grid_at,
        grid,
        grid_scale,
        text_at,
        text_keys,
        text_offsets,
        text_blob,
        shifts,
    ) = tables
    low, high, strict_low, strict_high = codes
    cell_low, cell_high = cells
    heads, joints, row_cells, row_next = chains
    if attribute < 0 or attribute >= len(local_of) or local_of[attribute] < 0:
        return count
    local = local_of[attribute]
    cell = np.int32(kind)
    if kind == 5:
        cell = np.int32(
            number_cell(
                numbers, number_at[local], number_at[local + 1],
                grid, grid_at[local], grid_at[local + 1], grid_scale[local], number,
            )
        )  # fmt: skip
    elif kind == 6:
        inside = text_cell(
            text_keys, text_offsets, text_blob, text_at[local], text_at[local + 1], words, start, length
        )
        cell = np.int32(FIRST_TEXT + 2 * (number_at[local + 1] - number_at[local]) + inside)
    row_cells[row] = cell
    row_next[row] = heads[local]
    if heads[local] < 0:
        touched[count] = local
        count += 1
        cell_low[local] = cell
        cell_high[local] = cell
    else:
        cell_low[local] = min(cell_low[local], cell)
        cell_high[local] = max(cell_high[local], cell)
    heads[local] = row
    if is_joint:
        joints[local] = 1
    shift = shifts[local]
    low[local] = np.uint16(cell_low[local] >> shift)
    high[local] = np.uint16(cell_high[local] >> shift)
    if row_next[row] >= 0 or joints[local] or (shift > 0 and high[local] == 0):
        strict_low[local] = 65535  # no code is that large: nothing is sure here
        strict_high[local] = 0
    elif shift == 0:
        strict_low[local] = low[local]
        strict_high[local] = high[local]
    else:
        strict_low[local] = low[local] + np.uint16(1)
        strict_high[local] = high[local] - np.uint16(1)
    return count


@inlined
def _verdict(box, sides, cells, chains):
    """NO, YES, or MAYBE: every side holds, but not all of them surely for the same elements of a list."""
    offsets, attributes, lo, hi = sides
    cell_low, cell_high = cells
    heads, joints, row_cells, row_next = chains
    result = YES
    for side in range(offsets[box], offsets[box + 1]):
        which = attributes[side]
        first, last = np.int64(lo[side]), np.int64(hi[side])
        row = heads[which]
        if row < 0:  # missing, which is cell 0
            if first > 0:
                return NO
        elif joints[which]:
            if first > cell_high[which] or last < cell_low[which]:
                return NO
            result = MAYBE
        else:
            while row >= 0 and not first <= row_cells[row] <= last:
                row = row_next[row]
            if row < 0:
                return NO
    return result


@inlined
def _left_pass(box, left, low, high):
    offsets, attributes, lo, hi = left
    for side in range(offsets[box], offsets[box + 1]):
        which = attributes[side]
        if lo[side] > high[which] or hi[side] < low[which]:
            return False
    return True


# Fields of a context: addresses and sizes of all that a call needs, so that it takes one array and is quick to make.
(
    DESCS, N_SEGMENTS, DESC_WIDTH, DOUBLES, INFO, WORDS,
    LOW, HIGH, STRICT_LOW, STRICT_HIGH, CELL_LOW, CELL_HIGH, HEADS, JOINTS, TOUCHED, ROOM,
    ROW_CELLS, ROW_NEXT, ROW_ROOM,
    BITS, SUMMARY, N_SUMMARY, FIRST_PLACE, PLACES, TO_VERIFY, COUNTS, CONTEXT_SIZE,
) = range(27)  # fmt: skip


@kernel
def collect(context, rows, flags):
    """What an event matches in every segment; returns the number of sure matches plus 2^32 times those to verify.

    Returns -1 for a NUMERIC event with a number that may have been rounded, having done nothing.

    Parameters
    ----------
    context : addresses of
        the segments' descriptions, as `segment.py` lays them out;
        the event: a number per row; behind them `8 * attribute + class` per row, then the length of each text in
        order; and the texts. An attribute may have several rows (a list), which are chained: heads are -1 and joints
        0 before and after; a negative attribute says nothing;
        code arrays of zeros, room for cells, and for touched attributes;
        a bit per place, and a bit per word of those, all zero before and after;
        room for the places of sure matches, in order, for segment and subscription of those to be verified, and
        for a count of the boxes looked at closely
    rows, flags : how many values; NUMERIC if all are numbers, STOP to stop at the first match
    """
    descs = carray(address(context[DESCS]), (context[N_SEGMENTS], context[DESC_WIDTH]), np.int64)
    doubles = carray(address(context[DOUBLES]), (1,), np.float64)
    info = carray(address(context[INFO]), (1,), np.int32)
    words = carray(address(context[WORDS]), (1,), np.uint8)
    room = context[ROOM]
    codes = (
        carray(address(context[LOW]), (room,), np.uint16),
        carray(address(context[HIGH]), (room,), np.uint16),
        carray(address(context[STRICT_LOW]), (room,), np.uint16),
        carray(address(context[STRICT_HIGH]), (room,), np.uint16),
    )
    cells = (
        carray(address(context[CELL_LOW]), (room,), np.int32),
        carray(address(context[CELL_HIGH]), (room,), np.int32),
    )
    touched = carray(address(context[TOUCHED]), (room,), np.int32)
    chains = (
        carray(address(context[HEADS]), (room,), np.int32),
        carray(address(context[JOINTS]), (room,), np.uint8),
        carray(address(context[ROW_CELLS]), (context[ROW_ROOM],), np.int32),
        carray(address(context[ROW_NEXT]), (context[ROW_ROOM],), np.int32),
    )
    places = carray(address(context[PLACES]), (1,), np.int64)
    verify = carray(address(context[TO_VERIFY]), (1,), np.int64)
    counts = carray(address(context[COUNTS]), (3,), np.int64)
    counts[0] = 0
    counts[1] = 0
    if flags & NUMERIC:
        for row in range(rows):
            # An integer beyond this may have been rounded on its way here.
            if abs(doubles[row]) >= 9007199254740992.0:
                return -1
    for segment in range(descs.shape[0]):
        if _collect_one(
            descs[segment],
            segment,
            doubles,
            info,
            words,
            rows,
            flags,
            codes,
            cells,
            chains,
            touched,
            places,
            verify,
            counts,
        ):
            break
    bitmap = (
        carray(address(context[BITS]), (1,), np.uint64),
        carray(address(context[SUMMARY]), (context[N_SUMMARY],), np.uint64),
        context[FIRST_PLACE],
    )
    counts[0] = _sorted_unique(bitmap, places, counts[0])
    return counts[0] + (counts[1] << 32)


@kernel
def _collect_one(
    desc, segment, doubles, info, words, rows, flags, event_codes, event_cells, chains, touched,
    out_places, out_verify, out_counts,
):  # fmt: skip
    attributes, n_groups, width = desc[0], desc[1], desc[2]
    is_narrow, is_exact = desc[3] != 0, desc[4] != 0
    tables = (
        carray(address(desc[10]), (desc[5],), np.int32),
        carray(address(desc[11]), (attributes + 1,), np.int64),
        carray(address(desc[12]), (1,), np.float64),
        carray(address(desc[33]), (attributes + 1,), np.int64),
        carray(address(desc[34]), (1,), np.int32),
        carray(address(desc[35]), (attributes,), np.float64),
        carray(address(desc[13]), (attributes + 1,), np.int64),
        carray(address(desc[14]), (1,), np.uint64),
        carray(address(desc[15]), (1,), np.int64),
        carray(address(desc[16]), (1,), np.uint8),
        carray(address(desc[17]), (attributes,), np.uint8),
    )
    group_at = carray(address(desc[18]), (attributes + 2,), np.int32)
    groups = carray(address(desc[19]), (n_groups, width), np.int64)
    codes = carray(address(desc[20]), (1,), np.uint16)
    mixed = carray(address(desc[21]), (1,), np.uint16)
    left = (
        carray(address(desc[22]), (1,), np.int32),
        carray(address(desc[23]), (1,), np.uint16),
        carray(address(desc[24]), (1,), np.uint16),
        carray(address(desc[25]), (1,), np.uint16),
    )
    sides = (
        carray(address(desc[26]), (1,), np.int64),
        carray(address(desc[27]), (1,), np.uint16),
        carray(address(desc[28]), (1,), np.uint32),
        carray(address(desc[29]), (1,), np.uint32),
    )
    box_subscription = carray(address(desc[30]), (1,), np.int32)
    subscription_flags = carray(address(desc[31]), (1,), np.uint8)
    subscription_place = carray(address(desc[32]), (1,), np.int64)
    low, high, strict_low, strict_high = event_codes
    heads, joints, _, row_next = chains

    count = start = text = 0
    base = 2 * rows  # numbers take the room of two integers each
    for row in range(rows):
        code = info[base + row]
        length = 0
        is_joint = code >= JOINT
        if is_joint:
            code -= np.int32(JOINT)
        if flags & NUMERIC:
            code += np.int32(5 if doubles[row] == doubles[row] else 4)
        elif code & 7 == 6:
            length = info[base + rows + text]
            text += 1
        count = _encode(
            row, code >> 3, code & 7, is_joint, doubles[row], words, start, length, tables,
            event_codes, event_cells, chains, touched, count,
        )  # fmt: skip
        start += length
    # Where codes are exact and the event has no lists, what passes the codes is sure.
    is_loose = not is_exact
    for index in range(count):
        is_loose |= row_next[heads[touched[index]]] >= 0 or joints[touched[index]] != 0
    one = np.uint64(1)
    stopped = False
    looked = 0
    for turn in range(count + 1):  # the attributes of the event, then the boxes that need none
        local = touched[turn] if turn < count else attributes
        for group in range(group_at[local], group_at[local + 1]):
            keys, blocks = groups[group, KEYS], groups[group, BLOCKS]
            zones = (blocks + 63) >> 6
            for wide in range((zones + 63) >> 6):
                alive2 = ~np.uint64(0)
                if zones > 1:
                    alive2 = _alive(
                        codes, groups[group, ZONES2] + wide * keys * 128, groups, group, low, high
                    )
                while alive2 != 0 and not stopped:
                    zone = (wide << 6) + np.int64(trailing_zeros(alive2))
                    alive2 &= alive2 - one
                    if zone >= zones:
                        break
                    alive1 = _alive(codes, groups[group, ZONES] + zone * keys * 128, groups, group, low, high)
                    while alive1 != 0 and not stopped:
                        block = (zone << 6) + np.int64(trailing_zeros(alive1))
                        alive1 &= alive1 - one
                        if block >= blocks:
                            break
                        at = groups[group, CODES] + block * keys * 128
                        lanes = _alive(codes, at, groups, group, low, high)
                        mixed_at = groups[group, MIXED]
                        if mixed_at >= 0:
                            mixed_at += block * SLOTS * 192
                            for step in range(SLOTS):
                                if lanes == 0:
                                    break
                                lanes = mixed64(mixed, mixed_at + step * 192, low, high, lanes, is_narrow)
                        if lanes == 0:
                            continue
                        sure = lanes
                        if is_loose:
                            sure &= _alive(codes, at, groups, group, strict_low, strict_high)
                            if mixed_at >= 0:
                                for step in range(SLOTS):
                                    sure = mixed64(
                                        mixed, mixed_at + step * 192, strict_low, strict_high, sure, is_narrow
                                    )
                        slot = groups[group, FIRST_SLOT] + (block << 6)
                        n_boxes = groups[group, BOXES] - (block << 6)
                        while lanes != 0:
                            lane = np.int64(trailing_zeros(lanes))
                            bit = lanes & (~lanes + one)
                            lanes ^= bit
                            looked += 1
                            if lane >= n_boxes:
                                break
                            box = slot + lane
                            if mixed_at >= 0 and not _left_pass(box, left, low, high):
                                continue
                            verdict = YES
                            if is_loose and (
                                sure & bit == 0 or (mixed_at >= 0 and left[0][box] < left[0][box + 1])
                            ):
                                verdict = _verdict(box, sides, event_cells, chains)
                                if verdict == NO:
                                    continue
                            subscription = box_subscription[box]
                            flag = subscription_flags[subscription]
                            if flag & DEAD:
                                continue
                            if flag & VERIFY or verdict == MAYBE:
                                out_verify[2 * out_counts[1]] = segment
                                out_verify[2 * out_counts[1] + 1] = subscription
                                out_counts[1] += 1
                                continue
                            out_places[out_counts[0]] = subscription_place[subscription]
                            out_counts[0] += 1
                            if flags & STOP:
                                stopped = True
                                break
            if stopped:
                break
        if stopped:
            break
    for index in range(count):
        local = touched[index]
        low[local] = 0
        high[local] = 0
        strict_low[local] = 0
        strict_high[local] = 0
        heads[local] = -1
        joints[local] = 0
    out_counts[2] += looked
    return stopped


@inlined
def _sorted_unique(bitmap, places, count):
    """Sort places and drop repetitions, by setting a bit for each and reading the bits in order."""
    words, summary, first = bitmap
    one = np.uint64(1)
    if count < 2:
        return count
    for index in range(count):
        place = places[index] - first
        words[place >> 6] |= one << np.uint64(place & 63)
        summary[place >> 12] |= one << np.uint64((place >> 6) & 63)
    kept = 0
    for upper in range(len(summary)):
        present = summary[upper]
        summary[upper] = 0
        while present != 0:
            word = (upper << 6) + np.int64(trailing_zeros(present))
            present &= present - one
            bits = words[word]
            words[word] = 0
            base = first + (word << 6)
            while bits != 0:
                places[kept] = base + np.int64(trailing_zeros(bits))
                kept += 1
                bits &= bits - one
    return kept
