"""Kernels of the delta: the newest boxes, unsorted, with their exact cuts.

Sixty-four boxes are tested at once by two of their sides in coarse codes, which need no table of cuts and so never
change when a box is added; what passes is compared with the exact cuts.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import short_kernel, subkernel
from thatch.compiled.pointers import as_doubles, as_int32, as_uint64
from thatch.matching.segments import records as r
from thatch.matching.segments.kernels.blocks import mixed64
from thatch.matching.segments.kernels.cells import (
    WIDE_LAST_NUMBER,
    WIDE_LAST_TEXT,
    WIDE_NUMBER,
    WIDE_TEXT,
    compare_texts,
    number_code,
    text_code,
)
from thatch.matching.segments.kernels.checks import run_program

__all__ = ["SIDES", "file_boxes", "file_plain_box", "search_delta"]

SIDES = 2  # of a box, in coarse codes


@subkernel
def _cut_below(kind, value, texts, row_kind, number, words, start, length):
    """Whether a cut lies below a value of an event."""
    if kind < r.NUMBER:
        return kind <= row_kind
    if kind < r.TEXT:
        if row_kind != 5:
            return row_kind > 5
        return value <= number if kind == r.NUMBER else value < number
    if row_kind != 6:
        return False
    own = np.int64(value) + 4
    order = compare_texts(texts, own, own + _length(texts, own - 4), words, start, start + length)
    return order <= 0 if kind == r.TEXT else order < 0


@subkernel
def _length(texts, at):
    """Texts begin with their length in four bytes."""
    size = np.int64(0)
    for step in range(4):
        size |= np.int64(texts[at + step]) << (8 * step)
    return size


@subkernel
def _row_passes(side, row, delta, context):
    """Whether one value of the event lies between the cuts of a side."""
    doubles, texts, words = as_doubles(delta.sides), delta.texts, context.words
    kinds = np.int64(as_int32(delta.sides)[6 * side + 1])
    kind, number = np.int64(context.row_class[row]), context.row_numbers[row]
    start, length = np.int64(context.row_text_at[row]), np.int64(context.row_text_length[row])
    if not _cut_below(kinds & 255, doubles[3 * side + 1], texts, kind, number, words, start, length):
        return False
    return not _cut_below(kinds >> 8, doubles[3 * side + 2], texts, kind, number, words, start, length)


@subkernel
def _end_of(integers, side, last):
    """Where the alternatives that begin at a side end: the sides of a box on the same attribute."""
    end = side + 1
    while end < last and integers[6 * end] == integers[6 * side]:
        end += 1
    return end


@subkernel
def _exactly(box, delta, context):
    """Test the exact sides and the checks of a box: 0 no, 1 yes, 2 maybe."""
    integers, words, run = as_int32(delta.sides), context.words, context.parts[r.CHECKS]
    result = 1
    side, last = np.int64(delta.first_side[box]), np.int64(delta.first_side[box + 1])
    while side < last:
        which = integers[6 * side]
        end = _end_of(integers, side, last)
        first_row = np.int64(context.heads[which]) if which < context.heads_length else np.int64(-1)
        if first_row < 0:
            # Only a side that begins at the very first cut holds missing; of alternatives only the first can.
            if np.int64(integers[6 * side + 1]) & 255 != 0:
                return 0
        elif context.joints[which]:  # verifying decides which element of a list counts
            result = 2
        else:
            passes = False
            while side < end and not passes:
                row = first_row
                while row >= 0 and not passes:
                    passes = _row_passes(side, row, delta, context)
                    row = np.int64(context.row_next[row])
                side += 1
            if not passes:
                return 0
        side = end
    for check in range(delta.check_at[box], delta.check_at[box + 1]):
        which = delta.checks[2 * check]
        start = np.int64(delta.checks[2 * check + 1])
        row = np.int64(context.heads[which]) if which < context.heads_length else np.int64(-1)
        if row < 0:
            if not run_program(run, delta.programs, start, np.int64(0), words, np.int64(0), np.int64(0)):
                return 0
        elif context.joints[which] or context.row_next[row] >= 0:
            result = 2  # the same
        elif not run_program(
            run, delta.programs, start, np.int64(context.row_class[row]),
            words, np.int64(context.row_text_at[row]), np.int64(context.row_text_length[row]),
        ):  # fmt: skip
            return 0
    return result


@r.PARTS.part(r.DELTA)
def search_delta(
    delta: r.DeltaRecord, source: int, boxes: int, context: r.SearchContext, flags: int, moment: int
) -> int:
    """Add what an event matches among the first `boxes` boxes to `slots` and `pending`; return whether to stop."""
    counts, low, high = context.counts, context.wide_low, context.wide_high
    is_narrow = context.wide_low_length == 64
    one = np.uint64(1)
    for block in range((boxes + 63) >> 6):
        lanes = ~np.uint64(0)
        if boxes - (block << 6) < 64:
            lanes = (one << np.uint64(boxes - (block << 6))) - one
        for side in range(SIDES):
            if lanes == 0:
                break
            lanes = mixed64(delta.lanes, (block * SIDES + side) * 192, low, high, lanes, is_narrow)
        while lanes != 0:
            box = (block << 6) + np.int64(trailing_zeros(lanes))
            lanes &= lanes - one
            counts.candidates += 1
            owner = np.int64(delta.box_owner[box])
            if delta.owners[2 * owner + 1] <= moment:
                continue
            claim = delta.owners[2 * owner]
            if flags & r.TALLY:
                context.tallies[claim & ~np.int64(1)] += 1
            verdict = _exactly(box, delta, context)
            if verdict == 0:
                continue
            if claim & r.VERIFY or verdict == 2:
                context.pending[counts.waiting] = (np.int64(source) << 32) | owner
                counts.waiting += 1
                continue
            context.slots[counts.sure] = claim >> 1
            counts.sure += 1
            if flags & r.STOP:
                return np.int64(1)
    return np.int64(0)


# --- adding -------------------------------------------------------------------------------------------------------


@subkernel
def _cut_code(kind, value, bits, texts, is_upper):
    """The highest coarse code below an upper cut, or the lowest above a lower cut."""
    if kind >= r.TEXT:
        at = np.int64(value)
        return text_code(texts, at + 4, _length(texts, at))
    if kind >= r.NUMBER:
        return number_code(bits)
    if is_upper:
        return np.int64(WIDE_LAST_TEXT if kind == 7 else WIDE_LAST_NUMBER if kind == 6 else kind - 1)
    return np.int64(WIDE_TEXT if kind == 6 else WIDE_NUMBER if kind == 5 else kind)


@short_kernel
def file_plain_box(table, box, owner, end, checks, slot):
    """Add a filter of one box without checks; its sides are written already, and end at `end`."""
    delta = r.DeltaRecord(table, 0)
    delta.box_owner[box] = owner
    delta.first_side[box + 1] = end
    delta.check_at[box + 1] = checks
    delta.owners[2 * owner] = 2 * slot
    delta.owners[2 * owner + 1] = r.ALIVE
    _file_boxes(delta, box, 1)
    delta.n_boxes = box + 1


@short_kernel
def file_boxes(table, first, count):
    """Write the lanes of boxes that were added."""
    _file_boxes(r.DeltaRecord(table, 0), first, count)


@subkernel
def _file_boxes(delta, first, count):
    """Write the lanes of boxes that were added: the two of their sides that let the fewest codes through."""
    lanes = delta.lanes
    sides = delta.sides
    integers, doubles, words = as_int32(sides), as_doubles(sides), as_uint64(sides)
    first_side = delta.first_side
    for box in range(first, first + count):
        at = (box >> 6) * (SIDES * 192) + (box & 63)
        for rank in range(SIDES):
            lanes[at + rank * 192] = 0
            lanes[at + rank * 192 + 64] = 0
            lanes[at + rank * 192 + 128] = 65535
        best, next_best = np.int64(1 << 20), np.int64(1 << 20)
        end = np.int64(first_side[box])
        while end < first_side[box + 1]:
            side, end = end, _end_of(integers, end, np.int64(first_side[box + 1]))
            lo_kind, hi_kind = np.int64(integers[6 * side + 1]) & 255, np.int64(integers[6 * end - 5]) >> 8
            lo = _cut_code(lo_kind, doubles[3 * side + 1], words[3 * side + 1], delta.texts, 0)
            hi = _cut_code(hi_kind, doubles[3 * end - 1], words[3 * end - 1], delta.texts, 1)
            width = hi - lo if integers[6 * side] < 65536 else np.int64(1 << 21)  # lanes name it in 16 bits
            rank = -1
            if width < best:
                next_best, best = best, width
                for part in range(0, 192, 64):
                    lanes[at + 192 + part] = lanes[at + part]
                rank = 0
            elif width < next_best:
                next_best = width
                rank = 1
            if rank >= 0:
                lanes[at + rank * 192] = integers[6 * side]
                lanes[at + rank * 192 + 64] = lo
                lanes[at + rank * 192 + 128] = hi
