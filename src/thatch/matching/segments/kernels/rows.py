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
    heads, joints = context.heads, context.joints
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
        context.row_class[row] = kind
        context.row_text_at[row] = start
        context.row_text_length[row] = length
        if 0 <= attribute < context.heads_length:
            context.row_next[row] = heads[attribute]
            if has_delta:
                wide = wide_code(kind, numbers[row], context.words, start, length)
                if heads[attribute] < 0 or wide < context.wide_low[attribute]:
                    context.wide_low[attribute] = wide
                if heads[attribute] < 0 or wide > context.wide_high[attribute]:
                    context.wide_high[attribute] = wide
            if heads[attribute] < 0:
                context.touched[count] = attribute
                count += 1
            heads[attribute] = row
            if is_joint:
                joints[attribute] = r.NOT_KNOWN
            elif flags & r.GROUPED:
                number = np.int64(info[lists_at + row])
                joints[attribute] = number if number > joints[attribute] else joints[attribute]
                context.row_element[row] = info[lists_at + rows + row]
        start += length
    return count


@subkernel
def forget_rows(context, touched):
    """Undo `file_rows`."""
    for index in range(touched):
        attribute = context.touched[index]
        context.heads[attribute] = -1
        context.joints[attribute] = 0
        context.wide_low[attribute] = 0
        context.wide_high[attribute] = 0


@subkernel
def _cell_of_number(segment, local, number):
    """The cell of a number on a segment's line."""
    return number_cell(
        segment.numbers, segment.number_at[local], segment.number_at[local + 1],
        segment.grid, segment.grid_at[local], segment.grid_at[local + 1],
        segment.grid_scale[local], number,
    )  # fmt: skip


@subkernel
def _cell_of_text(segment, local, words, start, length):
    """The cell of a text on a segment's line."""
    inside = text_cell(
        segment.text_keys, segment.text_offsets, segment.text_blob,
        segment.text_at[local], segment.text_at[local + 1], words, start, length,
    )  # fmt: skip
    return FIRST_TEXT + 2 * (segment.number_at[local + 1] - segment.number_at[local]) + inside


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
    start, length = context.row_text_at[row], context.row_text_length[row]
    return np.int64(_cell_of_text(segment, local, context.words, np.int64(start), np.int64(length)))


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
    strict_low, strict_high = context.strict_low, context.strict_high
    is_loose = segment.is_exact == 0
    count = np.int64(0)
    if is_loose:  # missing shares its code with its neighbours, so nothing is sure where codes are coarse
        for local in range(segment.n_attributes):
            if segment.shifts[local] > 0:
                strict_low[local], strict_high[local] = 65535, 0
    for index in range(touched):
        attribute = context.touched[index]
        if attribute >= segment.local_of_length:
            continue
        local = segment.local_of[attribute]
        if local < 0:
            continue
        context.local_touched[count] = local
        count += 1
        row = context.heads[attribute]
        least, most = np.int64(2147483647), np.int64(-1)
        is_single = context.row_next[row] < 0
        context.local_heads[local] = row
        context.local_joints[local] = context.joints[attribute]
        while row >= 0:
            cell = np.int64(context.row_class[row])
            if cell == 5:
                cell = np.int64(_cell_of_number(segment, np.int64(local), context.row_numbers[row]))
            elif cell == 6:
                if segment.text_at[local] == segment.text_at[local + 1]:  # without texts, all share one cell
                    cell = FIRST_TEXT + 2 * (segment.number_at[local + 1] - segment.number_at[local])
                else:
                    part = context.parts[r.TEXTS]
                    cell = _cell_of_row(part, segment, context, np.int64(local), np.int64(row))
            context.row_cells[row] = cell
            least, most = cell if cell < least else least, cell if cell > most else most
            row = context.row_next[row]
        context.cell_low[local], context.cell_high[local] = least, most
        shift = segment.shifts[local]
        context.low[local], context.high[local] = least >> shift, most >> shift
        if not is_single or context.joints[attribute] != 0 or (shift > 0 and most >> shift == 0):
            strict_low[local], strict_high[local] = 65535, 0  # no code is that large: nothing is sure here
            is_loose = True
        elif shift == 0:
            strict_low[local], strict_high[local] = context.low[local], context.high[local]
        else:
            strict_low[local], strict_high[local] = (least >> shift) + 1, (most >> shift) - 1
    return count, is_loose


@subkernel
def count_lists(context, count):
    """Count the elements of every list of an event (none for a single value), and sort the cells of long lists."""
    end = np.int64(0)
    for index in range(count):
        local = np.int64(context.local_touched[index])
        row, start = np.int64(context.local_heads[local]), end
        while row >= 0 and (end > start or context.row_next[row] >= 0):
            context.sorted[end] = context.row_cells[row]
            end += 1
            row = np.int64(context.row_next[row])
        context.local_sorted[local], context.local_length[local] = start, end - start
        if end - start > LONG:
            _sort(context.sorted, start, end)


@subkernel
def set_layers(segment, context, count):
    """Lay the elements of short lists one over another; return how many layers there are, 0 if it cannot be done.

    A layer has one code for every attribute; those of single values, and the last of shorter lists, come again in the
    next. A side holds for some element of a list if it does in some layer. What tells lists from single values lets
    every side on a list pass, and no other.
    """
    if segment.is_exact == 0:
        return np.int64(0)
    known = context.local_touched
    most = np.int64(1)
    for index in range(count):
        length = np.int64(context.local_length[known[index]])
        if length > r.MOST_LAYERS or context.local_joints[known[index]] == r.NOT_KNOWN:
            return np.int64(0)
        most = length if length > most else most
    room = context.low_length
    for index in range(count):
        local = np.int64(known[index])
        row = np.int64(context.local_heads[local])
        for layer in range(most):
            context.layers[layer * room + local] = context.row_cells[row]
            row = np.int64(context.row_next[row]) if context.row_next[row] >= 0 else row
        if context.local_length[local] > 1:
            context.listed_low[local], context.listed_high[local] = 0, 65535
    return most


@subkernel
def forget_layers(context, count):
    """Undo `set_layers`."""
    for index in range(count):
        local = np.int64(context.local_touched[index])
        context.listed_low[local], context.listed_high[local] = 65535, 0
        for layer in range(r.MOST_LAYERS):
            context.layers[layer * context.low_length + local] = 0


@subkernel
def aim(segment, context, local, row):
    """Set the codes of a list to those of one of its elements or, for row -1, of its hull again."""
    low, high = context.low, context.high
    shift = segment.shifts[local]
    context.strict_low[local], context.strict_high[local] = 65535, 0
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
        context.strict_low[local], context.strict_high[local] = cell, cell
