"""Kernels that decide about one box: its exact sides, its checks, and lists whose elements must agree.

Sides of a box on the same attribute stand together and are alternatives, one of which must hold: `start` to `end`.
Elements of a list are struck out by every attribute and check of that list that they fail; it holds if one is left.
"""

from __future__ import annotations

import numpy as np

from thatch.matching.segments import fields as f
from thatch.matching.segments.cells.kernels import count_below
from thatch.matching.segments.checks.kernels import run_program
from thatch.matching.segments.rows.kernels import LONG
from thatch.matching.segments.vectors.kernels import (
    inlined,
    int32_at,
    int64_at,
    uint8_at,
    uint16_at,
    uint32_at,
)

__all__ = ["MAYBE", "NO", "YES", "checked", "verdict_of"]

NO, YES, MAYBE = 0, 1, 2


@inlined
def _end_of(attributes, start, stop):
    """Where the alternatives end that begin at a side."""
    end = start + 1
    while end < stop and attributes[end] == attributes[start]:
        end += 1
    return end


@inlined
def _is_inside(cell, start, end, lo, hi):
    """Whether a cell lies in one of some alternatives."""
    for side in range(start, end):
        if lo[side] <= cell <= hi[side]:
            return True
    return False


@inlined
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


@inlined
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


@inlined
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


@inlined
def verdict_of(box, desc, context):
    """NO, YES, or MAYBE: every side holds, but not all of them surely for the same elements of a list."""
    offsets, attributes = int32_at(desc, f.BOX_OFFSETS), uint16_at(desc, f.SIDE_ATTRIBUTE)
    lo, hi = uint32_at(desc, f.SIDE_LO), uint32_at(desc, f.SIDE_HI)
    cell_low, cell_high = int32_at(context, f.CELL_LOW), int32_at(context, f.CELL_HIGH)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    result = YES
    done = np.uint64(0)  # lists that were looked at
    start, stop = np.int64(offsets[box]), np.int64(offsets[box + 1])
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


@inlined
def _row_holds(check, row, desc, context):
    """Whether a check holds for one value."""
    start = int64_at(desc, f.CHECK_START)[check]
    programs, size = desc[f.PROGRAMS], desc[f.PROGRAMS + 1]
    if row < 0:  # missing
        return run_program(context, programs, size, start, np.int64(0), np.int64(0), np.int64(0))
    kind = np.int64(uint8_at(context, f.ROW_CLASS)[row])
    at, length = int32_at(context, f.ROW_TEXT_AT)[row], int32_at(context, f.ROW_TEXT_LENGTH)[row]
    return run_program(context, programs, size, start, kind, np.int64(at), np.int64(length))


@inlined
def _list_holds(box, which, joint, desc, context):
    """Whether one element of a list satisfies the sides and the checks of a box on all of its attributes."""
    offsets, attributes = int32_at(desc, f.BOX_OFFSETS), uint16_at(desc, f.SIDE_ATTRIBUTE)
    lo, hi = uint32_at(desc, f.SIDE_LO), uint32_at(desc, f.SIDE_HI)
    check_at, check_attribute = int32_at(desc, f.CHECK_AT), uint16_at(desc, f.CHECK_ATTRIBUTE)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    row_next, row_element = int32_at(context, f.ROW_NEXT), int32_at(context, f.ROW_ELEMENT)
    hits = uint8_at(context, f.HITS)
    _any_left(which, context, 1)
    _strike(joint, np.int64(offsets[box]), np.int64(offsets[box + 1]), attributes, lo, hi, context)
    for check in range(check_at[box], check_at[box + 1]):
        if joints[check_attribute[check]] == joint:
            row = np.int64(heads[check_attribute[check]])
            while row >= 0:
                if hits[row_element[row]] != 0 and not _row_holds(check, row, desc, context):
                    hits[row_element[row]] = 0
                row = np.int64(row_next[row])
    return _any_left(which, context, 0)


@inlined
def checked(box, desc, context):
    """Whether the checks of a box whose sides hold do: NO, YES or MAYBE.

    Checks and side of one attribute must hold for the same element of a list.
    """
    check_at, check_attribute = int32_at(desc, f.CHECK_AT), uint16_at(desc, f.CHECK_ATTRIBUTE)
    offsets, attributes = int32_at(desc, f.BOX_OFFSETS), uint16_at(desc, f.SIDE_ATTRIBUTE)
    lo, hi = uint32_at(desc, f.SIDE_LO), uint32_at(desc, f.SIDE_HI)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    row_cells, row_next = int32_at(context, f.ROW_CELLS), int32_at(context, f.ROW_NEXT)
    result = YES
    for check in range(check_at[box], check_at[box + 1]):
        which = np.int64(check_attribute[check])
        row = np.int64(heads[which])
        if row < 0 or (row_next[row] < 0 and joints[which] == 0):  # one value, which lies in its side
            if not _row_holds(check, row, desc, context):
                return NO
            continue
        if joints[which] == f.NOT_KNOWN:
            result = MAYBE
            continue
        if joints[which] != 0:
            if not _list_holds(box, which, np.uint64(joints[which]), desc, context):
                return NO
            continue
        start, end = np.int64(offsets[box]), np.int64(offsets[box + 1])
        while start < end and attributes[start] != which:
            start += 1
        end = _end_of(attributes, start, end) if start < end else start
        is_found = False
        while row >= 0 and not is_found:
            is_found = start == end or _is_inside(row_cells[row], start, end, lo, hi)
            other = np.int64(check_at[box])
            while is_found and other < check_at[box + 1]:
                if check_attribute[other] == which:
                    is_found = _row_holds(other, row, desc, context)
                other += 1
            row = np.int64(row_next[row])
        if not is_found:
            return NO
    return result
