"""Kernels of the segment index: find the boxes of a segment that an event may satisfy.

The event arrives as two code arrays `low` and `high`, one entry per local attribute: a box's side `[lo, hi]` passes
when `lo <= high[a]` and `hi >= low[a]`. For a point both are its cell; for a list they are the ends of its hull.

Sixty-four boxes are tested at once. `sides64` compares one attribute of a block: sixty-four `lo` codes, then
sixty-four `hi` codes, sixteen bits each, and gives one bit a box. `mixed64` does so where every box has an attribute
of its own. Both are written in LLVM's portable vectors, which any processor runs; where AVX-512 is there and a
segment has few attributes, `mixed64` fetches the event's codes by a permute inside registers.

A segment is one array of addresses (`desc`, laid out by `segment.py`); the arrays themselves are kept alive by their
owner for as long as a call runs.
"""

from __future__ import annotations

import os
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "HAS_PERMUTE",
    "LANES",
    "collect",
    "emit_blocks",
    "fill_grid",
    "kd_order",
    "naive_scan",
    "order_sides",
]

LANES = 64
CACHE = os.environ.get("THATCH_KERNEL_CACHE", "1") == "1"
HAS_PERMUTE = bool(llvm.get_host_cpu_features().get("avx512bw")) and os.environ.get("THATCH_PORTABLE") != "1"
FIRST_NUMBER = 5  # cell of numbers below every value of an attribute's table
FIRST_TEXT = 6  # the same for texts, past the cells of numbers


def kernel(function: Any) -> Any:
    """Compile without the GIL; cached on disk."""
    return njit(cache=CACHE, nogil=True)(function)


def inlined(function: Any) -> Any:
    """Compile into the caller."""
    return njit(cache=CACHE, nogil=True, inline="always")(function)


# --- vectors -----------------------------------------------------------------------------------------------------

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_V64 = ir.VectorType(_I16, LANES)
_V32 = ir.VectorType(_I16, 32)


def _splat(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(_V64, ir.Undefined), value, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_V64, ir.Undefined), zeros)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, offset: Any, vector: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


@intrinsic
def sides64(typingctx, codes, offset, low, high):
    """One bit a box: `lo <= high` and `hi >= low`, with 64 `lo` at `offset` and 64 `hi` behind them."""
    signature = types.uint64(codes, types.int64, types.uint16, types.uint16)

    def codegen(context, builder, signature, args):
        array, at, low, high = args
        kind = signature.args[0]
        lo = builder.load(_pointer(context, builder, kind, array, at, _V64), align=2)
        past = builder.add(at, ir.Constant(_I64, LANES))
        hi = builder.load(_pointer(context, builder, kind, array, past, _V64), align=2)
        begins = builder.icmp_unsigned("<=", lo, _splat(builder, high))
        ends = builder.icmp_unsigned(">=", hi, _splat(builder, low))
        return builder.bitcast(builder.and_(begins, ends), _I64)

    return signature, codegen


@intrinsic
def _permuted64(typingctx, mixed, offset, low, high):
    """`mixed64` for at most 64 attributes: the event's codes stay in registers and are permuted (AVX-512 BW)."""
    signature = types.uint64(mixed, types.int64, low, high)

    def codegen(context, builder, signature, args):
        array, at, low, high = args
        kind = signature.args[0]
        permute = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_V32, [_V32, _V32, _V32]), "llvm.x86.avx512.vpermi2var.hi.512"
        )

        def half(array, kind, base, step):
            place = builder.add(base, ir.Constant(_I64, step))
            return builder.load(_pointer(context, builder, kind, array, place, _V32), align=2)

        zero = ir.Constant(_I64, 0)
        lows = [half(low, signature.args[2], zero, step) for step in (0, 32)]
        highs = [half(high, signature.args[3], zero, step) for step in (0, 32)]
        masks = []
        for step in (0, 32):
            which = half(array, kind, at, step)
            lo, hi = half(array, kind, at, 64 + step), half(array, kind, at, 128 + step)
            begins = builder.icmp_unsigned("<=", lo, builder.call(permute, [highs[0], which, highs[1]]))
            ends = builder.icmp_unsigned(">=", hi, builder.call(permute, [lows[0], which, lows[1]]))
            masks.append(builder.zext(builder.bitcast(builder.and_(begins, ends), _I32), _I64))
        return builder.or_(masks[0], builder.shl(masks[1], ir.Constant(_I64, 32)))

    return signature, codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Position of the lowest set bit."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def _address(typingctx, number):
    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), codegen


@inlined
def _gathered64(mixed, offset, low, high, lanes):
    """`mixed64` for any processor and any number of attributes: only the lanes still alive are looked at."""
    result = np.uint64(0)
    one = np.uint64(1)
    while lanes != 0:
        lane = np.int64(trailing_zeros(lanes))
        bit = lanes & (~lanes + one)
        lanes ^= bit
        which = mixed[offset + lane]
        if mixed[offset + 64 + lane] <= high[which] and mixed[offset + 128 + lane] >= low[which]:
            result |= bit
    return result


if HAS_PERMUTE:

    @inlined
    def mixed64(mixed, offset, low, high, lanes, is_narrow):
        """One bit a box, each with an attribute of its own: 64 attributes, 64 `lo`, 64 `hi` at `offset`."""
        if is_narrow:
            return lanes & _permuted64(mixed, offset, low, high)
        return _gathered64(mixed, offset, low, high, lanes)

else:

    @inlined
    def mixed64(mixed, offset, low, high, lanes, is_narrow):
        """One bit a box, each with an attribute of its own: 64 attributes, 64 `lo`, 64 `hi` at `offset`."""
        return _gathered64(mixed, offset, low, high, lanes)


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
VERIFY_ALL, STOP, NUMERIC = 1, 2, 4  # flags of an event


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
def _encode(attribute, kind, number, words, start, length, tables, codes, cells, touched, count):
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
    if cell_high[local] < 0:
        touched[count] = local
        count += 1
        cell_low[local] = cell
        cell_high[local] = cell
    else:
        cell_low[local] = min(cell_low[local], cell)
        cell_high[local] = max(cell_high[local], cell)
    shift = shifts[local]
    low[local] = np.uint16(cell_low[local] >> shift)
    high[local] = np.uint16(cell_high[local] >> shift)
    if shift == 0:
        strict_low[local] = low[local]
        strict_high[local] = high[local]
    elif high[local] == 0:
        strict_low[local] = 65535  # no code is that large: nothing is sure here
        strict_high[local] = 0
    else:
        strict_low[local] = low[local] + np.uint16(1)
        strict_high[local] = high[local] - np.uint16(1)
    return count


@inlined
def _passes_exactly(box, sides, cell_low, cell_high):
    offsets, attributes, lo, hi = sides
    for side in range(offsets[box], offsets[box + 1]):
        which = attributes[side]
        # An attribute that the event lacks lies at cell 0, where its arrays say -1.
        if np.int64(lo[side]) > max(cell_high[which], 0) or np.int64(hi[side]) < max(cell_low[which], 0):
            return False
    return True


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
    LOW, HIGH, STRICT_LOW, STRICT_HIGH, CELL_LOW, CELL_HIGH, TOUCHED, ROOM,
    BITS, SUMMARY, N_SUMMARY, FIRST_PLACE, PLACES, TO_VERIFY, COUNTS, CONTEXT_SIZE,
) = range(22)  # fmt: skip


@kernel
def collect(context, rows, flags):
    """What an event matches in every segment; returns the number of sure matches plus 2^32 times those to verify.

    Returns -1 for a NUMERIC event with a number that may have been rounded, having done nothing.

    Parameters
    ----------
    context : addresses of
        the segments' descriptions, as `segment.py` lays them out;
        the event: a number per row; behind them `8 * attribute + class` per row, then the length of each text in
        order; and the texts. An attribute may have several rows (a list); a negative one says nothing;
        code arrays of zeros, cell arrays of -1, and room for touched attributes;
        a bit per place, and a bit per word of those, all zero before and after;
        room for the places of sure matches, in order, for segment and subscription of those to be verified, and
        for a count of the boxes looked at closely
    rows, flags : how many values; NUMERIC if all are numbers, VERIFY_ALL if each match must be verified, STOP to stop
        at the first
    """
    descs = carray(_address(context[DESCS]), (context[N_SEGMENTS], context[DESC_WIDTH]), np.int64)
    doubles = carray(_address(context[DOUBLES]), (1,), np.float64)
    info = carray(_address(context[INFO]), (1,), np.int32)
    words = carray(_address(context[WORDS]), (1,), np.uint8)
    room = context[ROOM]
    codes = (
        carray(_address(context[LOW]), (room,), np.uint16),
        carray(_address(context[HIGH]), (room,), np.uint16),
        carray(_address(context[STRICT_LOW]), (room,), np.uint16),
        carray(_address(context[STRICT_HIGH]), (room,), np.uint16),
    )
    cells = (
        carray(_address(context[CELL_LOW]), (room,), np.int32),
        carray(_address(context[CELL_HIGH]), (room,), np.int32),
    )
    touched = carray(_address(context[TOUCHED]), (room,), np.int32)
    places = carray(_address(context[PLACES]), (1,), np.int64)
    verify = carray(_address(context[TO_VERIFY]), (1,), np.int64)
    counts = carray(_address(context[COUNTS]), (3,), np.int64)
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
            touched,
            places,
            verify,
            counts,
        ):
            break
    bitmap = (
        carray(_address(context[BITS]), (1,), np.uint64),
        carray(_address(context[SUMMARY]), (context[N_SUMMARY],), np.uint64),
        context[FIRST_PLACE],
    )
    counts[0] = _sorted_unique(bitmap, places, counts[0])
    return counts[0] + (counts[1] << 32)


@kernel
def _collect_one(
    desc, segment, doubles, info, words, rows, flags, event_codes, event_cells, touched,
    out_places, out_verify, out_counts,
):  # fmt: skip
    attributes, n_groups, width = desc[0], desc[1], desc[2]
    is_narrow, is_exact = desc[3] != 0, desc[4] != 0
    tables = (
        carray(_address(desc[10]), (desc[5],), np.int32),
        carray(_address(desc[11]), (attributes + 1,), np.int64),
        carray(_address(desc[12]), (1,), np.float64),
        carray(_address(desc[33]), (attributes + 1,), np.int64),
        carray(_address(desc[34]), (1,), np.int32),
        carray(_address(desc[35]), (attributes,), np.float64),
        carray(_address(desc[13]), (attributes + 1,), np.int64),
        carray(_address(desc[14]), (1,), np.uint64),
        carray(_address(desc[15]), (1,), np.int64),
        carray(_address(desc[16]), (1,), np.uint8),
        carray(_address(desc[17]), (attributes,), np.uint8),
    )
    group_at = carray(_address(desc[18]), (attributes + 2,), np.int32)
    groups = carray(_address(desc[19]), (n_groups, width), np.int64)
    codes = carray(_address(desc[20]), (1,), np.uint16)
    mixed = carray(_address(desc[21]), (1,), np.uint16)
    left = (
        carray(_address(desc[22]), (1,), np.int32),
        carray(_address(desc[23]), (1,), np.uint16),
        carray(_address(desc[24]), (1,), np.uint16),
        carray(_address(desc[25]), (1,), np.uint16),
    )
    sides = (
        carray(_address(desc[26]), (1,), np.int64),
        carray(_address(desc[27]), (1,), np.uint16),
        carray(_address(desc[28]), (1,), np.uint32),
        carray(_address(desc[29]), (1,), np.uint32),
    )
    box_subscription = carray(_address(desc[30]), (1,), np.int32)
    subscription_flags = carray(_address(desc[31]), (1,), np.uint8)
    subscription_place = carray(_address(desc[32]), (1,), np.int64)
    low, high, strict_low, strict_high = event_codes
    cell_low, cell_high = event_cells

    count = start = text = 0
    base = 2 * rows  # numbers take the room of two integers each
    for row in range(rows):
        code = info[base + row]
        length = 0
        if flags & NUMERIC:
            code += np.int32(5 if doubles[row] == doubles[row] else 4)
        elif code & 7 == 6:
            length = info[base + rows + text]
            text += 1
        count = _encode(
            code >> 3, code & 7, doubles[row], words, start, length, tables,
            event_codes, event_cells, touched, count,
        )  # fmt: skip
        start += length
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
                        if not is_exact:
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
                            is_sure = sure & bit != 0 and (
                                is_exact or mixed_at < 0 or left[0][box] == left[0][box + 1]
                            )
                            if not is_sure and not _passes_exactly(box, sides, cell_low, cell_high):
                                continue
                            subscription = box_subscription[box]
                            flag = subscription_flags[subscription]
                            if flag & DEAD:
                                continue
                            if flag & VERIFY or flags & VERIFY_ALL:
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
        cell_low[local] = -1
        cell_high[local] = -1
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


# --- building a segment --------------------------------------------------------------------------------------------


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


@kernel
def naive_scan(offsets, attributes, low, high, point, out):
    """The naive compiled scan that benchmarks compare with: every box, every side, stop at the first that fails."""
    count = 0
    for box in range(len(offsets) - 1):
        passes = True
        for side in range(offsets[box], offsets[box + 1]):
            value = point[attributes[side]]
            if not (low[side] <= value <= high[side]):
                passes = False
                break
        if passes:
            out[count] = box
            count += 1
    return count
