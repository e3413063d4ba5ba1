"""Kernels that decide about one box: its exact sides, its checks, and lists whose elements must agree.

Sides of a box on the same attribute stand together and are alternatives, one of which must hold: `start` to `end`.
Elements of a list are struck out by every attribute and check of that list that they fail; it holds if one is left.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import inline, subkernel
from thatch.matching.segments import records as r
from thatch.matching.segments.kernels.candidates import (
    FLAGS,
    HAS_CHECKS,
    SEVERAL,
    SHIFT,
    SURE,
    box_of,
    gather_sides,
    is_single,
    must_agree,
)
from thatch.matching.segments.kernels.cells import count_below
from thatch.matching.segments.kernels.checks import run_program
from thatch.matching.segments.kernels.rows import LONG
from thatch.matching.segments.records import SearchContext, SegmentRecord

__all__ = ["settle"]

NO, YES, MAYBE = 0, 1, 2


@subkernel
def _end_of(attributes, start, stop):
    """Where the alternatives end that begin at a side."""
    end = start + 1
    while end < stop and attributes[end] == attributes[start]:
        end += 1
    return end


@subkernel
def _is_inside(cell, start, end, lo, hi):
    """Whether a cell lies in one of the alternatives."""
    side = start
    while side < end and not lo[side] <= cell <= hi[side]:
        side += 1
    return side < end


@subkernel
def _any_inside(which, start, end, lo, hi, context):
    """Whether some element of a list lies in one of the alternatives."""
    length = np.int64(context.local_length[which])
    if length > LONG:
        cells = context.sorted
        first = np.int64(context.local_sorted[which])
        for side in range(start, end):
            at = first + count_below(cells, first, first + length, np.int64(lo[side]))
            if at < first + length and cells[at] <= hi[side]:
                return True
        return False
    row = np.int64(context.local_heads[which])
    while row >= 0 and not _is_inside(context.row_cells[row], start, end, lo, hi):
        row = np.int64(context.row_next[row])
    return row >= 0


@subkernel
def _strike(joint, start, stop, attributes, lo, hi, context):
    """Strike out the elements of a list that fail the box's sides, from `start` to `stop`, on its attributes."""
    while start < stop:
        end = _end_of(attributes, start, stop)
        which = attributes[start]
        row = np.int64(context.local_heads[which]) if context.local_joints[which] == joint else np.int64(-1)
        while row >= 0:
            if not _is_inside(context.row_cells[row], start, end, lo, hi):
                context.hits[context.row_element[row]] = 0
            row = np.int64(context.row_next[row])
        start = end


@subkernel
def _any_left(which, context, start):
    """Whether some element of a list is not yet struck out; with `start`, reinstate them all first."""
    row = np.int64(context.local_heads[which])
    found = False
    while row >= 0:
        if start:
            context.hits[context.row_element[row]] = 1
        elif context.hits[context.row_element[row]] != 0:
            found = True
        row = np.int64(context.row_next[row])
    return found


@subkernel
def _verdict_of(start, stop, attributes, lo, hi, context):
    """NO, YES, or MAYBE: every side holds, but not all of them surely for the same elements of a list."""
    result = YES
    done = np.uint64(0)  # lists that were tested
    while start < stop:
        which = np.int64(attributes[start])
        end = _end_of(attributes, start, stop)
        joint = np.uint64(context.local_joints[which])
        if context.local_heads[which] < 0:  # missing, which is cell 0
            if lo[start] > 0:
                return NO
        elif joint == r.NOT_KNOWN:
            is_near = False
            for side in range(start, end):
                is_near |= lo[side] <= context.cell_high[which] and hi[side] >= context.cell_low[which]
            if not is_near:
                return NO
            result = MAYBE
        elif joint == 0:
            if not _any_inside(which, start, end, lo, hi, context):
                return NO
        elif (done >> joint) & np.uint64(1) == 0:
            done |= np.uint64(1) << joint
            _any_left(which, context, 1)
            _strike(joint, start, stop, attributes, lo, hi, context)
            if not _any_left(which, context, 0):
                return NO
        start = end
    return result


@subkernel
def _row_holds(check, row, segment, context):
    """Whether a check holds for one value."""
    kind, at, length = np.int64(0), np.int64(0), np.int64(0)  # missing
    if row >= 0:
        kind = np.int64(context.row_class[row])
        at, length = np.int64(context.row_text_at[row]), np.int64(context.row_text_length[row])
    start = segment.check_start[check]
    return run_program(context.parts[r.CHECKS], segment.programs, start, kind, context.words, at, length) != 0


@inline
def _new_round(context):
    """Forget the outcomes of checks: each bears the number of its round, which repeats after 127 rounds."""
    outcomes = context.outcomes
    if outcomes[0] == 127:
        for check in range(context.outcomes_length):
            outcomes[check] = 0
    outcomes[0] += 1


@inline
def _holds(check, row, segment, context):
    """Whether a check holds for the only value of its attribute; it runs once, however many boxes ask."""
    outcomes = context.outcomes
    if outcomes[check + 1] >> 1 != outcomes[0]:
        outcomes[check + 1] = 2 * outcomes[0] + _row_holds(check, row, segment, context)
    return outcomes[check + 1] & 1 != 0


@subkernel
def _check_at(left, entry):
    """The number of the check in an entry of `left`."""
    return np.int64(left[3 * entry + 1]) | (np.int64(left[3 * entry + 2]) << 16)


@subkernel
def _list_holds(first, last, which, joint, start, stop, attributes, lo, hi, segment, context):
    """Whether one element of a list satisfies the sides and the checks of a box on all of its attributes."""
    _any_left(which, context, 1)
    _strike(joint, start, stop, attributes, lo, hi, context)
    for entry in range(first, last):
        check = _check_at(segment.left, entry)
        if context.local_joints[segment.check_attribute[check]] == joint:
            row = np.int64(context.local_heads[segment.check_attribute[check]])
            while row >= 0:
                element = context.row_element[row]
                if context.hits[element] != 0 and not _row_holds(check, row, segment, context):
                    context.hits[element] = 0
                row = np.int64(context.row_next[row])
    return _any_left(which, context, 0)


@subkernel
def _checks_list(box, segment, context):
    """Whether a check of a box is on a list."""
    entry = np.int64(segment.left_at[box + 1]) - 1
    while entry >= segment.left_at[box] and segment.left[3 * entry] == r.CHECK:
        if not is_single(np.int64(segment.check_attribute[_check_at(segment.left, entry)]), context):
            return True
        entry -= 1
    return False


@subkernel
def _checked(box, start, stop, attributes, lo, hi, segment, context):
    """Test the checks of a box whose sides hold: NO, YES or MAYBE.

    Checks and side of one attribute must hold for the same element of a list.
    """
    left = segment.left
    joints = context.local_joints
    result = YES
    first = last = np.int64(segment.left_at[box + 1])
    while first > segment.left_at[box] and left[3 * first - 3] == r.CHECK:
        first -= 1
    for entry in range(first, last):
        check = _check_at(left, entry)
        which = np.int64(segment.check_attribute[check])
        row = np.int64(context.local_heads[which])
        if is_single(which, context):  # which lies in its side
            if not _holds(check, row, segment, context):
                return NO
            continue
        if joints[which] == r.NOT_KNOWN:
            result = MAYBE
            continue
        if joints[which] != 0:
            joint = np.uint64(joints[which])
            if not _list_holds(first, last, which, joint, start, stop, attributes, lo, hi, segment, context):
                return NO
            continue
        side = start
        while side < stop and attributes[side] != which:
            side += 1
        end = _end_of(attributes, side, stop) if side < stop else side
        is_found = False
        while row >= 0 and not is_found:
            is_found = side == end or _is_inside(context.row_cells[row], side, end, lo, hi)
            other = first
            while is_found and other < last:
                if segment.check_attribute[_check_at(left, other)] == which:
                    is_found = _row_holds(_check_at(left, other), row, segment, context)
                other += 1
            row = np.int64(context.row_next[row])
        if not is_found:
            return NO
    return result


# --- all together -------------------------------------------------------------------------------------------------


@r.PARTS.part(r.VERDICTS)
def _decide(
    begin: int,
    end: int,
    segment: SegmentRecord,
    context: SearchContext,
    is_loose: int,
    flags: int,
    moment: int,
) -> int:
    """Drop the candidates that do not match; mark those as `SURE` that surely do. Return where they end."""
    has_owners = segment.box_owner_length > 0
    _new_round(context)
    kept = begin
    for index in range(begin, end):
        candidate = context.pending[index]
        box = box_of(candidate)
        verdict = YES
        if candidate & SEVERAL and must_agree(candidate, segment, context):
            candidate &= ~np.int64(SURE)
        # Lists need the sides of a box: from the codes in its block where those are exact.
        start, stop = np.int64(0), np.int64(0)
        attributes = context.hot_attribute
        lo, hi = context.hot_lo, context.hot_hi
        if is_loose and (
            candidate & SURE == 0 or (candidate & HAS_CHECKS and _checks_list(box, segment, context))
        ):
            stop = gather_sides(candidate, segment, context) if segment.is_exact else np.int64(-1)
            if stop < 0:
                offsets, attributes = segment.box_offsets, segment.side_attribute
                start, stop = np.int64(offsets[box]), np.int64(offsets[box + 1])
                lo, hi = segment.side_lo, segment.side_hi
        if is_loose and candidate & SURE == 0:
            verdict = _verdict_of(start, stop, attributes, lo, hi, context)
            if verdict == NO:
                continue
        if flags & r.TALLY:
            owner = np.int64(segment.box_owner[box]) if has_owners else box
            candidates = np.int64(segment.claims[owner]) & ~np.int64(1)
            context.tallies[candidates] += 1 if segment.died[owner] > moment else 0
        if candidate & HAS_CHECKS and verdict == YES:
            verdict = _checked(box, start, stop, attributes, lo, hi, segment, context)
            if verdict == NO:
                continue
        context.pending[kept] = (box << SHIFT) | (SURE if verdict == YES else 0)
        kept += 1
    return kept


@subkernel
def settle(end, source, segment, context, is_loose, flags, moment):
    """Decide about the candidates, which stand in `pending` up to `end`; return whether to stop.

    Matches go to `slots`, what is not sure to `pending`; where the closer look is not loaded, that is more. All
    candidates take one step together, so that they wait for memory together.
    """
    has_deaths, has_owners = segment.deaths[0] > 0, segment.box_owner_length > 0
    claims = segment.box_claims if has_owners else segment.claims
    pending = context.pending
    counts = context.counts
    begin = counts.waiting
    has_checks = segment.check_attribute_length > 0
    if (is_loose or has_checks or flags & r.TALLY) and context.parts[r.VERDICTS] != 0:
        end = _decide(context.parts[r.VERDICTS], begin, end, segment, context, is_loose, flags, moment)
    for index in range(begin, end):
        box, is_sure = box_of(pending[index]), pending[index] & FLAGS == SURE
        if has_deaths and segment.died[np.int64(segment.box_owner[box]) if has_owners else box] <= moment:
            continue
        claim = np.int64(claims[box])
        if claim & r.VERIFY or not is_sure:
            owner = np.int64(segment.box_owner[box]) if has_owners else box
            pending[counts.waiting] = (np.int64(source) << 32) | owner
            counts.waiting += 1
            continue
        context.slots[counts.sure] = claim >> 1
        counts.sure += 1
        if flags & r.STOP:
            return True
    return False
