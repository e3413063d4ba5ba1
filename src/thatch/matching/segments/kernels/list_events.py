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
def _layers_alive(segment, context, at, count, lanes):
    """Of these boxes, those of which every mixed side passes in some layer."""
    is_narrow = segment.is_narrow != 0
    for step in range(r.MIXED_SIDES):
        found = np.uint64(0)
        for layer in range(count):
            codes = part_of(context.layers, layer * context.low_length)
            found |= mixed64(segment.mixed, at + step * 192, codes, codes, lanes & ~found, is_narrow)
        lanes = found
        if lanes == 0:
            break
    return lanes


@subkernel
def _on_lists(segment, context, at, lanes, is_keyed):
    """Of these boxes, those with a side on a list, and those with more than one; the key may be one."""
    low, high, is_narrow = context.listed_low, context.listed_high, segment.is_narrow != 0
    some, more = lanes if is_keyed else np.uint64(0), np.uint64(0)
    for step in range(r.MIXED_SIDES):
        found = mixed64(segment.mixed, at + step * 192, low, high, lanes, is_narrow)
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
    codes, low, high = segment.codes, context.low, context.high
    found, counts = context.blocks, context.counts
    most = np.int64(1) if flags & r.STOP else np.int64(64)  # a search that stops early looks at few

    stopped = False
    sure_count, end = counts.sure, counts.waiting  # candidates wait behind what is to be verified
    for turn in range(count + 1):  # the attributes of the event, then the boxes that need none
        local = np.int64(context.local_touched[turn]) if turn < count else segment.n_attributes
        for number in range(segment.group_at[local], segment.group_at[local + 1]):
            group = r.GroupRecord(segment.groups, number * segment.group_width)
            keys = group.n_keys
            # Each element of a short list is searched for by itself: their hull would let too much through.
            passes = np.int64(context.local_length[local]) if turn < count and keys == 1 else np.int64(1)
            # A box may be found once for each element; half of the room is kept for what is found once.
            found_most = passes * group.n_boxes + (sure_count if sure_count > end else end)
            if passes == 0 or passes > SHORT or found_most > context.slots_length >> 1:
                passes = np.int64(1)
            row_of_pass = np.int64(context.local_heads[local]) if turn < count else np.int64(-1)
            # A key on a list is only exact when its elements are searched for one by one.
            is_keyed = turn < count and keys > 0 and context.listed_high[local] != 0
            is_layered = n_layers > 0 and group.mixed_at >= 0 and (passes > 1 or not is_keyed)
            for _ in range(passes):
                if passes > 1:
                    aim(segment, context, local, row_of_pass)
                    row_of_pass = np.int64(context.row_next[row_of_pass])
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
    codes, low, high = segment.codes, context.low, context.high
    strict_low, strict_high = context.strict_low, context.strict_high
    has_deaths, counts = segment.deaths[0] > 0, context.counts
    is_quick = segment.box_owner_length == 0 and flags & (r.STOP | r.TALLY) == 0
    group = r.GroupRecord(segment.groups, number * segment.group_width)
    mixed_first, has_left = group.mixed_at, group.left_kinds != 0
    for index in range(blocks):
        block = np.int64(context.blocks[index])
        mixed_at = mixed_first + block * (r.MIXED_SIDES * 192)
        lanes = boxes_alive(codes, group, block, low, high)
        if n_layers > 0:
            lanes = _layers_alive(segment, context, mixed_at, n_layers, lanes)
        elif mixed_first >= 0:
            lanes = mixed_alive(segment, mixed_at, low, high, lanes)
        if lanes == 0:
            continue
        counts.candidates += np.int64(bit_count(lanes))
        sure, listed, several = lanes, lanes, np.uint64(0)
        if n_layers > 0:
            listed, several = _on_lists(segment, context, mixed_at, lanes, is_keyed)
        else:
            sure &= boxes_alive(codes, group, block, strict_low, strict_high)
            if mixed_first >= 0:
                sure = mixed_alive(segment, mixed_at, strict_low, strict_high, sure)
        first_box = group.first_box + (block << 6)
        if is_quick:  # mostly all that is left to ask is who is alive
            quick = sure & ~several
            others, sure_count = take_sure(
                quick, first_box, segment, context, has_left, has_deaths, moment, sure_count
            )
            lanes = (lanes & ~quick) | others
        end = add_candidates(lanes, sure, listed, several, first_box, number, segment, context, end)
    return sure_count, end
