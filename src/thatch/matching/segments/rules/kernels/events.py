"""Make the rows that rules read of those that the encoder wrote: texts are copied, and folded beside themselves."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel
from thatch.matching.segments.rules.folding import MOST_GROWTH
from thatch.matching.segments.rules.records import ROW_WIDTH

__all__ = ["BEHIND", "GROW", "NOT_ASCII", "file_rows"]

GROW, NOT_ASCII = -1, -2
BEHIND = 8  # bytes behind the last text, which a scan may read
_TEXT, _NUMBER, _NAN = 6, 5, 4


@subkernel
def _fold(event, start, end, target):
    """Write the folded form of a text that is not ASCII; where it ends."""
    words = event.words
    at = start
    while at < end:
        first = np.int64(words[at])
        size = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        code = first if size == 1 else first & (0x7F >> size)
        for k in range(1, size):
            code = (code << 6) | (np.int64(words[at + k]) & 0x3F)
        place = np.int64(0)
        if 128 <= code < 256 * event.fold_pages_length:
            place = np.int64(event.fold_places[(np.int64(event.fold_pages[code >> 8]) << 8) | (code & 255)])
        if place > 0:
            length = np.int64(event.fold_content[place])
            for k in range(length):
                words[target + k] = event.fold_content[place + 1 + k]
        else:
            length = size
            for k in range(size):
                words[target + k] = words[at + k]
            if 65 <= code <= 90:
                words[target] = np.uint8(code + 32)
        at += size
        target += length
    return target


@subkernel
def _file_text(event, row, source, size, target):
    """File one text, as it is and folded; where the next one goes, or NOT_ASCII."""
    at = ROW_WIDTH * row
    seen = np.int64(0)
    for k in range(size):
        byte = event.source[source + k]
        event.words[target + k] = byte
        seen |= byte
    end = target + size
    event.rows[at + 1], event.rows[at + 2] = target, end
    if seen >= 128 and target + (1 + MOST_GROWTH) * size > event.words_length - BEHIND:
        return np.int64(GROW)
    if seen < 128:
        for k in range(size):
            byte = event.words[target + k]
            event.words[end + k] = byte + 32 if 65 <= byte <= 90 else byte
        last = end + size
    elif event.fold_pages_length == 0:
        return np.int64(NOT_ASCII)
    else:
        last = _fold(event, target, end, end)
    event.rows[at + 3], event.rows[at + 4] = end, last
    return last


@subkernel
def _file_number(event, row, code, number):
    event.rows[ROW_WIDTH * row] = code + (_NUMBER if number == number else _NAN)
    event.lows[row] = number + 0.0  # there is one zero
    event.highs[row] = number + 0.0


@subkernel
def file_rows(event, n_rows):
    """File an event without lists; how many rows it has, or why it cannot be done so.

    Returns GROW if there is no room for its texts or rows, NOT_ASCII for a text that needs the tables of folding.
    """
    event.n_rows = 0
    if ROW_WIDTH * n_rows > event.rows_length:
        return np.int64(GROW)
    number, source, target = np.int64(0), np.int64(0), np.int64(0)
    room = event.words_length - BEHIND
    for row in range(n_rows):
        code = np.int64(event.row_info[2 * n_rows + row])
        kind = code & 7
        if _NAN <= kind <= _NUMBER:
            _file_number(event, row, code - kind, event.row_numbers[row])
        elif kind == _TEXT:
            size = np.int64(event.row_info[3 * n_rows + number])
            if target + 2 * size > room:
                return np.int64(GROW)
            target = _file_text(event, row, source, size, target)
            if target < 0:
                return target
            source += size
            number += 1
            event.rows[ROW_WIDTH * row] = code
        else:
            event.rows[ROW_WIDTH * row] = code
    event.n_rows = n_rows
    return n_rows


@subkernel
def file_columns(event, at, attribute, classes, numbers, codes, offsets):
    """File one event of a batch, whose texts are in `source`; how many rows it has, GROW or NOT_ASCII."""
    event.n_rows = 0
    if ROW_WIDTH * len(attribute) > event.rows_length:
        return np.int64(GROW)
    target, filed = np.int64(0), np.int64(0)
    room = event.words_length - 8
    for column in range(len(attribute)):
        kind = np.int64(classes[column, at])
        if kind == 0:
            continue
        code = 8 * np.int64(attribute[column])
        if _NAN <= kind <= _NUMBER:
            _file_number(event, filed, code, numbers[column, at])
        else:
            event.rows[ROW_WIDTH * filed] = code + kind
        if kind == _TEXT:
            start = np.int64(offsets[codes[column, at]])
            size = np.int64(offsets[codes[column, at] + 1]) - start
            if target + (1 + MOST_GROWTH) * size > room:
                return np.int64(GROW)
            target = _file_text(event, filed, start, size, target)
            if target < 0:
                return target
        filed += 1
    event.n_rows = filed
    return filed
