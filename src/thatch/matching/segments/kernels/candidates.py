"""Kernels that keep candidates, boxes whose codes pass, as numbers: a group, a box and flags."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import prefetch, trailing_zeros
from thatch.compiled.decorators import inline, subkernel
from thatch.matching.segments.records import VERIFY

__all__ = [
    "FLAGS", "HAS_CHECKS", "LISTED", "SEVERAL", "SHIFT", "SURE",
    "add_candidates", "box_of", "group_of", "take_sure",
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
def group_of(candidate):
    """The number of its group."""
    return candidate >> (32 + SHIFT)


@subkernel
def take_sure(lanes, first_box, left_at, claims, died, has_left, has_deaths, moment, slots, sure_count):
    """Write the slots of those boxes of a block that need no closer look and are alive.

    Returns the boxes that need one, and how many matches there are now. Every box has an owner of its own here.
    """
    one = np.uint64(1)
    others = np.uint64(0)
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
            slots[sure_count] = claim >> 1
            sure_count += 1
    return others, sure_count


@subkernel
def add_candidates(
    lanes, sure, listed, several, first_box, group, left_at, prefilter, has_prefilter, candidates, end
):
    """Add boxes of a block to the candidates, and fetch what is looked at next; return where they end."""
    one = np.uint64(1)
    while lanes != 0:
        box = first_box + np.int64(trailing_zeros(lanes))
        bit = lanes & (~lanes + one)
        lanes ^= bit
        candidates[end] = _candidate_of(box, sure & bit != 0, listed & bit != 0, several & bit != 0, group)
        end += 1
        if has_prefilter:
            prefetch(prefilter, box)
        else:
            prefetch(left_at, box)
    return end
