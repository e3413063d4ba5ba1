"""Kernels that turn the rows of an event into what segments and deltas compare: chains, cells and codes."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.compiled.pointers import doubles_at, int32_at, int64_at, uint8_at, uint16_at, uint64_at
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.cells import FIRST_TEXT, number_cell, text_cell, wide_code
from thatch.matching.segments.kernels.on_demand import apart

__all__ = [
    "LONG",
    "SHORT",
    "aim",
    "cell_of",
    "count_lists",
    "encode",
    "file_rows",
    "forget_layers",
    "forget_rows",
    "set_layers",
]

SHORT = 32  # elements of a list that are looked for one by one
LONG = 8  # elements of a list from which on its cells are sorted
_EXACT = 9007199254740992.0  # 2^53: an integer beyond it may have been rounded on its way here


@subkernel
def file_rows(context, rows, flags):
    """Chain the rows of every attribute, and code them coarsely for the deltas; return how many attributes there are.

    Heads are -1 and the coarse codes and joints 0 before, and again after `forget_rows`. Returns -1 for rounded
    numbers, having done nothing.
    """
    numbers = doubles_at(context, f.ROW_NUMBERS)
    info = int32_at(context, f.ROW_INFO)
    words = uint8_at(context, f.WORDS)
    row_class = uint8_at(context, f.ROW_CLASS)
    text_at, text_length = int32_at(context, f.ROW_TEXT_AT), int32_at(context, f.ROW_TEXT_LENGTH)
    row_next, row_element = int32_at(context, f.ROW_NEXT), int32_at(context, f.ROW_ELEMENT)
    heads, joints, touched = (
        int32_at(context, f.HEADS),
        uint8_at(context, f.JOINTS),
        int32_at(context, f.TOUCHED),
    )
    wide_low, wide_high = uint16_at(context, f.WIDE_LOW), uint16_at(context, f.WIDE_HIGH)
    has_delta = context[f.DELTAS + 1] > 0
    if flags & f.NUMERIC:
        for row in range(rows):
            if abs(numbers[row]) >= _EXACT:
                return -1
    count, start, text = np.int64(0), np.int64(0), np.int64(0)
    base = 2 * rows  # numbers take the room of two integers each
    lists_at = np.int64(0)
    if flags & f.GROUPED:  # behind the lengths of the texts
        lists_at = base + rows
        for row in range(rows):
            lists_at += 1 if info[base + row] & 7 == 6 else 0
    for row in range(rows):
        code = np.int64(info[base + row])
        is_joint = code >= f.JOINT
        if is_joint:
            code -= f.JOINT
        kind = code & 7
        if flags & f.NUMERIC:
            kind = np.int64(5 if numbers[row] == numbers[row] else 4)
        length = np.int64(0)
        if kind == 6:
            length = np.int64(info[base + rows + text])
            text += 1
        attribute = code >> 3
        row_class[row] = kind
        text_at[row] = start
        text_length[row] = length
        if 0 <= attribute < context[f.HEADS + 1]:
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
                joints[attribute] = f.NOT_KNOWN
            elif flags & f.GROUPED:
                number = np.int64(info[lists_at + row])
                joints[attribute] = number if number > joints[attribute] else joints[attribute]
                row_element[row] = info[lists_at + rows + row]
        start += length
    return count


@subkernel
def forget_rows(context, touched):
    """Undo `file_rows`."""
    heads, joints, attributes = (
        int32_at(context, f.HEADS),
        uint8_at(context, f.JOINTS),
        int32_at(context, f.TOUCHED),
    )
    wide_low, wide_high = uint16_at(context, f.WIDE_LOW), uint16_at(context, f.WIDE_HIGH)
    for index in range(touched):
        attribute = attributes[index]
        heads[attribute] = -1
        joints[attribute] = 0
        wide_low[attribute] = 0
        wide_high[attribute] = 0


@subkernel
def _cell_of_number(desc, local, number):
    """The cell of a number on a segment's line."""
    number_at, grid_at = int64_at(desc, f.NUMBER_AT), int64_at(desc, f.GRID_AT)
    return number_cell(
        doubles_at(desc, f.NUMBERS), number_at[local], number_at[local + 1],
        int32_at(desc, f.GRID), grid_at[local], grid_at[local + 1],
        doubles_at(desc, f.GRID_SCALE)[local], number,
    )  # fmt: skip


@subkernel
def _cell_of_text(desc, local, words, start, length):
    """The cell of a text on a segment's line."""
    number_at, text_at = int64_at(desc, f.NUMBER_AT), int64_at(desc, f.TEXT_AT)
    inside = text_cell(
        uint64_at(desc, f.TEXT_KEYS), int64_at(desc, f.TEXT_OFFSETS), uint8_at(desc, f.TEXT_BLOB),
        text_at[local], text_at[local + 1], words, start, length,
    )  # fmt: skip
    return FIRST_TEXT + 2 * (number_at[local + 1] - number_at[local]) + inside


@subkernel
def cell_of(desc, local, kind, number, words, start, length):
    """The cell of a value on a segment's line."""
    if kind == 5:
        return np.int64(_cell_of_number(desc, local, number))
    if kind == 6:
        return np.int64(_cell_of_text(desc, local, words, start, length))
    return np.int64(kind)


@apart(f.TEXTS)
def _cell_of_row(desc, context, local, row):
    """The cell of an event's text; compiled apart, as many sets are about numbers alone."""
    words = uint8_at(context, f.WORDS)
    start, length = int32_at(context, f.ROW_TEXT_AT)[row], int32_at(context, f.ROW_TEXT_LENGTH)[row]
    return np.int64(_cell_of_text(desc, local, words, np.int64(start), np.int64(length)))


@subkernel
def _sort(cells, start, end):
    """Sort a part of an array in place; Shell's way, which is short and quick enough for the elements of a list."""
    gap = np.int64(1)
    while gap < end - start:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for index in range(start + gap, end):
            cell = cells[index]
            place = index
            while place >= start + gap and cells[place - gap] > cell:
                cells[place] = cells[place - gap]
                place -= gap
            cells[place] = cell


@subkernel
def encode(desc, context, touched):
    """Codes and cells of the event in one segment; how many of its attributes the segment knows, and whether a
    match of codes needs a closer look.
    """
    numbers, row_class = doubles_at(context, f.ROW_NUMBERS), uint8_at(context, f.ROW_CLASS)
    number_at, text_at = int64_at(desc, f.NUMBER_AT), int64_at(desc, f.TEXT_AT)
    row_next, row_cells = int32_at(context, f.ROW_NEXT), int32_at(context, f.ROW_CELLS)
    heads, joints, attributes = (
        int32_at(context, f.HEADS),
        uint8_at(context, f.JOINTS),
        int32_at(context, f.TOUCHED),
    )
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    strict_low, strict_high = uint16_at(context, f.STRICT_LOW), uint16_at(context, f.STRICT_HIGH)
    cell_low, cell_high = int32_at(context, f.CELL_LOW), int32_at(context, f.CELL_HIGH)
    local_heads, local_joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    known = int32_at(context, f.LOCAL_TOUCHED)
    local_of, shifts = int32_at(desc, f.LOCAL_OF), uint8_at(desc, f.SHIFTS)
    is_loose = desc[f.IS_EXACT] == 0
    count = np.int64(0)
    if (
        is_loose
    ):  # missing shares its code with what lies next to it, so nothing is sure where codes are coarse
        for local in range(desc[f.ATTRIBUTES]):
            if shifts[local] > 0:
                strict_low[local], strict_high[local] = 65535, 0
    for index in range(touched):
        attribute = attributes[index]
        if attribute >= desc[f.LOCAL_OF + 1]:
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
                cell = np.int64(_cell_of_number(desc, np.int64(local), numbers[row]))
            elif cell == 6:
                if text_at[local] == text_at[local + 1]:  # where there is no text, they have one cell
                    cell = FIRST_TEXT + 2 * (number_at[local + 1] - number_at[local])
                else:
                    cell = _cell_of_row(desc, context, np.int64(local), np.int64(row))
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
    """Tell how many elements the lists of an event have, none of single values; of long ones the cells are sorted."""
    known, heads = int32_at(context, f.LOCAL_TOUCHED), int32_at(context, f.LOCAL_HEADS)
    row_next, row_cells = int32_at(context, f.ROW_NEXT), int32_at(context, f.ROW_CELLS)
    sorted_at, length_of = int32_at(context, f.LOCAL_SORTED), int32_at(context, f.LOCAL_LENGTH)
    sorted_cells = int32_at(context, f.SORTED)
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
def set_layers(desc, context, count):
    """Lay the elements of short lists one over another, and return how many layers there are; 0 if it cannot be done.

    A layer has one code for every attribute; those of single values, and the last of shorter lists, come again in the
    next. A side holds for some element of a list if it does in some layer. What tells lists from single values lets
    every side on a list pass, and no other.
    """
    if desc[f.IS_EXACT] == 0:
        return np.int64(0)
    known, length_of = int32_at(context, f.LOCAL_TOUCHED), int32_at(context, f.LOCAL_LENGTH)
    joints = uint8_at(context, f.LOCAL_JOINTS)
    most = np.int64(1)
    for index in range(count):
        length = np.int64(length_of[known[index]])
        if length > f.MOST_LAYERS or joints[known[index]] == f.NOT_KNOWN:
            return np.int64(0)
        most = length if length > most else most
    layers, room = uint16_at(context, f.LAYERS), context[f.LOW + 1]
    listed_low, listed_high = uint16_at(context, f.LISTED_LOW), uint16_at(context, f.LISTED_HIGH)
    heads, row_next = int32_at(context, f.LOCAL_HEADS), int32_at(context, f.ROW_NEXT)
    row_cells = int32_at(context, f.ROW_CELLS)
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
    known, room = int32_at(context, f.LOCAL_TOUCHED), context[f.LOW + 1]
    layers = uint16_at(context, f.LAYERS)
    listed_low, listed_high = uint16_at(context, f.LISTED_LOW), uint16_at(context, f.LISTED_HIGH)
    for index in range(count):
        local = np.int64(known[index])
        listed_low[local], listed_high[local] = 65535, 0
        for layer in range(f.MOST_LAYERS):
            layers[layer * room + local] = 0


@subkernel
def aim(desc, context, local, row):
    """Let the codes of a list be those of one of its elements; or, for row -1, of its hull again."""
    low, high = uint16_at(context, f.LOW), uint16_at(context, f.HIGH)
    strict_low, strict_high = uint16_at(context, f.STRICT_LOW), uint16_at(context, f.STRICT_HIGH)
    shift = uint8_at(desc, f.SHIFTS)[local]
    strict_low[local], strict_high[local] = 65535, 0
    if row < 0:
        low[local] = int32_at(context, f.CELL_LOW)[local] >> shift
        high[local] = int32_at(context, f.CELL_HIGH)[local] >> shift
        return
    cell = np.int64(int32_at(context, f.ROW_CELLS)[row])
    low[local], high[local] = cell >> shift, cell >> shift
    if uint8_at(context, f.LOCAL_JOINTS)[local] == f.NOT_KNOWN:
        # It may be one of the two neighbours of an integer that no double equals: what lies between them has no cell.
        low[local], high[local] = (cell - 1 if cell > 0 else cell) >> shift, (cell + 1) >> shift
    # An element that is alone in what it says decides for itself; elsewhere codes are not sure, as before.
    if uint8_at(context, f.LOCAL_JOINTS)[local] == 0 and shift == 0:
        strict_low[local], strict_high[local] = cell, cell
