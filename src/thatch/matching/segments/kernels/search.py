"""Kernels that search for one event: which boxes of which segments hold it.

The event arrives as rows, a value each. Per segment it becomes two code arrays `low` and `high`, one entry per local
attribute: a box's side `[lo, hi]` passes when `lo <= high[a]` and `hi >= low[a]`. For a point both are its cell; for
a list they are the ends of its hull.

Attributes that the event lacks are at cell 0, missing. An owner is a subscription; it is alive in a search when it
died after the change that the search looks at.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count, trailing_zeros
from thatch.compiled.decorators import inline, short_kernel, subkernel
from thatch.compiled.pointers import (
    int32_at,
    int64_at,
    part_of,
    pointer_to,
    uint8_at,
    uint16_at,
    uint32_at,
    uint64_at,
)
from thatch.matching.segments import fields as f
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
from thatch.matching.segments.kernels.list_events import search_listed
from thatch.matching.segments.kernels.refine import sift
from thatch.matching.segments.kernels.rows import encode, file_rows, forget_rows
from thatch.matching.segments.kernels.verdicts import settle

__all__ = ["collect", "find_owner", "search", "search_segment", "sorted_unique"]


@short_kernel
def collect(context, rows, flags, moment, newest):
    """What an event matches; returns the number of sure matches plus 2^32 times those to verify.

    Sure ones are left as places, in order; those to verify as owner and, in the upper half of the number, source: a
    segment, or past those a delta. Returns -1 for a NUMERIC event with a number that may have been rounded.

    Parameters
    ----------
    context : addresses of the index's arrays, of the event's rows and of room to work in, as `fields` lays them out
    rows, flags : how many values, and what to do
    moment : the last change that counts
    newest : how many boxes of the last delta count
    """
    context = pointer_to(context)
    counts = int64_at(context, f.COUNTS)
    counts[f.SURE] = 0
    counts[f.WAITING] = 0
    touched = file_rows(context, rows, flags)
    if touched < 0:
        return np.int64(-1)
    search(context, touched, flags, moment, newest)
    forget_rows(context, touched)
    counts[f.SURE] = sorted_unique(context, counts[f.SURE])
    counts[f.EVENTS] += 1
    counts[f.MATCHES] += counts[f.SURE]
    return counts[f.SURE] + (counts[f.WAITING] << 32)


@inline
def search(context, touched, flags, moment, newest):
    """Look through all segments and deltas; matches pile up in PLACES and PENDING."""
    segments = int64_at(context, f.SEGMENTS)
    n_segments = context[f.SEGMENTS + 1] // f.SEGMENT_WIDTH
    for index in range(n_segments):
        desc = part_of(segments, index * f.SEGMENT_WIDTH)
        if search_segment(desc, index, context, touched, flags, moment):
            return
    deltas = int64_at(context, f.DELTAS)
    n_deltas = context[f.DELTAS + 1] // f.DELTA_WIDTH
    for index in range(n_deltas):
        desc = part_of(deltas, index * f.DELTA_WIDTH)
        boxes = newest if index == n_deltas - 1 else desc[f.DELTA_BOXES]
        if boxes > 0 and search_delta(desc, n_segments + index, boxes, context, flags, moment):
            return


# --- one segment ------------------------------------------------------------------------------------------------------


@subkernel
def search_segment(desc, source, context, touched, flags, moment):
    """Add what an event matches in one segment to PLACES and PENDING; return whether to stop."""
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    strict_low, strict_high = uint16_at(context, f.STRICT_LOW), uint16_at(context, f.STRICT_HIGH)
    known, shifts = int32_at(context, f.LOCAL_TOUCHED), uint8_at(desc, f.SHIFTS)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    parts = int64_at(context, f.PARTS)
    count, is_loose = encode(desc, context, touched)
    if is_loose:
        stopped = search_listed(desc, source, context, count, flags, moment) != 0
    elif desc[f.BITSET_LAYOUT + 1] > 0 and flags & f.TALLY == 0 and parts[f.BITSETS] != 0:
        stopped = sweep(desc, context, flags, moment) != 0
    else:
        stopped = _search_single(desc, source, context, count, flags, moment)
    for index in range(count):
        local = np.int64(known[index])
        low[local], high[local] = 0, 0
        strict_low[local], strict_high[local] = 0, 0
        heads[local] = -1
        joints[local] = 0
    if desc[f.IS_EXACT] == 0:
        for local in range(desc[f.ATTRIBUTES]):
            if shifts[local] > 0:
                strict_low[local], strict_high[local] = 0, 0
    return stopped


@subkernel
def _settle(end, source, desc, context, count, flags, moment):
    """Decide about candidates up to `end`; return whether to stop."""
    end = sift(int64_at(context, f.COUNTS)[f.WAITING], end, desc, context, count)
    return settle(end, source, desc, context, np.int64(0), flags, moment)


@subkernel
def _search_single(desc, source, context, count, flags, moment):
    """The same for an event that is encoded, has one value of each attribute, and codes that tell all of it."""
    group_at, groups = int32_at(desc, f.GROUP_AT), int64_at(desc, f.GROUPS)
    codes, mixed = uint16_at(desc, f.CODES), uint16_at(desc, f.MIXED)
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    left_at, box_sieves = int32_at(desc, f.LEFT_AT), int64_at(desc, f.BOX_SIEVES)
    claims, died = uint32_at(desc, f.CLAIMS), int64_at(desc, f.DIED)
    has_sieves, has_deaths = desc[f.BOX_SIEVES + 1] > 0, int64_at(desc, f.DEATHS)[0] > 0
    places, candidates = int64_at(context, f.PLACES), int64_at(context, f.PENDING)
    known, found = int32_at(context, f.LOCAL_TOUCHED), int32_at(context, f.BLOCKS)
    counts = int64_at(context, f.COUNTS)
    width, is_narrow = desc[f.GROUP_WIDTH], desc[f.IS_NARROW] != 0
    is_quick = desc[f.BOX_OWNER + 1] == 0 and flags & (f.STOP | f.TALLY) == 0
    most = np.int64(1) if flags & f.STOP else np.int64(64)  # who stops early looks at few

    none = np.uint64(0)
    looked = np.int64(0)
    sure_count, end = counts[f.SURE], counts[f.WAITING]  # candidates wait behind what is to be verified
    for turn in range(count + 1):  # the attributes of the event, then the boxes that need none
        local = np.int64(known[turn]) if turn < count else desc[f.ATTRIBUTES]
        for group in range(group_at[local], group_at[local + 1]):
            row = group * width
            mixed_first, has_left = groups[row + f.GROUP_MIXED], groups[row + f.GROUP_LEFT] != 0
            for place in range((n_zones(groups, row) + 63) >> 6):
                zones = zones_alive(codes, groups, row, place, low, high)
                while zones != 0:
                    blocks, zones = list_blocks(codes, groups, row, place, zones, low, high, most, found)
                    counts[f.BLOCKS_READ] += blocks
                    for index in range(blocks):
                        block = np.int64(found[index])
                        lanes = boxes_alive(codes, groups, row, block, low, high)
                        if mixed_first >= 0:
                            mixed_at = mixed_first + block * (f.SLOTS * 192)
                            lanes = mixed_alive(mixed, mixed_at, low, high, lanes, is_narrow)
                        if lanes == 0:
                            continue
                        looked += np.int64(bit_count(lanes))
                        slot = groups[row + f.FIRST_SLOT] + (block << 6)
                        if is_quick:  # mostly there is nothing else to look at than who is alive
                            lanes, sure_count = take_sure(
                                lanes,
                                slot,
                                left_at,
                                claims,
                                died,
                                has_left,
                                has_deaths,
                                moment,
                                places,
                                sure_count,
                            )
                        end = add_candidates(
                            lanes,
                            lanes,
                            none,
                            none,
                            slot,
                            group,
                            left_at,
                            box_sieves,
                            has_sieves,
                            candidates,
                            end,
                        )
                    if flags & f.STOP:
                        stopped = _settle(end, source, desc, context, count, flags, moment)
                        sure_count, end = counts[f.SURE], counts[f.WAITING]
                        if stopped:
                            counts[f.LOOKED] += looked
                            return True
    counts[f.LOOKED] += looked
    if flags & f.STOP == 0:  # all at once, so that they wait for memory together
        counts[f.SURE] = sure_count
        _settle(end, source, desc, context, count, flags, moment)
    return False


@subkernel
def sorted_unique(context, count):
    """Sort places and drop repetitions, by setting a bit for each and reading the bits in order."""
    words, summary = uint64_at(context, f.BITS), uint64_at(context, f.SUMMARY)
    places = int64_at(context, f.PLACES)
    one = np.uint64(1)
    if count < 2:
        return count
    if count < 12:  # so few are sorted quicker by hand
        kept = np.int64(0)
        for index in range(count):
            place = places[index]
            at = kept
            while at > 0 and places[at - 1] > place:
                at -= 1
            if at > 0 and places[at - 1] == place:
                continue
            for step in range(kept, at, -1):
                places[step] = places[step - 1]
            places[at] = place
            kept += 1
        return kept
    for index in range(count):
        place = places[index]
        words[place >> 6] |= one << np.uint64(place & 63)
        summary[place >> 12] |= one << np.uint64((place >> 6) & 63)
    kept = np.int64(0)
    for upper in range(context[f.SUMMARY + 1]):
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
                places[kept] = base + np.int64(trailing_zeros(bits))
                kept += 1
                bits &= bits - one
    return kept


@short_kernel
def find_owner(claims, died, by_place, place):
    """The living owner at a place, -1 if there is none; `by_place` has the owners in the order of their places."""
    low, high = 0, len(by_place)
    while low < high:
        middle = (low + high) >> 1
        if claims[by_place[middle]] >> 1 < place:
            low = middle + 1
        else:
            high = middle
    while low < len(by_place) and claims[by_place[low]] >> 1 == place:
        if died[by_place[low]] == f.ALIVE:
            return np.int64(by_place[low])
        low += 1
    return np.int64(-1)
