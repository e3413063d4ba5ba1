"""Make the rows that rules read of those that the encoder wrote: texts are copied, and folded beside themselves."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import short_kernel, subkernel
from thatch.matching.segments.rules.records import ROW_WIDTH, RuleEvent

__all__ = ["GROW", "INEXACT", "NOT_ASCII", "file_rows"]

GROW, INEXACT, NOT_ASCII = -1, -2, -3
_TEXT, _NUMBER, _NAN = 6, 5, 4
_EXACT = 2.0**53


@subkernel
def _file_text(event, row, source, size, target, number, folded_source):
    """File one text, as it is and folded; where the next one goes, or NOT_ASCII."""
    at = ROW_WIDTH * row
    seen = np.int64(0)
    for k in range(size):
        byte = event.source[source + k]
        event.words[target + k] = byte
        seen |= byte
    event.rows[at + 1], event.rows[at + 2] = target, target + size
    target += size
    if event.folded_lengths_length > number:
        length = event.folded_lengths[number]
        for k in range(length):
            event.words[target + k] = event.folded_source[folded_source + k]
    else:
        if seen >= 128:
            return np.int64(NOT_ASCII)
        length = size
        for k in range(size):
            byte = event.source[source + k]
            event.words[target + k] = byte + 32 if 65 <= byte <= 90 else byte
    event.rows[at + 3], event.rows[at + 4] = target, target + length
    return target + length


@subkernel
def _file_number(event, row, code, number):
    event.rows[ROW_WIDTH * row] = code + (_NUMBER if number == number else _NAN)
    event.lows[row] = number + 0.0  # there is one zero
    event.highs[row] = number + 0.0


@short_kernel
def file_rows(event_table, n_rows, is_numeric):
    """File an event without lists; how many rows it has, or why it cannot be done so.

    Returns GROW if there is no room for its texts or rows, INEXACT for a number that may have been rounded, NOT_ASCII
    for a text that Python must fold.
    """
    event = RuleEvent(event_table, 0)
    event.n_rows = 0
    if ROW_WIDTH * n_rows > event.rows_length:
        return np.int64(GROW)
    number, source, folded_source, target, filed = (
        np.int64(0),
        np.int64(0),
        np.int64(0),
        np.int64(0),
        np.int64(0),
    )
    room = event.words_length - 8
    for row in range(n_rows):
        code = np.int64(event.row_info[2 * n_rows + row])
        kind = code & 7
        if is_numeric != 0:
            value = event.row_numbers[row]
            if abs(value) >= _EXACT:
                return np.int64(INEXACT)
            if code >= 0:
                _file_number(event, filed, code, value)
                filed += 1
            continue
        if _NAN <= kind <= _NUMBER:
            _file_number(event, filed, code - kind, event.row_numbers[row])
        elif kind == _TEXT:
            size = np.int64(event.row_info[3 * n_rows + number])
            length = event.folded_lengths[number] if event.folded_lengths_length > number else size
            if target + size + length > room:
                return np.int64(GROW)
            target = _file_text(event, filed, source, size, target, number, folded_source)
            if target < 0:
                return target
            source += size
            folded_source += length
            number += 1
            event.rows[ROW_WIDTH * filed] = code
        else:
            event.rows[ROW_WIDTH * filed] = code
        filed += 1
    event.n_rows = filed
    return filed
