"""Kernels that turn the rows of an event into what segments and deltas compare: chains, cells and codes."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.matching.segments import records as r
from thatch.matching.segments.kernels.cells import FIRST_TEXT, number_cell, text_cell, wide_code

__all__ = [
    "LONG", "SHORT", "aim", "cell_of", "count_lists", "encode", "file_rows", "forget_layers",
    "forget_rows", "set_layers",
]  # fmt: skip

SHORT = 32  # elements of a list that are searched for one by one
LONG = 8  # elements; the cells of a longer list are sorted
_EXACT = 9007199254740992.0  # 2^53: an integer beyond it may have been rounded on its way here


@subkernel
def file_rows(context, rows, flags):
    """Chain the rows of every attribute, and give them coarse codes for deltas; return how many attributes there are.

    Heads are -1 and the coarse codes and joints 0 before, and again after `forget_rows`. Returns -1 for rounded
    numbers, having done nothing.
    """
    numbers = context.row_numbers
    info = context.row_info
    words = context.words
    row_class = context.row_class
    text_at, text_length = context.row_text_at, context.row_text_length
    row_next, row_element = context.row_next, context.row_element
    heads, joints, touched = context.heads, context.joints, context.touched
    wide_low, wide_high = context.wide_low, context.wide_high
    has_delta = context.n_deltas > 0
    if flags & r.NUMERIC:
        for row in range(rows):
            if abs(numbers[row]) >= _EXACT:
                return -1
    count, start, text = np.int64(0), np.int64(0), np.int64(0)
    base = 2 * rows  # numbers take the room of two integers each
    lists_at = np.int64(0)
    if flags & r.GROUPED:  # behind the lengths of the texts
        lists_at = base + rows
        for row in range(rows):
            lists_at += 1 if info[base + row] & 7 == 6 else 0
    for row in range(rows):
        code = np.int64(info[base + row])
        is_joint = code >= r.JOINT
        if is_joint:
            code -= r.JOINT
        kind = code & 7
        if flags & r.NUMERIC:
            kind = np.int64(5 if numbers[row] == numbers[row] else 4)
        length = np.int64(0)
        if kind == 6:
            length = np.int64(info[base + rows + text])
            text += 1
        attribute = code >> 3
        row_class[row] = kind
        text_at[row] = start
        text_length[row] = length
        if 0 <= attribute < context.heads_length:
            row_next[row] = heads[attribute]
            if has_delta:
                wide = wide_code(kind, numbers[row], words, start, length)
                if heads[attribute] < 0 or wide < wide_low[attribute]:
                    wide_low[attribute] = wide
                if heads[attribute] < 0 or wide > wide_high[attribute]:
                    wide_high[attribute] = wide
            if heads[attribute] < 0:
                touched[count] = attribute
                count += 1
            heads[attribute] = row
            if is_joint:
                joints[attribute] = r.NOT_KNOWN
            elif flags & r.GROUPED:
                number = np.int64(info[lists_at + row])
                joints[attribute] = number if number > joints[attribute] else joints[attribute]
                row_element[row] = info[lists_at + rows + row]
        start += length
    return count


@subkernel
def forget_rows(context, touched):
    """Undo `file_rows`."""
    heads, joints, attributes = context.heads, context.joints, context.touched
    wide_low, wide_high = context.wide_low, context.wide_high
    for index in range(touched):
        attribute = attributes[index]
        heads[attribute] = -1
        joints[attribute] = 0
        wide_low[attribute] = 0
        wide_high[attribute] = 0


@subkernel
def _cell_of_number(segment, local, number):
    """The cell of a number on a segment's line."""
    number_at, grid_at = segment.number_at, segment.grid_at
    return number_cell(
        segment.numbers, number_at[local], number_at[local + 1],
        segment.grid, grid_at[local], grid_at[local + 1],
        segment.grid_scale[local], number,
    )  # fmt: skip


@subkernel
def _cell_of_text(segment, local, words, start, length):
    """The cell of a text on a segment's line."""
    number_at, text_at = segment.number_at, segment.text_at
    inside = text_cell(
        segment.text_keys, segment.text_offsets, segment.text_blob,
        text_at[local], text_at[local + 1], words, start, length,
    )  # fmt: skip
    return FIRST_TEXT + 2 * (number_at[local + 1] - number_at[local]) + inside


@subkernel
def cell_of(segment, local, kind, number, words, start, length):
    """The cell of a value on a segment's line."""
    if kind == 5:
        return np.int64(_cell_of_number(segment, local, number))
    if kind == 6:
        return np.int64(_cell_of_text(segment, local, words, start, length))
    return np.int64(kind)


@r.PARTS.part(r.TEXTS)
def _cell_of_row(segment: r.SegmentRecord, context: r.SearchContext, local: int, row: int) -> int:
    """The cell of an event's text; compiled on demand, as many sets are about numbers alone."""
    words = context.words
    start, length = context.row_text_at[row], context.row_text_length[row]
    return np.int64(_cell_of_text(segment, local, words, np.int64(start), np.int64(length)))


@subkernel
def _sort(cells, start, end):
    """Sort a part of an array by Shell's method, which is short, and quick enough for the elements of a list."""
    gap = np.int64(1)
    while gap < end - start:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for index in range(start + gap, end):
            cell = cells[index]
            at = index
            while at >= start + gap and cells[at - gap] > cell:
                cells[at] = cells[at - gap]
                at -= gap
            cells[at] = cell


@subkernel
def encode(segment, context, touched):
    """Compute the codes and cells of the event in one segment.

    Returns how many of its attributes the segment knows, and whether a match of codes needs a closer look.
    """
    numbers, row_class = context.row_numbers, context.row_class
    number_at, text_at = segment.number_at, segment.text_at
    row_next, row_cells = context.row_next, context.row_cells
    heads, joints, attributes = context.heads, context.joints, context.touched
    low, high = context.low, context.high
    strict_low, strict_high = context.strict_low, context.strict_high
    cell_low, cell_high = context.cell_low, context.cell_high
    local_heads, local_joints = context.local_heads, context.local_joints
    known = context.local_touched
    local_of, shifts = segment.local_of, segment.shifts
    is_loose = segment.is_exact == 0
    count = np.int64(0)
    if is_loose:  # missing shares its code with its neighbours, so nothing is sure where codes are coarse
        for local in range(segment.n_attributes):
            if shifts[local] > 0:
                strict_low[local], strict_high[local] = 65535, 0
    for index in range(touched):
        attribute = attributes[index]
        if attribute >= segment.local_of_length:
            continue
        local = local_of[attribute]
        if local < 0:
            continue
        known[count] = local
        count += 1
        row = heads[attribute]
        least, most = np.int64(2147483647), np.int64(-1)
        is_single = row_next[row] < 0
        local_heads[local] = row
        local_joints[local] = joints[attribute]
        while row >= 0:
            cell = np.int64(row_class[row])
            if cell == 5:
                cell = np.int64(_cell_of_number(segment, np.int64(local), numbers[row]))
            elif cell == 6:
                if (
                    text_at[local] == text_at[local + 1]
                ):  # the segment has no texts there, so all share one cell
                    cell = FIRST_TEXT + 2 * (number_at[local + 1] - number_at[local])
                else:
                    cell = _cell_of_row(
                        context.parts[r.TEXTS], segment, context, np.int64(local), np.int64(row)
                    )
            row_cells[row] = cell
            least, most = cell if cell < least else least, cell if cell > most else most
            row = row_next[row]
        cell_low[local], cell_high[local] = least, most
        shift = shifts[local]
        low[local], high[local] = least >> shift, most >> shift
        if not is_single or joints[attribute] != 0 or (shift > 0 and most >> shift == 0):
            strict_low[local], strict_high[local] = 65535, 0  # no code is that large: nothing is sure here
            is_loose = True
        elif shift == 0:
            strict_low[local], strict_high[local] = low[local], high[local]
        else:
            strict_low[local], strict_high[local] = (least >> shift) + 1, (most >> shift) - 1
    return count, is_loose


@subkernel
def count_lists(context, count):
    """Count the elements of every list of an event (none for a single value), and sort the cells of long lists."""
    known, heads = context.local_touched, context.local_heads
    row_next, row_cells = context.row_next, context.row_cells
    sorted_at, length_of = context.local_sorted, context.local_length
    sorted_cells = context.sorted
    end = np.int64(0)
    for index in range(count):
        local = np.int64(known[index])
        row, start = np.int64(heads[local]), end
        while row >= 0 and (end > start or row_next[row] >= 0):
            sorted_cells[end] = row_cells[row]
            end += 1
            row = np.int64(row_next[row])
        sorted_at[local], length_of[local] = start, end - start
        if end - start > LONG:
            _sort(sorted_cells, start, end)


@subkernel
def set_layers(segment, context, count):
    """Lay the elements of short lists one over another; return how many layers there are, 0 if it cannot be done.

    A layer has one code for every attribute; those of single values, and the last of shorter lists, come again in the
    next. A side holds for some element of a list if it does in some layer. What tells lists from single values lets
    every side on a list pass, and no other.
    """
    if segment.is_exact == 0:
        return np.int64(0)
    known, length_of = context.local_touched, context.local_length
    joints = context.local_joints
    most = np.int64(1)
    for index in range(count):
        length = np.int64(length_of[known[index]])
        if length > r.MOST_LAYERS or joints[known[index]] == r.NOT_KNOWN:
            return np.int64(0)
        most = length if length > most else most
    layers, room = context.layers, context.low_length
    listed_low, listed_high = context.listed_low, context.listed_high
    heads, row_next = context.local_heads, context.row_next
    row_cells = context.row_cells
    for index in range(count):
        local = np.int64(known[index])
        row = np.int64(heads[local])
        for layer in range(most):
            layers[layer * room + local] = row_cells[row]
            row = np.int64(row_next[row]) if row_next[row] >= 0 else row
        if length_of[local] > 1:
            listed_low[local], listed_high[local] = 0, 65535
    return most


@subkernel
def forget_layers(context, count):
    """Undo `set_layers`."""
    known, room = context.local_touched, context.low_length
    layers = context.layers
    listed_low, listed_high = context.listed_low, context.listed_high
    for index in range(count):
        local = np.int64(known[index])
        listed_low[local], listed_high[local] = 65535, 0
        for layer in range(r.MOST_LAYERS):
            layers[layer * room + local] = 0


@subkernel
def aim(segment, context, local, row):
    """Set the codes of a list to those of one of its elements or, for row -1, of its hull again."""
    low, high = context.low, context.high
    strict_low, strict_high = context.strict_low, context.strict_high
    shift = segment.shifts[local]
    strict_low[local], strict_high[local] = 65535, 0
    if row < 0:
        low[local] = context.cell_low[local] >> shift
        high[local] = context.cell_high[local] >> shift
        return
    cell = np.int64(context.row_cells[row])
    low[local], high[local] = cell >> shift, cell >> shift
    if context.local_joints[local] == r.NOT_KNOWN:
        # It may be one of the two neighbours of an integer that no double equals: what lies between them has no cell.
        low[local], high[local] = (cell - 1 if cell > 0 else cell) >> shift, (cell + 1) >> shift
    # An element of a list with one attribute decides for itself; elsewhere codes are not sure, as before.
    if context.local_joints[local] == 0 and shift == 0:
        strict_low[local], strict_high[local] = cell, cell
