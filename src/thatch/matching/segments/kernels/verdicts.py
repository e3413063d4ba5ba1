"""Kernels that decide about one box: its exact sides, its checks, and lists whose elements must agree.

Sides of a box on the same attribute stand together and are alternatives, one of which must hold: `start` to `end`.
Elements of a list are struck out by every attribute and check of that list that they fail; it holds if one is left.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import inline, subkernel
from thatch.compiled.pointers import int32_at, int64_at, uint8_at, uint16_at, uint32_at
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.candidates import (
    FLAGS,
    HAS_CHECKS,
    SEVERAL,
    SHIFT,
    SURE,
    box_of,
    group_of,
)
from thatch.matching.segments.kernels.cells import count_below
from thatch.matching.segments.kernels.checks import run_program
from thatch.matching.segments.kernels.on_demand import apart
from thatch.matching.segments.kernels.rows import LONG

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
    """Whether a cell lies in one of some alternatives."""
    side = start
    while side < end and not lo[side] <= cell <= hi[side]:
        side += 1
    return side < end


@subkernel
def _any_inside(which, start, end, lo, hi, context):
    """Whether some element of a list lies in one of some alternatives."""
    heads, row_next = int32_at(context, f.LOCAL_HEADS), int32_at(context, f.ROW_NEXT)
    length = np.int64(int32_at(context, f.LOCAL_LENGTH)[which])
    if length > LONG:
        cells = int32_at(context, f.SORTED)
        first = np.int64(int32_at(context, f.LOCAL_SORTED)[which])
        for side in range(start, end):
            place = first + count_below(cells, first, first + length, np.int64(lo[side]))
            if place < first + length and cells[place] <= hi[side]:
                return True
        return False
    row_cells = int32_at(context, f.ROW_CELLS)
    row = np.int64(heads[which])
    while row >= 0 and not _is_inside(row_cells[row], start, end, lo, hi):
        row = np.int64(row_next[row])
    return row >= 0


@subkernel
def _strike(joint, start, stop, attributes, lo, hi, context):
    """Strike out the elements of a list that fail a box's sides, of those from `start` to `stop`, on its attributes."""
    heads, row_next = int32_at(context, f.LOCAL_HEADS), int32_at(context, f.ROW_NEXT)
    row_cells, row_element = int32_at(context, f.ROW_CELLS), int32_at(context, f.ROW_ELEMENT)
    hits, joints = uint8_at(context, f.HITS), uint8_at(context, f.LOCAL_JOINTS)
    while start < stop:
        end = _end_of(attributes, start, stop)
        row = np.int64(heads[attributes[start]]) if joints[attributes[start]] == joint else np.int64(-1)
        while row >= 0:
            if not _is_inside(row_cells[row], start, end, lo, hi):
                hits[row_element[row]] = 0
            row = np.int64(row_next[row])
        start = end


@subkernel
def _any_left(which, context, start):
    """Whether some element of a list is not struck out; or, to start with, let none be. Each has a row per attribute."""
    heads, row_next = int32_at(context, f.LOCAL_HEADS), int32_at(context, f.ROW_NEXT)
    row_element, hits = int32_at(context, f.ROW_ELEMENT), uint8_at(context, f.HITS)
    row = np.int64(heads[which])
    found = False
    while row >= 0:
        if start:
            hits[row_element[row]] = 1
        elif hits[row_element[row]] != 0:
            found = True
        row = np.int64(row_next[row])
    return found


@subkernel
def _verdict_of(start, stop, attributes, lo, hi, context):
    """NO, YES, or MAYBE: every side holds, but not all of them surely for the same elements of a list."""
    cell_low, cell_high = int32_at(context, f.CELL_LOW), int32_at(context, f.CELL_HIGH)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    result = YES
    done = np.uint64(0)  # lists that were looked at
    while start < stop:
        which = np.int64(attributes[start])
        end = _end_of(attributes, start, stop)
        joint = np.uint64(joints[which])
        if heads[which] < 0:  # missing, which is cell 0
            if lo[start] > 0:
                return NO
        elif joint == f.NOT_KNOWN:
            is_near = False
            for side in range(start, end):
                is_near |= lo[side] <= cell_high[which] and hi[side] >= cell_low[which]
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
def _row_holds(check, row, desc, context):
    """Whether a check holds for one value."""
    start = int64_at(desc, f.CHECK_START)[check]
    programs, size = desc[f.PROGRAMS], desc[f.PROGRAMS + 1]
    if row < 0:  # missing
        return run_program(context, programs, size, start, np.int64(0), np.int64(0), np.int64(0))
    kind = np.int64(uint8_at(context, f.ROW_CLASS)[row])
    at, length = int32_at(context, f.ROW_TEXT_AT)[row], int32_at(context, f.ROW_TEXT_LENGTH)[row]
    return run_program(context, programs, size, start, kind, np.int64(at), np.int64(length))


@inline
def _is_single(which, context):
    """Whether an event has one value of an attribute, or none: then what codes say is exact."""
    row = int32_at(context, f.LOCAL_HEADS)[which]
    return row < 0 or (
        int32_at(context, f.ROW_NEXT)[row] < 0 and uint8_at(context, f.LOCAL_JOINTS)[which] == 0
    )


@inline
def _new_round(context):
    """Forget the outcomes of checks: they bear the number of their round, which comes again after 127 rounds."""
    outcomes = uint8_at(context, f.OUTCOMES)
    if outcomes[0] == 127:
        for check in range(context[f.OUTCOMES + 1]):
            outcomes[check] = 0
    outcomes[0] += 1


@inline
def _holds(check, row, desc, context):
    """Whether a check holds for the only value of its attribute; many boxes ask, and it is run once."""
    outcomes = uint8_at(context, f.OUTCOMES)
    if outcomes[check + 1] >> 1 != outcomes[0]:
        outcomes[check + 1] = 2 * outcomes[0] + _row_holds(check, row, desc, context)
    return outcomes[check + 1] & 1 != 0


@subkernel
def _check_at(left, entry):
    """The number of the check that an entry of what is left over names."""
    return np.int64(left[3 * entry + 1]) | (np.int64(left[3 * entry + 2]) << 16)


@subkernel
def _list_holds(first, last, which, joint, start, stop, attributes, lo, hi, desc, context):
    """Whether one element of a list satisfies the sides and the checks of a box on all of its attributes."""
    check_attribute, left = uint16_at(desc, f.CHECK_ATTRIBUTE), uint16_at(desc, f.LEFT)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    row_next, row_element = int32_at(context, f.ROW_NEXT), int32_at(context, f.ROW_ELEMENT)
    hits = uint8_at(context, f.HITS)
    _any_left(which, context, 1)
    _strike(joint, start, stop, attributes, lo, hi, context)
    for entry in range(first, last):
        check = _check_at(left, entry)
        if joints[check_attribute[check]] == joint:
            row = np.int64(heads[check_attribute[check]])
            while row >= 0:
                if hits[row_element[row]] != 0 and not _row_holds(check, row, desc, context):
                    hits[row_element[row]] = 0
                row = np.int64(row_next[row])
    return _any_left(which, context, 0)


@subkernel
def _checks_list(box, desc, context):
    """Whether a check of a box is on a list."""
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    check_attribute = uint16_at(desc, f.CHECK_ATTRIBUTE)
    entry = np.int64(left_at[box + 1]) - 1
    while entry >= left_at[box] and left[3 * entry] == f.CHECKED:
        if not _is_single(np.int64(check_attribute[_check_at(left, entry)]), context):
            return True
        entry -= 1
    return False


@subkernel
def _checked(box, start, stop, attributes, lo, hi, desc, context):
    """Whether the checks of a box whose sides hold do: NO, YES or MAYBE.

    Checks and side of one attribute must hold for the same element of a list.
    """
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    check_attribute = uint16_at(desc, f.CHECK_ATTRIBUTE)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    row_cells, row_next = int32_at(context, f.ROW_CELLS), int32_at(context, f.ROW_NEXT)
    result = YES
    first = last = np.int64(left_at[box + 1])
    while first > left_at[box] and left[3 * first - 3] == f.CHECKED:
        first -= 1
    for entry in range(first, last):
        check = _check_at(left, entry)
        which = np.int64(check_attribute[check])
        row = np.int64(heads[which])
        if _is_single(which, context):  # which lies in its side
            if not _holds(check, row, desc, context):
                return NO
            continue
        if joints[which] == f.NOT_KNOWN:
            result = MAYBE
            continue
        if joints[which] != 0:
            joint = np.uint64(joints[which])
            if not _list_holds(first, last, which, joint, start, stop, attributes, lo, hi, desc, context):
                return NO
            continue
        side = start
        while side < stop and attributes[side] != which:
            side += 1
        end = _end_of(attributes, side, stop) if side < stop else side
        is_found = False
        while row >= 0 and not is_found:
            is_found = side == end or _is_inside(row_cells[row], side, end, lo, hi)
            other = first
            while is_found and other < last:
                if check_attribute[_check_at(left, other)] == which:
                    is_found = _row_holds(_check_at(left, other), row, desc, context)
                other += 1
            row = np.int64(row_next[row])
        if not is_found:
            return NO
    return result


# --- all together -------------------------------------------------------------------------------------------------


@inline
def _gather(candidate, desc, context):
    """The sides of a box on lists from its block, which are exact there; how many, or -1 if there is no room for them.

    The hull of a union is left out, as its alternatives say more.
    """
    groups, codes, mixed = int64_at(desc, f.GROUPS), uint16_at(desc, f.CODES), uint16_at(desc, f.MIXED)
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    attributes = uint16_at(context, f.HOT_ATTRIBUTE)
    lo, hi = uint32_at(context, f.HOT_LO), uint32_at(context, f.HOT_HI)
    box, row = box_of(candidate), group_of(candidate) * desc[f.GROUP_WIDTH]
    block, lane = (box - groups[row + f.FIRST_SLOT]) >> 6, (box - groups[row + f.FIRST_SLOT]) & 63
    keys, mixed_at = groups[row + f.GROUP_KEYS], groups[row + f.GROUP_MIXED]
    own = keys + (f.SLOTS if mixed_at >= 0 else 0)
    if own + left_at[box + 1] - left_at[box] > f.MOST_HOT:
        return np.int64(-1)
    count = np.int64(0)
    for at in range(3 * np.int64(left_at[box]), 3 * np.int64(left_at[box + 1]), 3):
        if left[at] != f.CHECKED and not _is_single(left[at], context):
            attributes[count], lo[count], hi[count] = left[at], left[at + 1], left[at + 2]
            count += 1
    left_count = count
    for index in range(own):
        if index < keys:
            at = groups[row + f.GROUP_CODES] + (block * keys + index) * 128 + lane
            which, first, last = groups[row + f.FIRST_KEY + index], codes[at], codes[at + 64]
        else:
            at = mixed_at + (block * f.SLOTS + index - keys) * 192 + lane
            which, first, last = np.int64(mixed[at]), mixed[at + 64], mixed[at + 128]
        is_wanted = last != 65535 and not _is_single(which, context)  # else it is a free slot
        for other in range(left_count):
            is_wanted = is_wanted and attributes[other] != which
        if is_wanted:
            attributes[count], lo[count], hi[count] = which, first, last
            count += 1
    return count


@subkernel
def _must_agree(candidate, desc, context):
    """Whether a box has sides on several attributes of the same list, of which one element must satisfy all."""
    groups, mixed = int64_at(desc, f.GROUPS), uint16_at(desc, f.MIXED)
    left_at, left = int32_at(desc, f.LEFT_AT), uint16_at(desc, f.LEFT)
    joints = uint8_at(context, f.LOCAL_JOINTS)
    box, row = box_of(candidate), group_of(candidate) * desc[f.GROUP_WIDTH]
    place = box - groups[row + f.FIRST_SLOT]
    mixed_at = groups[row + f.GROUP_MIXED] + (place >> 6) * (f.SLOTS * 192) + (place & 63)
    if groups[row + f.GROUP_MIXED] < 0 or groups[row + f.GROUP_KEYS] > 1:
        return True
    seen = np.int64(-1)  # the only attribute on a list so far
    for index in range(-f.SLOTS - 1, np.int64(left_at[box + 1]) - left_at[box]):
        if index >= 0:
            which = np.int64(left[3 * (left_at[box] + index)])
            if which == f.CHECKED:
                break
        elif index == -f.SLOTS - 1:
            if groups[row + f.GROUP_KEYS] == 0:
                continue
            which = groups[row + f.FIRST_KEY]
        else:
            at = mixed_at + (index + f.SLOTS) * 192
            if mixed[at + 128] == 65535:  # a free slot
                continue
            which = np.int64(mixed[at])
        if joints[which] == 0 or which == seen:
            continue
        if seen >= 0:
            return True
        seen = which
    return False


@apart(f.VERDICTS)
def _decide(begin, end, desc, context, is_loose, flags, moment):
    """Drop the candidates that do not match; of the others those are `SURE` that do surely. Return where they end."""
    candidates, tallies = int64_at(context, f.PENDING), int64_at(context, f.TALLIES)
    box_owner, claims = int32_at(desc, f.BOX_OWNER), uint32_at(desc, f.CLAIMS)
    died, has_owners = int64_at(desc, f.DIED), desc[f.BOX_OWNER + 1] > 0
    _new_round(context)
    kept = begin
    for index in range(begin, end):
        candidate = candidates[index]
        box = box_of(candidate)
        verdict = YES
        if candidate & SEVERAL and _must_agree(candidate, desc, context):
            candidate &= ~np.int64(SURE)
        # Lists need the sides of a box: from the codes in its block where those are exact.
        start, stop = np.int64(0), np.int64(0)
        attributes = uint16_at(context, f.HOT_ATTRIBUTE)
        lo, hi = uint32_at(context, f.HOT_LO), uint32_at(context, f.HOT_HI)
        if is_loose and (
            candidate & SURE == 0 or (candidate & HAS_CHECKS and _checks_list(box, desc, context))
        ):
            stop = _gather(candidate, desc, context) if desc[f.IS_EXACT] else np.int64(-1)
            if stop < 0:
                offsets, attributes = int32_at(desc, f.BOX_OFFSETS), uint16_at(desc, f.SIDE_ATTRIBUTE)
                start, stop = np.int64(offsets[box]), np.int64(offsets[box + 1])
                lo, hi = uint32_at(desc, f.SIDE_LO), uint32_at(desc, f.SIDE_HI)
        if is_loose and candidate & SURE == 0:
            verdict = _verdict_of(start, stop, attributes, lo, hi, context)
            if verdict == NO:
                continue
        if flags & f.TALLY:
            owner = np.int64(box_owner[box]) if has_owners else box
            tallies[np.int64(claims[owner]) & ~np.int64(1)] += 1 if died[owner] > moment else 0
        if candidate & HAS_CHECKS and verdict == YES:
            verdict = _checked(box, start, stop, attributes, lo, hi, desc, context)
            if verdict == NO:
                continue
        candidates[kept] = (box << SHIFT) | (SURE if verdict == YES else 0)
        kept += 1
    return kept


@subkernel
def settle(end, source, desc, context, is_loose, flags, moment):
    """Decide about candidates, which stand in PENDING up to `end`; add those that match to PLACES and PENDING.

    Returns whether to stop. Without the closer look what is not sure is verified. All candidates take one step together, so that what they need from memory comes at once.
    """
    box_owner, died = int32_at(desc, f.BOX_OWNER), int64_at(desc, f.DIED)
    has_deaths, has_owners = int64_at(desc, f.DEATHS)[0] > 0, desc[f.BOX_OWNER + 1] > 0
    claims = uint32_at(desc, f.BOX_CLAIMS if has_owners else f.CLAIMS)
    places, pending = int64_at(context, f.PLACES), int64_at(context, f.PENDING)
    counts = int64_at(context, f.COUNTS)
    begin = counts[f.WAITING]
    has_checks = desc[f.CHECK_ATTRIBUTE + 1] > 0
    if (is_loose or has_checks or flags & f.TALLY) and int64_at(context, f.PARTS)[f.VERDICTS] != 0:
        end = _decide(begin, end, desc, context, is_loose, flags, moment)
    for index in range(begin, end):
        box, is_sure = box_of(pending[index]), pending[index] & FLAGS == SURE
        if has_deaths and died[np.int64(box_owner[box]) if has_owners else box] <= moment:
            continue
        place = np.int64(claims[box])
        if place & f.VERIFY or not is_sure:
            owner = np.int64(box_owner[box]) if has_owners else box
            pending[counts[f.WAITING]] = (np.int64(source) << 32) | owner
            counts[f.WAITING] += 1
            continue
        places[counts[f.SURE]] = place >> 1
        counts[f.SURE] += 1
        if flags & f.STOP:
            return True
    return False
