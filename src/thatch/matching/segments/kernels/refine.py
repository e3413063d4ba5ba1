"""Kernels that drop candidates, boxes whose codes pass, of which their sieves or sides left over tell that they fail."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import prefetch
from thatch.compiled.decorators import inline, subkernel
from thatch.compiled.pointers import int32_at, int64_at, uint16_at, uint32_at
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.candidates import HAS_CHECKS, LISTED, SEVERAL, SURE, box_of
from thatch.matching.segments.kernels.prefilter import sieved

__all__ = ["sift", "sift_listed"]


@subkernel
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


@subkernel
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


@inline
def _fetched(begin, end, desc, context, count):
    """Drop the candidates that do not pass their sieves; let what is left over of the others be fetched."""
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    candidates = int64_at(context, f.PENDING)
    if desc[f.BOX_SIEVES + 1] > 0 and int64_at(context, f.PARTS)[f.SIEVED] != 0:
        end = sieved(begin, end, desc, context, count)
    for index in range(begin, end):
        prefetch(left, 3 * np.int64(left_at[box_of(candidates[index])]))
    return end


@inline
def sift(begin, end, desc, context, count):
    """Drop the candidates whose sides that are left over do not pass; return where the others end."""
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    candidates = int64_at(context, f.PENDING)
    claims = uint32_at(desc, f.BOX_CLAIMS if desc[f.BOX_OWNER + 1] > 0 else f.CLAIMS)
    end = _fetched(begin, end, desc, context, count)
    kept = begin
    for index in range(begin, end):
        candidate = candidates[index]
        box = box_of(candidate)
        first, last = np.int64(left_at[box]), np.int64(left_at[box + 1])
        if first < last:
            if not _left_pass(left, first, last, low, high):
                continue
            if left[3 * last - 3] == f.CHECKED:
                candidate |= HAS_CHECKS
        candidates[kept] = candidate
        kept += 1
        prefetch(claims, box)
    return kept


@inline
def sift_listed(begin, end, desc, context, count, n_layers):
    """The same for an event with lists, or for coarse codes."""
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    strict_low, strict_high = uint16_at(context, f.STRICT_LOW), uint16_at(context, f.STRICT_HIGH)
    candidates = int64_at(context, f.PENDING)
    claims = uint32_at(desc, f.BOX_CLAIMS if desc[f.BOX_OWNER + 1] > 0 else f.CLAIMS)
    end = _fetched(begin, end, desc, context, count)
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
            elif candidate & SURE and not _left_pass(left, first, last, strict_low, strict_high):
                candidate ^= SURE
            if left[3 * last - 3] == f.CHECKED:
                candidate |= HAS_CHECKS
        candidates[kept] = candidate
        kept += 1
        prefetch(claims, box)
    return kept
