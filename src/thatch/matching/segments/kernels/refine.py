"""Kernels that drop candidates by the prefilter and by those sides that their block has no room for."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import prefetch
from thatch.compiled.decorators import inline, subkernel
from thatch.matching.segments.kernels.candidates import HAS_CHECKS, LISTED, SEVERAL, SURE, box_of
from thatch.matching.segments.kernels.prefilter import drop_by_words
from thatch.matching.segments.records import CHECK, PREFILTER

__all__ = ["refine"]


@subkernel
def _left_pass(left, start, end, low, high):
    """Whether the sides left over pass; of those on one attribute, which stand together, one must."""
    which, passes = np.int64(-1), True
    for at in range(3 * start, 3 * end, 3):
        if left[at] != which:
            if not passes:
                return False
            which = np.int64(left[at])
            if which == CHECK:
                return True
            passes = False
        passes |= (left[at + 1] <= high[which]) & (left[at + 2] >= low[which])
    return passes


@subkernel
def _left_in_layers(left, start, end, context, n_layers):
    """The same where some values are lists: one side must pass in some layer.

    Returns how many of the attributes are lists, -1 if the sides do not pass.
    """
    room = context.low_length
    which, passes, lists = np.int64(-1), True, np.int64(0)
    for at in range(3 * start, 3 * end, 3):
        if left[at] != which:
            if not passes:
                return np.int64(-1)
            which = np.int64(left[at])
            if which == CHECK:
                return lists
            passes = False
            lists += 1 if context.listed_high[which] != 0 else 0
        for layer in range(n_layers if context.listed_high[which] != 0 else 1):
            code = context.layers[layer * room + which]
            passes |= (left[at + 1] <= code) & (left[at + 2] >= code)
    return lists if passes else np.int64(-1)


@inline
def _prefilter(begin, end, segment, context, count):
    """Drop the candidates that the prefilter rules out; fetch the sides left over of the others."""
    address = context.parts[PREFILTER]
    if segment.prefilter_length > 0 and address != 0:
        end = drop_by_words(address, begin, end, segment, context, count)
    for index in range(begin, end):
        prefetch(segment.left, 3 * np.int64(segment.left_at[box_of(context.pending[index])]))
    return end


@inline
def refine(begin, end, segment, context, count, is_loose, n_layers):
    """Drop the candidates whose sides left over do not pass; return where the others end.

    Parameters
    ----------
    is_loose : the event has lists, or codes are coarse
    n_layers : in how many layers its lists lie, 0 if they do not
    """
    left, strict_low, strict_high = segment.left, context.strict_low, context.strict_high
    claims = segment.box_claims if segment.box_owner_length > 0 else segment.claims
    end = _prefilter(begin, end, segment, context, count)
    kept = begin
    for index in range(begin, end):
        candidate = context.pending[index]
        box = box_of(candidate)
        first, last = np.int64(segment.left_at[box]), np.int64(segment.left_at[box + 1])
        is_listed = candidate & LISTED != 0
        candidate &= ~np.int64(LISTED)
        if first < last:
            if n_layers > 0:
                lists = _left_in_layers(left, first, last, context, n_layers)
                if lists < 0:
                    continue
                if lists + is_listed > 1:
                    candidate |= SEVERAL
            elif not _left_pass(left, first, last, context.low, context.high):
                continue
            elif is_loose and candidate & SURE and not _left_pass(left, first, last, strict_low, strict_high):
                candidate ^= SURE
            if left[3 * last - 3] == CHECK:
                candidate |= HAS_CHECKS
        context.pending[kept] = candidate
        kept += 1
        prefetch(claims, box)
    return kept
