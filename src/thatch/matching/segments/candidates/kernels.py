"""Kernels that keep candidates, boxes whose codes pass, as numbers, and drop those of which more tells that they fail.

A candidate is the number of its group, that of its box, and flags.
"""

from __future__ import annotations

import numpy as np

from thatch.matching.segments import fields as f
from thatch.matching.segments.sieves.kernels import has_passed
from thatch.matching.segments.vectors.kernels import (
    inlined,
    int32_at,
    int64_at,
    merged,
    prefetch,
    uint16_at,
    uint32_at,
)

__all__ = ["FLAGS", "HAS_CHECKS", "SEVERAL", "SHIFT", "SURE", "box_of", "candidate_of", "group_of", "sift"]

SURE = 1  # its codes leave nothing open
LISTED = HAS_CHECKS = 2  # first that a side in its block may be on a list, later that it has checks
SEVERAL = 4  # it may have several sides on lists, which may have to agree on an element
FLAGS, SHIFT = 7, 3


@inlined
def _left_pass(left, start, end, low, high):
    """Whether the sides that are left over pass; of those on one attribute, which stand together, one must."""
    which, passes = np.int64(-1), True
    for at in range(3 * start, 3 * end, 3):
        if left[at] != which:
            if not passes:
                return False
            which = np.int64(left[at])
            if which == f.CHECKED:
                return True
            passes = False
        passes |= (left[at + 1] <= high[which]) & (left[at + 2] >= low[which])
    return passes


@inlined
def _left_in_layers(left, start, end, context, n_layers):
    """The same where some values are lists: in some layer one must. How many of the attributes are lists; -1 if not."""
    layers, room = uint16_at(context, f.LAYERS), context[f.LOW + 1]
    listed = uint16_at(context, f.LISTED_HIGH)
    which, passes, lists = np.int64(-1), True, np.int64(0)
    for at in range(3 * start, 3 * end, 3):
        if left[at] != which:
            if not passes:
                return np.int64(-1)
            which = np.int64(left[at])
            if which == f.CHECKED:
                return lists
            passes = False
            lists += 1 if listed[which] != 0 else 0
        for layer in range(n_layers if listed[which] != 0 else 1):
            code = layers[layer * room + which]
            passes |= (left[at + 1] <= code) & (left[at + 2] >= code)
    return lists if passes else np.int64(-1)


@merged
def candidate_of(box, is_sure, is_listed, is_several, group):
    """A box of a group whose codes pass, as a number."""
    flags = (SURE if is_sure else 0) | (LISTED if is_listed else 0) | (SEVERAL if is_several else 0)
    return (group << (32 + SHIFT)) | (box << SHIFT) | flags


@merged
def box_of(candidate):
    """The number of its box."""
    return (candidate >> SHIFT) & 0xFFFFFFFF


@merged
def group_of(candidate):
    """The number of its group."""
    return candidate >> (32 + SHIFT)


@merged
def sift(begin, end, desc, context, is_loose, n_layers):
    """Drop the candidates whose sides that are left over do not pass; return where the others end."""
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    strict_low, strict_high = uint16_at(context, f.STRICT_LOW), uint16_at(context, f.STRICT_HIGH)
    candidates = int64_at(context, f.PENDING)
    claims = uint32_at(desc, f.BOX_CLAIMS if desc[f.BOX_OWNER + 1] > 0 else f.CLAIMS)
    box_sieves, words = uint32_at(desc, f.BOX_SIEVES), uint32_at(context, f.SIEVES)
    if desc[f.BOX_SIEVES + 1] > 0:
        passed = begin
        for index in range(begin, end):
            candidates[passed] = candidates[index]
            passed += 1 if has_passed(box_sieves[box_of(candidates[index])], words) else 0
        end = passed
        for index in range(begin, end):
            prefetch(left_at, box_of(candidates[index]))
    for index in range(begin, end):
        prefetch(left, 3 * np.int64(left_at[box_of(candidates[index])]))
    kept = begin
    for index in range(begin, end):
        candidate = candidates[index]
        box = box_of(candidate)
        first, last = np.int64(left_at[box]), np.int64(left_at[box + 1])
        is_listed = candidate & LISTED != 0
        candidate &= ~np.int64(LISTED)
        if first < last:
            if n_layers > 0:
                lists = _left_in_layers(left, first, last, context, n_layers)
                if lists < 0:
                    continue
                if lists + is_listed > 1:
                    candidate |= SEVERAL
            elif not _left_pass(left, first, last, low, high):
                continue
            elif is_loose and candidate & SURE and not _left_pass(left, first, last, strict_low, strict_high):
                candidate ^= SURE
            if left[3 * last - 3] == f.CHECKED:
                candidate |= HAS_CHECKS
        candidates[kept] = candidate
        kept += 1
        prefetch(claims, box)
    return kept
