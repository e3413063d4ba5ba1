"""Kernels that search for an event of which codes do not tell all: it has lists, or the codes of a segment are coarse.

They are compiled apart, when such an event comes. Elements of short lists lie in layers, one over another: a side holds
for some element if it does in some layer, and only boxes with several sides on lists need a closer look. Elsewhere, and
for long lists, codes are the ends of a hull, and only what lies strictly inside is sure.
"""

from __future__ import annotations

import numpy as np

from thatch.matching.segments import fields as f
from thatch.matching.segments.blocks.kernels import alive, mixed_alive
from thatch.matching.segments.candidates.kernels import candidate_of
from thatch.matching.segments.compiling.kernels import apart
from thatch.matching.segments.rows.kernels import SHORT, aim, count_lists, forget_layers, set_layers
from thatch.matching.segments.sifting.kernels import sift_listed
from thatch.matching.segments.vectors.kernels import (
    inlined,
    int32_at,
    int64_at,
    mixed64,
    part_of,
    prefetch,
    trailing_zeros,
    uint16_at,
    uint32_at,
)
from thatch.matching.segments.verdicts.kernels import settle

__all__ = ["search_listed"]


@inlined
def _layers_alive(mixed, at, layers, room, count, lanes, is_narrow):
    """Those of some boxes of which every mixed side passes in some layer."""
    for step in range(f.SLOTS):
        found = np.uint64(0)
        for layer in range(count):
            codes = part_of(layers, layer * room)
            found |= mixed64(mixed, at + step * 192, codes, codes, lanes & ~found, is_narrow)
        lanes = found
        if lanes == 0:
            break
    return lanes


@inlined
def _on_lists(mixed, at, low, high, lanes, is_keyed, is_narrow):
    """Of some boxes those with a side on a list, and those with more than one; its key may be one."""
    some, more = lanes if is_keyed else np.uint64(0), np.uint64(0)
    for step in range(f.SLOTS):
        found = mixed64(mixed, at + step * 192, low, high, lanes, is_narrow)
        more |= some & found
        some |= found
    return some, more


@inlined
def _settle(end, source, desc, context, count, n_layers, flags, moment):
    """Decide about candidates up to `end`; return whether to stop."""
    end = sift_listed(int64_at(context, f.COUNTS)[f.WAITING], end, desc, context, count, n_layers)
    return settle(end, source, desc, context, np.int64(1), flags, moment)


@apart(f.LISTED)
def search_listed(desc, source, context, count, flags, moment):
    """Add what an event that is encoded matches in one segment to PLACES and PENDING; return whether to stop."""
    group_at, groups = int32_at(desc, f.GROUP_AT), int64_at(desc, f.GROUPS)
    codes, mixed = uint16_at(desc, f.CODES), uint16_at(desc, f.MIXED)
    left_at, box_sieves = int32_at(desc, f.LEFT_AT), int64_at(desc, f.BOX_SIEVES)
    has_sieves = desc[f.BOX_SIEVES + 1] > 0
    claims = uint32_at(desc, f.CLAIMS)
    died = int64_at(desc, f.DIED)
    has_deaths = int64_at(desc, f.DEATHS)[0] > 0
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    strict_low, strict_high = uint16_at(context, f.STRICT_LOW), uint16_at(context, f.STRICT_HIGH)
    local_heads = int32_at(context, f.LOCAL_HEADS)
    known, length_of = int32_at(context, f.LOCAL_TOUCHED), int32_at(context, f.LOCAL_LENGTH)
    row_next = int32_at(context, f.ROW_NEXT)
    places, candidates = int64_at(context, f.PLACES), int64_at(context, f.PENDING)
    counts = int64_at(context, f.COUNTS)
    attributes, width = desc[f.ATTRIBUTES], desc[f.GROUP_WIDTH]
    is_narrow = desc[f.IS_NARROW] != 0
    layers, room = uint16_at(context, f.LAYERS), context[f.LOW + 1]
    listed_low, listed_high = uint16_at(context, f.LISTED_LOW), uint16_at(context, f.LISTED_HIGH)
    one_box_each = desc[f.BOX_OWNER + 1] == 0
    is_quick = one_box_each and flags & (f.STOP | f.TALLY) == 0

    count_lists(context, count)
    n_layers = set_layers(desc, context, count)
    one = np.uint64(1)
    stopped = False
    looked = np.int64(0)
    read = np.int64(0)
    sure_count, end = counts[f.SURE], counts[f.WAITING]  # candidates wait behind what is to be verified
    for turn in range(count + 1):  # the attributes of the event, then the boxes that need none
        local = np.int64(known[turn]) if turn < count else attributes
        for group in range(group_at[local], group_at[local + 1]):
            row = group * width
            keys, blocks = groups[row + f.GROUP_KEYS], groups[row + f.GROUP_BLOCKS]
            zones = (blocks + 63) >> 6
            mixed_first = groups[row + f.GROUP_MIXED]
            some_left = groups[row + f.GROUP_LEFT] != 0
            # Of a short list each element is looked for by itself: their hull would let too much through.
            passes = np.int64(length_of[local]) if turn < count and keys == 1 else np.int64(1)
            # A box may be found once an element; half of the room is kept for what is found once.
            most = passes * groups[row + f.GROUP_BOXES] + (sure_count if sure_count > end else end)
            passes = passes if 1 < passes <= SHORT and most <= context[f.PLACES + 1] >> 1 else np.int64(1)
            row_of_pass = np.int64(local_heads[local]) if turn < count else np.int64(-1)
            # A key on a list is only exact when its elements are looked for one by one.
            is_keyed = turn < count and keys > 0 and listed_high[local] != 0
            is_layered = n_layers > 0 and mixed_first >= 0 and (passes > 1 or not is_keyed)
            for _ in range(passes):
                if passes > 1:
                    aim(desc, context, local, row_of_pass)
                    row_of_pass = np.int64(row_next[row_of_pass])
                for wide in range((zones + 63) >> 6):
                    alive2 = ~np.uint64(0)
                    if zones > 1:
                        at2 = groups[row + f.GROUP_ZONES2] + wide * keys * 128
                        alive2 = alive(codes, at2, groups, row, keys, low, high)
                    while alive2 != 0:
                        zone = (wide << 6) + np.int64(trailing_zeros(alive2))
                        alive2 &= alive2 - one
                        if zone >= zones:
                            break
                        at1 = groups[row + f.GROUP_ZONES] + zone * keys * 128
                        alive1 = alive(codes, at1, groups, row, keys, low, high)
                        while alive1 != 0:
                            block = (zone << 6) + np.int64(trailing_zeros(alive1))
                            alive1 &= alive1 - one
                            if block >= blocks:
                                break
                            read += 1
                            at = groups[row + f.GROUP_CODES] + block * keys * 128
                            lanes = alive(codes, at, groups, row, keys, low, high)
                            mixed_at = mixed_first
                            if mixed_at >= 0:
                                mixed_at += block * (f.SLOTS * 192)
                                if is_layered:
                                    lanes = _layers_alive(
                                        mixed, mixed_at, layers, room, n_layers, lanes, is_narrow
                                    )
                                else:
                                    lanes = mixed_alive(mixed, mixed_at, low, high, lanes, is_narrow)
                            n_boxes = groups[row + f.GROUP_BOXES] - (block << 6)
                            if n_boxes < 64:
                                lanes &= (one << np.uint64(n_boxes)) - one
                            if lanes == 0:
                                continue
                            sure, listed, several = lanes, lanes, np.uint64(0)
                            if is_layered:
                                listed, several = _on_lists(
                                    mixed, mixed_at, listed_low, listed_high, lanes, is_keyed, is_narrow
                                )
                            else:
                                sure &= alive(codes, at, groups, row, keys, strict_low, strict_high)
                                if mixed_at >= 0:
                                    sure = mixed_alive(
                                        mixed, mixed_at, strict_low, strict_high, sure, is_narrow
                                    )
                            slot = groups[row + f.FIRST_SLOT] + (block << 6)
                            if is_quick:  # mostly there is nothing else to look at than who is alive
                                quick = sure & ~several
                                lanes &= ~quick
                                while quick != 0:
                                    bit = quick & (~quick + one)
                                    owner = slot + np.int64(trailing_zeros(quick))
                                    quick ^= bit
                                    if some_left and left_at[owner] < left_at[owner + 1]:
                                        lanes |= bit
                                        continue
                                    place = np.int64(claims[owner])
                                    if place & f.VERIFY:
                                        lanes |= bit
                                        continue
                                    looked += 1
                                    if not has_deaths or died[owner] > moment:
                                        places[sure_count] = place >> 1
                                        sure_count += 1
                            while lanes != 0:
                                lane = np.int64(trailing_zeros(lanes))
                                bit = lanes & (~lanes + one)
                                lanes ^= bit
                                looked += 1
                                candidates[end] = candidate_of(
                                    slot + lane, sure & bit != 0, listed & bit != 0, several & bit != 0, group
                                )
                                end += 1
                                if has_sieves:
                                    prefetch(box_sieves, slot + lane)
                                else:
                                    prefetch(left_at, slot + lane)
                        if flags & f.STOP:
                            stopped = _settle(end, source, desc, context, count, n_layers, flags, moment)
                            sure_count, end = counts[f.SURE], counts[f.WAITING]
                            if stopped:
                                break
                    if stopped:
                        break
                if stopped:
                    break
            if passes > 1:
                aim(desc, context, local, -1)
            if stopped:
                break
        if stopped:
            break
    if flags & f.STOP == 0:  # all at once, so that they wait for memory together
        counts[f.SURE] = sure_count
        _settle(end, source, desc, context, count, n_layers, flags, moment)
    if n_layers > 0:
        forget_layers(context, count)
    counts[f.LOOKED] += looked
    counts[f.BLOCKS_READ] += read
    return np.int64(1) if stopped else np.int64(0)
