"""Kernels that search for an event of which codes do not tell all: it has lists, or the codes of a segment are coarse.

They are compiled apart, when such an event comes. Elements of short lists lie in layers, one over another: a side holds
for some element if it does in some layer, and only boxes with several sides on lists need a closer look. Elsewhere, and
for long lists, codes are the ends of a hull, and only what lies strictly inside is sure.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count
from thatch.compiled.decorators import subkernel
from thatch.compiled.pointers import int32_at, int64_at, part_of, uint16_at, uint32_at
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.blocks import (
    boxes_alive,
    list_blocks,
    mixed_alive,
    n_zones,
    zones_alive,
)
from thatch.matching.segments.kernels.candidates import add_candidates, take_sure
from thatch.matching.segments.kernels.on_demand import apart
from thatch.matching.segments.kernels.refine import sift_listed
from thatch.matching.segments.kernels.rows import SHORT, aim, count_lists, forget_layers, set_layers
from thatch.matching.segments.kernels.vectors import mixed64
from thatch.matching.segments.kernels.verdicts import settle

__all__ = ["search_listed"]


@subkernel
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


@subkernel
def _on_lists(mixed, at, low, high, lanes, is_keyed, is_narrow):
    """Of some boxes those with a side on a list, and those with more than one; its key may be one."""
    some, more = lanes if is_keyed else np.uint64(0), np.uint64(0)
    for step in range(f.SLOTS):
        found = mixed64(mixed, at + step * 192, low, high, lanes, is_narrow)
        more |= some & found
        some |= found
    return some, more


@subkernel
def _settle(end, source, desc, context, count, n_layers, flags, moment):
    """Decide about candidates up to `end`; return whether to stop."""
    end = sift_listed(int64_at(context, f.COUNTS)[f.WAITING], end, desc, context, count, n_layers)
    return settle(end, source, desc, context, np.int64(1), flags, moment)


@apart(f.LISTED)
def search_listed(desc, source, context, count, flags, moment):
    """Add what an event that is encoded matches in one segment to PLACES and PENDING; return whether to stop."""
    count_lists(context, count)
    n_layers = set_layers(desc, context, count)
    stopped = _search_layers(desc, source, context, count, n_layers, flags, moment)
    if n_layers > 0:
        forget_layers(context, count)
    return np.int64(1) if stopped else np.int64(0)


@subkernel
def _search_layers(desc, source, context, count, n_layers, flags, moment):
    """The same for an event whose short lists lie in layers, if there are any."""
    group_at, groups = int32_at(desc, f.GROUP_AT), int64_at(desc, f.GROUPS)
    codes, low, high = uint16_at(desc, f.CODES), uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    local_heads, row_next = int32_at(context, f.LOCAL_HEADS), int32_at(context, f.ROW_NEXT)
    known, length_of = int32_at(context, f.LOCAL_TOUCHED), int32_at(context, f.LOCAL_LENGTH)
    listed_high, found = uint16_at(context, f.LISTED_HIGH), int32_at(context, f.BLOCKS)
    counts = int64_at(context, f.COUNTS)
    most = np.int64(1) if flags & f.STOP else np.int64(64)  # who stops early looks at few

    stopped = False
    sure_count, end = counts[f.SURE], counts[f.WAITING]  # candidates wait behind what is to be verified
    for turn in range(count + 1):  # the attributes of the event, then the boxes that need none
        local = np.int64(known[turn]) if turn < count else desc[f.ATTRIBUTES]
        for group in range(group_at[local], group_at[local + 1]):
            row = group * desc[f.GROUP_WIDTH]
            keys = groups[row + f.GROUP_KEYS]
            # Of a short list each element is looked for by itself: their hull would let too much through.
            passes = np.int64(length_of[local]) if turn < count and keys == 1 else np.int64(1)
            # A box may be found once an element; half of the room is kept for what is found once.
            found_most = passes * groups[row + f.GROUP_BOXES] + (sure_count if sure_count > end else end)
            passes = (
                passes if 1 < passes <= SHORT and found_most <= context[f.PLACES + 1] >> 1 else np.int64(1)
            )
            row_of_pass = np.int64(local_heads[local]) if turn < count else np.int64(-1)
            # A key on a list is only exact when its elements are looked for one by one.
            is_keyed = turn < count and keys > 0 and listed_high[local] != 0
            is_layered = n_layers > 0 and groups[row + f.GROUP_MIXED] >= 0 and (passes > 1 or not is_keyed)
            for _ in range(passes):
                if passes > 1:
                    aim(desc, context, local, row_of_pass)
                    row_of_pass = np.int64(row_next[row_of_pass])
                for place in range((n_zones(groups, row) + 63) >> 6):
                    zones = zones_alive(codes, groups, row, place, low, high)
                    while zones != 0 and not stopped:
                        blocks, zones = list_blocks(codes, groups, row, place, zones, low, high, most, found)
                        counts[f.BLOCKS_READ] += blocks
                        sure_count, end = _search_blocks(
                            blocks,
                            group,
                            desc,
                            context,
                            n_layers if is_layered else 0,
                            is_keyed,
                            flags,
                            moment,
                            sure_count,
                            end,
                        )
                        if flags & f.STOP:
                            stopped = _settle(end, source, desc, context, count, n_layers, flags, moment)
                            sure_count, end = counts[f.SURE], counts[f.WAITING]
            if passes > 1:
                aim(desc, context, local, -1)
            if stopped:
                return True
    if flags & f.STOP == 0:  # all at once, so that they wait for memory together
        counts[f.SURE] = sure_count
        _settle(end, source, desc, context, count, n_layers, flags, moment)
    return False


@subkernel
def _search_blocks(blocks, group, desc, context, n_layers, is_keyed, flags, moment, sure_count, end):
    """Look through the blocks of a group that are listed; return how many matches and candidates there are now."""
    groups, codes, mixed = int64_at(desc, f.GROUPS), uint16_at(desc, f.CODES), uint16_at(desc, f.MIXED)
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    strict_low, strict_high = uint16_at(context, f.STRICT_LOW), uint16_at(context, f.STRICT_HIGH)
    listed_low, listed_high = uint16_at(context, f.LISTED_LOW), uint16_at(context, f.LISTED_HIGH)
    layers, room = uint16_at(context, f.LAYERS), context[f.LOW + 1]
    left_at, box_sieves = int32_at(desc, f.LEFT_AT), int64_at(desc, f.BOX_SIEVES)
    claims, died = uint32_at(desc, f.CLAIMS), int64_at(desc, f.DIED)
    has_sieves, has_deaths = desc[f.BOX_SIEVES + 1] > 0, int64_at(desc, f.DEATHS)[0] > 0
    places, candidates = int64_at(context, f.PLACES), int64_at(context, f.PENDING)
    found, counts = int32_at(context, f.BLOCKS), int64_at(context, f.COUNTS)
    is_quick = desc[f.BOX_OWNER + 1] == 0 and flags & (f.STOP | f.TALLY) == 0
    is_narrow = desc[f.IS_NARROW] != 0
    row = group * desc[f.GROUP_WIDTH]
    mixed_first, has_left = groups[row + f.GROUP_MIXED], groups[row + f.GROUP_LEFT] != 0
    for index in range(blocks):
        block = np.int64(found[index])
        mixed_at = mixed_first + block * (f.SLOTS * 192)
        lanes = boxes_alive(codes, groups, row, block, low, high)
        if n_layers > 0:
            lanes = _layers_alive(mixed, mixed_at, layers, room, n_layers, lanes, is_narrow)
        elif mixed_first >= 0:
            lanes = mixed_alive(mixed, mixed_at, low, high, lanes, is_narrow)
        if lanes == 0:
            continue
        counts[f.LOOKED] += np.int64(bit_count(lanes))
        sure, listed, several = lanes, lanes, np.uint64(0)
        if n_layers > 0:
            listed, several = _on_lists(mixed, mixed_at, listed_low, listed_high, lanes, is_keyed, is_narrow)
        else:
            sure &= boxes_alive(codes, groups, row, block, strict_low, strict_high)
            if mixed_first >= 0:
                sure = mixed_alive(mixed, mixed_at, strict_low, strict_high, sure, is_narrow)
        slot = groups[row + f.FIRST_SLOT] + (block << 6)
        if is_quick:  # mostly there is nothing else to look at than who is alive
            quick = sure & ~several
            others, sure_count = take_sure(
                quick, slot, left_at, claims, died, has_left, has_deaths, moment, places, sure_count
            )
            lanes = (lanes & ~quick) | others
        end = add_candidates(
            lanes, sure, listed, several, slot, group, left_at, box_sieves, has_sieves, candidates, end
        )
    return sure_count, end
