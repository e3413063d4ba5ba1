"""Kernels that search for events with lists, and in segments with coarse codes: there codes alone do not decide.

They are compiled when the first such event comes. Elements of short lists lie in layers, one over another: a side holds
for some element if it holds in some layer, and only boxes with several sides on lists need a closer look. Elsewhere, and
for long lists, codes are the ends of a hull, and only what lies strictly inside is sure.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count
from thatch.compiled.decorators import subkernel
from thatch.compiled.pointers import part_of
from thatch.matching.segments import records as r
from thatch.matching.segments.kernels.blocks import (
    boxes_alive,
    list_blocks,
    mixed64,
    mixed_alive,
    n_zones,
    zones_alive,
)
from thatch.matching.segments.kernels.candidates import add_candidates, take_sure
from thatch.matching.segments.kernels.refine import refine
from thatch.matching.segments.kernels.rows import SHORT, aim, count_lists, forget_layers, set_layers
from thatch.matching.segments.kernels.verdicts import settle

__all__ = ["search_lists"]


@subkernel
def _layers_alive(mixed, at, layers, room, count, lanes, is_narrow):
    """Of these boxes, those of which every mixed side passes in some layer."""
    for step in range(r.MIXED_SIDES):
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
    """Of these boxes, those with a side on a list, and those with more than one; the key may be one."""
    some, more = lanes if is_keyed else np.uint64(0), np.uint64(0)
    for step in range(r.MIXED_SIDES):
        found = mixed64(mixed, at + step * 192, low, high, lanes, is_narrow)
        more |= some & found
        some |= found
    return some, more


@subkernel
def _settle(end, source, segment, context, count, n_layers, flags, moment):
    """Decide about candidates up to `end`; return whether to stop."""
    end = refine(context.counts.waiting, end, segment, context, count, np.int64(1), n_layers)
    return settle(end, source, segment, context, np.int64(1), flags, moment)


@r.PARTS.part(r.LISTS)
def search_lists(
    segment: r.SegmentRecord, source: int, context: r.SearchContext, count: int, flags: int, moment: int
) -> int:
    """Add what an encoded event matches in one segment to `slots` and `pending`; return whether to stop."""
    count_lists(context, count)
    n_layers = set_layers(segment, context, count)
    stopped = _search_layers(segment, source, context, count, n_layers, flags, moment)
    if n_layers > 0:
        forget_layers(context, count)
    return np.int64(1) if stopped else np.int64(0)


@subkernel
def _search_layers(segment, source, context, count, n_layers, flags, moment):
    """The same for an event whose short lists lie in layers, if it has any."""
    group_at, codes, low, high = segment.group_at, segment.codes, context.low, context.high
    local_heads, row_next = context.local_heads, context.row_next
    known, length_of = context.local_touched, context.local_length
    listed_high, found = context.listed_high, context.blocks
    counts = context.counts
    most = np.int64(1) if flags & r.STOP else np.int64(64)  # a search that stops early looks at few

    stopped = False
    sure_count, end = counts.sure, counts.waiting  # candidates wait behind what is to be verified
    for turn in range(count + 1):  # the attributes of the event, then the boxes that need none
        local = np.int64(known[turn]) if turn < count else segment.n_attributes
        for number in range(group_at[local], group_at[local + 1]):
            group = r.GroupRecord(segment.groups, number * segment.group_width)
            keys = group.n_keys
            # Each element of a short list is searched for by itself: their hull would let too much through.
            passes = np.int64(length_of[local]) if turn < count and keys == 1 else np.int64(1)
            # A box may be found once for each element; half of the room is kept for what is found once.
            found_most = passes * group.n_boxes + (sure_count if sure_count > end else end)
            passes = (
                passes if 1 < passes <= SHORT and found_most <= context.slots_length >> 1 else np.int64(1)
            )
            row_of_pass = np.int64(local_heads[local]) if turn < count else np.int64(-1)
            # A key on a list is only exact when its elements are searched for one by one.
            is_keyed = turn < count and keys > 0 and listed_high[local] != 0
            is_layered = n_layers > 0 and group.mixed_at >= 0 and (passes > 1 or not is_keyed)
            for _ in range(passes):
                if passes > 1:
                    aim(segment, context, local, row_of_pass)
                    row_of_pass = np.int64(row_next[row_of_pass])
                for step in range((n_zones(group) + 63) >> 6):
                    zones = zones_alive(codes, group, step, low, high)
                    while zones != 0 and not stopped:
                        blocks, zones = list_blocks(codes, group, step, zones, low, high, most, found)
                        counts.blocks += blocks
                        sure_count, end = _search_blocks(
                            blocks, number, segment, context, n_layers if is_layered else 0, is_keyed,
                            flags, moment, sure_count, end,
                        )  # fmt: skip
                        if flags & r.STOP:
                            stopped = _settle(end, source, segment, context, count, n_layers, flags, moment)
                            sure_count, end = counts.sure, counts.waiting
            if passes > 1:
                aim(segment, context, local, -1)
            if stopped:
                return True
    if flags & r.STOP == 0:  # all at once, so that they wait for memory together
        counts.sure = sure_count
        _settle(end, source, segment, context, count, n_layers, flags, moment)
    return False


@subkernel
def _search_blocks(blocks, number, segment, context, n_layers, is_keyed, flags, moment, sure_count, end):
    """Search the listed blocks of a group; return how many matches and candidates there are now."""
    codes, mixed = segment.codes, segment.mixed
    low, high = context.low, context.high
    strict_low, strict_high = context.strict_low, context.strict_high
    listed_low, listed_high = context.listed_low, context.listed_high
    layers, room = context.layers, context.low_length
    left_at, prefilter = segment.left_at, segment.prefilter
    claims, died = segment.claims, segment.died
    has_prefilter, has_deaths = segment.prefilter_length > 0, segment.deaths[0] > 0
    slots, candidates = context.slots, context.pending
    found, counts = context.blocks, context.counts
    is_quick = segment.box_owner_length == 0 and flags & (r.STOP | r.TALLY) == 0
    is_narrow = segment.is_narrow != 0
    group = r.GroupRecord(segment.groups, number * segment.group_width)
    mixed_first, has_left = group.mixed_at, group.left_kinds != 0
    for index in range(blocks):
        block = np.int64(found[index])
        mixed_at = mixed_first + block * (r.MIXED_SIDES * 192)
        lanes = boxes_alive(codes, group, block, low, high)
        if n_layers > 0:
            lanes = _layers_alive(mixed, mixed_at, layers, room, n_layers, lanes, is_narrow)
        elif mixed_first >= 0:
            lanes = mixed_alive(mixed, mixed_at, low, high, lanes, is_narrow)
        if lanes == 0:
            continue
        counts.candidates += np.int64(bit_count(lanes))
        sure, listed, several = lanes, lanes, np.uint64(0)
        if n_layers > 0:
            listed, several = _on_lists(mixed, mixed_at, listed_low, listed_high, lanes, is_keyed, is_narrow)
        else:
            sure &= boxes_alive(codes, group, block, strict_low, strict_high)
            if mixed_first >= 0:
                sure = mixed_alive(mixed, mixed_at, strict_low, strict_high, sure, is_narrow)
        first_box = group.first_box + (block << 6)
        if is_quick:  # mostly all that is left to ask is who is alive
            quick = sure & ~several
            others, sure_count = take_sure(
                quick, first_box, left_at, claims, died, has_left, has_deaths, moment, slots, sure_count
            )
            lanes = (lanes & ~quick) | others
        end = add_candidates(
            lanes,
            sure,
            listed,
            several,
            first_box,
            number,
            left_at,
            prefilter,
            has_prefilter,
            candidates,
            end,
        )
    return sure_count, end
