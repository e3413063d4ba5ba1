"""Candidates: boxes whose codes pass, kept as numbers that hold a group, a box and flags."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import prefetch, trailing_zeros
from thatch.compiled.decorators import inline, subkernel
from thatch.matching.segments.records import CHECK, MIXED_SIDES, MOST_HOT, VERIFY, GroupRecord

__all__ = [
    "FLAGS", "HAS_CHECKS", "LISTED", "SEVERAL", "SHIFT", "SURE",
    "add_candidates", "box_of", "gather_sides", "is_single", "must_agree", "take_sure",
]  # fmt: skip

SURE = 1  # its codes leave nothing open
LISTED = HAS_CHECKS = 2  # at first: a side in its block may be on a list; later: it has checks
SEVERAL = 4  # it may have several sides on lists, which may have to agree on an element
FLAGS, SHIFT = 7, 3


@inline
def _candidate_of(box, is_sure, is_listed, is_several, group):
    flags = (SURE if is_sure else 0) | (LISTED if is_listed else 0) | (SEVERAL if is_several else 0)
    return (group << (32 + SHIFT)) | (box << SHIFT) | flags


@inline
def box_of(candidate):
    """The number of its box."""
    return (candidate >> SHIFT) & 0xFFFFFFFF


@inline
def _group_of(candidate):
    """The number of its group."""
    return candidate >> (32 + SHIFT)


@subkernel
def take_sure(lanes, first_box, segment, context, has_left, has_deaths, moment, sure_count):
    """Write the slots of those boxes of a block that need no closer look and are alive.

    Returns the boxes that need one, and how many matches there are now. Every box has an owner of its own here.
    """
    left_at, claims, died = segment.left_at, segment.claims, segment.died
    one, others = np.uint64(1), np.uint64(0)
    while lanes != 0:
        bit = lanes & (~lanes + one)
        owner = first_box + np.int64(trailing_zeros(lanes))
        lanes ^= bit
        if has_left and left_at[owner] < left_at[owner + 1]:
            others |= bit
            continue
        claim = np.int64(claims[owner])
        if claim & VERIFY:
            others |= bit
        elif not has_deaths or died[owner] > moment:
            context.slots[sure_count] = claim >> 1
            sure_count += 1
    return others, sure_count


@subkernel
def add_candidates(lanes, sure, listed, several, first_box, group, segment, context, end):
    """Add boxes of a block to the candidates, and fetch what is looked at next; return where they end."""
    one, has_prefilter = np.uint64(1), segment.prefilter_length > 0
    while lanes != 0:
        box = first_box + np.int64(trailing_zeros(lanes))
        bit = lanes & (~lanes + one)
        lanes ^= bit
        candidate = _candidate_of(box, sure & bit != 0, listed & bit != 0, several & bit != 0, group)
        context.pending[end] = candidate
        end += 1
        if has_prefilter:
            prefetch(segment.prefilter, box)
        else:
            prefetch(segment.left_at, box)
    return end


# --- the sides of a candidate ------------------------------------------------------------------------------------------


@inline
def is_single(which, context):
    """Whether an event has one value of an attribute, or none: then what codes say is exact."""
    row = context.local_heads[which]
    return row < 0 or (context.row_next[row] < 0 and context.local_joints[which] == 0)


@inline
def gather_sides(candidate, segment, context):
    """Read the sides of a box on lists from its block, where codes are exact.

    Returns how many there are, -1 if there is no room for them. The hull of a union is left out, as its alternatives
    say more.
    """
    left_at, left, mixed = segment.left_at, segment.left, segment.mixed
    attributes, lo, hi = context.hot_attribute, context.hot_lo, context.hot_hi
    box, group = box_of(candidate), GroupRecord(segment.groups, _group_of(candidate) * segment.group_width)
    block, lane = (box - group.first_box) >> 6, (box - group.first_box) & 63
    keys, mixed_at = group.n_keys, group.mixed_at
    own = keys + (MIXED_SIDES if mixed_at >= 0 else 0)
    if own + left_at[box + 1] - left_at[box] > MOST_HOT:
        return np.int64(-1)
    count = np.int64(0)
    for at in range(3 * np.int64(left_at[box]), 3 * np.int64(left_at[box + 1]), 3):
        if left[at] != CHECK and not is_single(left[at], context):
            attributes[count], lo[count], hi[count] = left[at], left[at + 1], left[at + 2]
            count += 1
    left_count = count
    for index in range(own):
        if index < keys:
            at = group.codes_at + (block * keys + index) * 128 + lane
            which, first, last = group.keys[index], segment.codes[at], segment.codes[at + 64]
        else:
            at = mixed_at + (block * MIXED_SIDES + index - keys) * 192 + lane
            which, first, last = np.int64(mixed[at]), mixed[at + 64], mixed[at + 128]
        is_wanted = last != 65535 and not is_single(which, context)  # else nothing stands there
        for other in range(left_count):
            is_wanted = is_wanted and attributes[other] != which
        if is_wanted:
            attributes[count], lo[count], hi[count] = which, first, last
            count += 1
    return count


@subkernel
def must_agree(candidate, segment, context):
    """Whether a box has sides on several attributes of the same list, of which one element must satisfy all."""
    left_at = segment.left_at
    box, group = box_of(candidate), GroupRecord(segment.groups, _group_of(candidate) * segment.group_width)
    in_group = box - group.first_box
    mixed_at = group.mixed_at + (in_group >> 6) * (MIXED_SIDES * 192) + (in_group & 63)
    if group.mixed_at < 0 or group.n_keys > 1:
        return True
    seen = np.int64(-1)  # the only attribute on a list so far
    for index in range(-MIXED_SIDES - 1, np.int64(left_at[box + 1]) - left_at[box]):
        if index >= 0:
            which = np.int64(segment.left[3 * (left_at[box] + index)])
            if which == CHECK:
                break
        elif index == -MIXED_SIDES - 1:
            if group.n_keys == 0:
                continue
            which = group.keys[0]
        else:
            at = mixed_at + (index + MIXED_SIDES) * 192
            if segment.mixed[at + 128] == 65535:  # nothing stands there
                continue
            which = np.int64(segment.mixed[at])
        if context.local_joints[which] == 0 or which == seen:
            continue
        if seen >= 0:
            return True
        seen = which
    return False
