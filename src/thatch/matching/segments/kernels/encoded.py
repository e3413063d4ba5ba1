"""Read events that are MessagePack maps of plain values into columns, without an object per event or value.

What is not such a map, or has a value that columns cannot hold, is left to Python: a row is either read here, exactly as
Python would, or not at all.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, subkernel

__all__ = ["NO_COLUMN", "PYTHON", "read_rows"]

NO_COLUMN, PYTHON = -1, -2  # of a name: it has none in this batch yet; rows that have it are left to Python
_EXACT = 9007199254740992  # 2^53
_NOWHERE = np.int64(-1)
_CLASS_OF_TEXT, _NO_CLASS = 6, 7


@subkernel
def _big(blob, at, size):
    """A number whose highest byte comes first."""
    value = np.uint64(0)
    for step in range(size):
        value = (value << np.uint64(8)) | np.uint64(blob[at + step])
    return value


@subkernel
def _text_at(blob, at, end):
    """Where a text begins and ends, NOWHERE if there is none."""
    head = np.int64(blob[at]) if at < end else np.int64(0)
    start = stop = _NOWHERE
    if 0xA0 <= head <= 0xBF:
        start = at + 1
        stop = start + (head & 31)
    elif 0xD9 <= head <= 0xDB:
        width = np.int64(1) << (head - 0xD9)
        start = at + 1 + width
        if start <= end:
            stop = start + np.int64(_big(blob, at + 1, width))
    return (start, stop) if stop <= end else (_NOWHERE, _NOWHERE)


@subkernel
def _is_utf8(blob, start, stop):
    """Whether bytes are text in UTF-8: no more bytes than needed, no surrogates, nothing beyond the last character."""
    seen = np.uint8(0)
    for at in range(start, stop):
        seen |= blob[at]
    at = start if seen >= 128 else stop
    while at < stop:
        head = np.int64(blob[at])
        at += 1
        if head < 0x80:
            continue
        more = 1 if 0xC2 <= head < 0xE0 else 2 if 0xE0 <= head < 0xF0 else 3 if 0xF0 <= head < 0xF5 else 0
        if more == 0 or at + more > stop:
            return False
        second = np.int64(blob[at])
        lowest = 0xA0 if head == 0xE0 else 0x90 if head == 0xF0 else 0x80
        highest = 0x9F if head == 0xED else 0x8F if head == 0xF4 else 0xBF
        if not lowest <= second <= highest:
            return False
        for step in range(1, more):
            if blob[at + step] & 0xC0 != 0x80:
                return False
        at += more
    return True


@subkernel
def _compared(blob, start, stop, names, name_at, number):
    """-1, 0 or 1 as a text sorts before, with or after a name."""
    first = name_at[number]
    size, length = name_at[number + 1] - first, stop - start
    for step in range(min(size, length)):
        if blob[start + step] != names[first + step]:
            return -1 if blob[start + step] < names[first + step] else 1
    return 0 if size == length else -1 if length < size else 1


@subkernel
def _number_of(blob, start, stop, names, name_at, guess):
    """The number of a name that filters use, NOWHERE for any other; `guess` is tried first, then all by halving."""
    if guess >= 0 and _compared(blob, start, stop, names, name_at, guess) == 0:
        return guess
    low, high = np.int64(0), np.int64(len(name_at) - 1)
    while low < high:
        middle = (low + high) >> 1
        order = _compared(blob, start, stop, names, name_at, middle)
        if order == 0:
            return middle
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return _NOWHERE


@subkernel
def _value_at(blob, at, end):
    """Class and number of a value, and where it ends; of a text, where it begins as well. Class 7: left to Python."""
    head, at = np.int64(blob[at]), at + 1
    kind, number, start = np.int64(_NO_CLASS), 0.0, at
    if head < 0x80 or head >= 0xE0:
        kind, number = np.int64(5), float(head if head < 0x80 else head - 256)
    elif head == 0xC0:
        kind = np.int64(1)
    elif 0xC2 <= head <= 0xC3:
        kind = head - 0xC0
    elif 0xCA <= head <= 0xCB:
        width = np.int64(4) if head == 0xCA else np.int64(8)
        if at + width <= end:
            bits = _big(blob, at, width)
            number = (
                float(np.uint32(bits).view(np.float32)) if head == 0xCA else np.uint64(bits).view(np.float64)
            )
            number += 0.0  # no negative zero
            kind = np.int64(5 if number == number else 4)
            at += width
    elif 0xCC <= head <= 0xD3:
        width = np.int64(1) << ((head - 0xCC) & 3)
        if at + width <= end:
            bits, shift = _big(blob, at, width), np.uint64(64 - 8 * width)
            whole = np.int64(bits)
            if head >= 0xD0:
                whole = np.int64(bits << shift) >> np.int64(shift)
            if -_EXACT <= whole <= _EXACT and (head >= 0xD0 or whole >= 0):
                kind, number = np.int64(5), float(whole)
            at += width
    else:
        first, stop = _text_at(blob, at - 1, end)
        if stop >= 0 and _is_utf8(blob, first, stop):
            kind, start, at = np.int64(_CLASS_OF_TEXT), first, stop
    return kind, number, start, at


@kernel
def read_rows(
    blob, row_at, names, name_at, after, anywhere,
    column_of, numbers_of, classes, numbers, codes, texts, out_rows,
):  # fmt: skip
    """Read rows as columns; return how many rows and how many columns there are.

    Parameters
    ----------
    blob, row_at : the rows, one behind the other, and where each begins
    names, name_at : the names that filters use, sorted
    after : for each name, and at first for the beginning of a row, a guess which name comes next
    anywhere : whether filters look at the texts of names that none of them uses
    column_of : the column of a name, NO_COLUMN or PYTHON; a name gets one when it first occurs
    numbers_of : the name of each column
    texts : where texts begin and end; the code of a text is where its beginning stands
    out_rows : which rows were read
    """
    count = used = columns = np.int64(0)
    room = len(numbers_of)
    for row in range(len(row_at) - 1):
        at, end = np.int64(row_at[row]), np.int64(row_at[row + 1])
        head = np.int64(blob[at]) if at < end else np.int64(0)
        pairs = _NOWHERE
        if 0x80 <= head <= 0x8F:
            pairs, at = head & 15, at + 1
        elif head == 0xDE and at + 3 <= end:
            pairs, at = np.int64(_big(blob, at + 1, 2)), at + 3
        before, texts_before = np.int64(0), used
        while pairs > 0:
            start, stop = _text_at(blob, at, end)
            if start < 0 or stop >= end:
                break
            number = _number_of(blob, start, stop, names, name_at, after[before])
            if number < 0 and not _is_utf8(blob, start, stop):
                break
            kind, value, start, at = _value_at(blob, stop, end)
            if kind == _NO_CLASS:
                break
            pairs -= 1
            if number < 0:
                if anywhere and kind == _CLASS_OF_TEXT:
                    pairs = _NOWHERE
                continue
            after[before] = number
            before = number + 1
            column = np.int64(column_of[number])
            if column == NO_COLUMN and columns < room:
                column_of[number], numbers_of[columns] = columns, number
                column = columns
                classes[column, :] = 0
                columns += 1
            if column < 0 or classes[column, count] != 0:  # no room, PYTHON, or a name that is there twice
                pairs = _NOWHERE
                break
            classes[column, count], numbers[column, count] = kind, value
            if kind == _CLASS_OF_TEXT:
                codes[column, count] = used
                texts[used], texts[used + 1] = start, at
                used += 2
        if pairs == 0 and at == end:
            out_rows[count] = row
            count += 1
        else:
            used = texts_before
            for column in range(columns):
                classes[column, count] = 0
    return count, columns
