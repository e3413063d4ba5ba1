"""Kernels that search for one event: which boxes of which segments hold it.

The event arrives as rows, a value each. Per segment it becomes two code arrays `low` and `high`, one entry per local
attribute: a box's side `[lo, hi]` passes when `lo <= high[a]` and `hi >= low[a]`. For a point both are its cell; for
a list they are the ends of its hull. Attributes that the event lacks are at cell 0, missing.

An owner is a subscription; it is alive in a search when it died after the change that the search looks at.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count, trailing_zeros
from thatch.compiled.decorators import inline, short_kernel, subkernel
from thatch.matching.segments import records as r
from thatch.matching.segments.kernels.bitsets import sweep
from thatch.matching.segments.kernels.blocks import (
    boxes_alive,
    list_blocks,
    mixed_alive,
    n_zones,
    zones_alive,
)
from thatch.matching.segments.kernels.candidates import add_candidates, take_sure
from thatch.matching.segments.kernels.delta import search_delta
from thatch.matching.segments.kernels.list_events import search_lists
from thatch.matching.segments.kernels.refine import refine
from thatch.matching.segments.kernels.rows import encode, file_rows, forget_rows
from thatch.matching.segments.kernels.verdicts import settle

__all__ = ["collect", "find_owner", "search", "sorted_unique"]


@short_kernel
def collect(table, rows, flags, moment, newest):
    """Find what an event matches; return the number of sure matches plus 2^32 times those to verify.

    Sure matches are left in `slots`, in order; those to verify in `pending`, as owner and, in the upper half of the
    number, source: a segment, or past those a delta. Returns -1 for a NUMERIC event with a number that may have been
    rounded.

    Parameters
    ----------
    table : a `SearchContext`
    rows, flags : how many values, and what to do
    moment : the last change that counts
    newest : how many boxes of the last delta count
    """
    context = r.SearchContext(table, 0)
    counts = context.counts
    counts.sure = 0
    counts.waiting = 0
    touched = file_rows(context, rows, flags)
    if touched < 0:
        return np.int64(-1)
    search(context, touched, flags, moment, newest)
    forget_rows(context, touched)
    counts.sure = sorted_unique(context, counts.sure)
    counts.events += 1
    counts.matches += counts.sure
    return counts.sure + (counts.waiting << 32)


@inline
def search(context, touched, flags, moment, newest):
    """Search all segments and deltas; matches pile up in `slots` and `pending`."""
    n_segments, n_deltas = context.n_segments, context.n_deltas
    for index in range(n_segments):
        segment = r.SegmentRecord(context.segments, index * r.SEGMENT_WIDTH)
        if _search_segment(segment, index, context, touched, flags, moment):
            return
    for index in range(n_deltas):
        delta = r.DeltaRecord(context.deltas, index * r.DELTA_WIDTH)
        boxes = newest if index == n_deltas - 1 else delta.n_boxes
        if boxes > 0 and search_delta(
            context.parts[r.DELTA], delta, n_segments + index, boxes, context, flags, moment
        ):
            return


# --- one segment ------------------------------------------------------------------------------------------------------


@subkernel
def _search_segment(segment, source, context, touched, flags, moment):
    """Add what an event matches in one segment to `slots` and `pending`; return whether to stop."""
    parts = context.parts
    count, is_loose = encode(segment, context, touched)
    if is_loose:
        stopped = search_lists(parts[r.LISTS], segment, source, context, count, flags, moment) != 0
    elif segment.bitset_layout_length > 0 and flags & r.TALLY == 0 and parts[r.BITSETS] != 0:
        stopped = sweep(parts[r.BITSETS], segment, context, flags, moment) != 0
    else:
        stopped = _search_single(segment, source, context, count, flags, moment)
    for index in range(count):
        local = np.int64(context.local_touched[index])
        context.low[local], context.high[local] = 0, 0
        context.strict_low[local], context.strict_high[local] = 0, 0
        context.local_heads[local] = -1
        context.local_joints[local] = 0
    if segment.is_exact == 0:
        for local in range(segment.n_attributes):
            if segment.shifts[local] > 0:
                context.strict_low[local], context.strict_high[local] = 0, 0
    return stopped


@subkernel
def _settle(end, source, segment, context, count, flags, moment):
    """Decide about candidates up to `end`; return whether to stop."""
    end = refine(context.counts.waiting, end, segment, context, count, np.int64(0), np.int64(0))
    return settle(end, source, segment, context, np.int64(0), flags, moment)


@subkernel
def _search_single(segment, source, context, count, flags, moment):
    """The same for an encoded event with one value of each attribute, where codes tell all of it."""
    codes, low, high = segment.codes, context.low, context.high
    found, counts, has_deaths = context.blocks, context.counts, segment.deaths[0] > 0
    is_quick = segment.box_owner_length == 0 and flags & (r.STOP | r.TALLY) == 0
    most = np.int64(1) if flags & r.STOP else np.int64(64)  # a search that stops early looks at few

    none = np.uint64(0)
    looked = np.int64(0)
    sure_count, end = counts.sure, counts.waiting  # candidates wait behind what is to be verified
    for turn in range(count + 1):  # the attributes of the event, then the boxes that need none
        local = np.int64(context.local_touched[turn]) if turn < count else segment.n_attributes
        for number in range(segment.group_at[local], segment.group_at[local + 1]):
            group = r.GroupRecord(segment.groups, number * segment.group_width)
            mixed_first, has_left = group.mixed_at, group.left_kinds != 0
            for step in range((n_zones(group) + 63) >> 6):
                zones = zones_alive(codes, group, step, low, high)
                while zones != 0:
                    blocks, zones = list_blocks(codes, group, step, zones, low, high, most, found)
                    counts.blocks += blocks
                    for index in range(blocks):
                        block = np.int64(found[index])
                        lanes = boxes_alive(codes, group, block, low, high)
                        if mixed_first >= 0:
                            mixed_at = mixed_first + block * (r.MIXED_SIDES * 192)
                            lanes = mixed_alive(segment, mixed_at, low, high, lanes)
                        if lanes == 0:
                            continue
                        looked += np.int64(bit_count(lanes))
                        first_box = group.first_box + (block << 6)
                        if is_quick:  # mostly all that is left to ask is who is alive
                            lanes, sure_count = take_sure(
                                lanes, first_box, segment, context, has_left, has_deaths, moment, sure_count
                            )
                        end = add_candidates(
                            lanes, lanes, none, none, first_box, number, segment, context, end
                        )
                    if flags & r.STOP:
                        stopped = _settle(end, source, segment, context, count, flags, moment)
                        sure_count, end = counts.sure, counts.waiting
                        if stopped:
                            counts.candidates += looked
                            return True
    counts.candidates += looked
    if flags & r.STOP == 0:  # all at once, so that they wait for memory together
        counts.sure = sure_count
        _settle(end, source, segment, context, count, flags, moment)
    return False


@subkernel
def sorted_unique(context, count):
    """Sort the slots and drop repetitions, by setting a bit for each and reading the bits in order."""
    words, summary, slots = context.slot_bits, context.slot_summary, context.slots
    one = np.uint64(1)
    if count < 2:
        return count
    if count < 12:  # so few are sorted quicker by hand
        kept = np.int64(0)
        for index in range(count):
            slot = slots[index]
            at = kept
            while at > 0 and slots[at - 1] > slot:
                at -= 1
            if at > 0 and slots[at - 1] == slot:
                continue
            for step in range(kept, at, -1):
                slots[step] = slots[step - 1]
            slots[at] = slot
            kept += 1
        return kept
    for index in range(count):
        slot = slots[index]
        words[slot >> 6] |= one << np.uint64(slot & 63)
        summary[slot >> 12] |= one << np.uint64((slot >> 6) & 63)
    kept = np.int64(0)
    for upper in range(context.slot_summary_length):
        present = summary[upper]
        if present == 0:
            continue
        summary[upper] = 0
        while present != 0:
            word = (upper << 6) + np.int64(trailing_zeros(present))
            present &= present - one
            bits = words[word]
            words[word] = 0
            base = word << 6
            while bits != 0:
                slots[kept] = base + np.int64(trailing_zeros(bits))
                kept += 1
                bits &= bits - one
    return kept


@short_kernel
def find_owner(claims, died, by_slot, slot):
    """The living owner of a slot, -1 if there is none; `by_slot` has the owners in the order of their slots."""
    low, high = 0, len(by_slot)
    while low < high:
        middle = (low + high) >> 1
        if claims[by_slot[middle]] >> 1 < slot:
            low = middle + 1
        else:
            high = middle
    while low < len(by_slot) and claims[by_slot[low]] >> 1 == slot:
        if died[by_slot[low]] == r.ALIVE:
            return np.int64(by_slot[low])
        low += 1
    return np.int64(-1)
