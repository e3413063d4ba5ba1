"""Read a dict of plain values into the rows of an event, without a Python loop over its values."""

from __future__ import annotations

import numpy as np

from thatch.compiled.cpython import (
    TYPE_WORD,
    clear_error,
    hash_of_object,
    item_of_list,
    next_of_dict,
    number_of_float,
    number_of_int,
    size_of_list,
    utf8_of_text,
)
from thatch.compiled.decorators import inline, short_kernel, subkernel
from thatch.compiled.pointers import bytes_at, words_at
from thatch.matching.segments.records import NAME_WIDTH, ReaderRecord

__all__ = ["GROW", "OTHER", "read_plain"]

OTHER, GROW = -1, -2
_EXACT = np.int64(2) ** 53
_LAST_BITS = (1 << 11) - 1  # without these an integer of 64 bits is a double
_MIX = np.uint64(0x9E3779B97F4A7C15)
_UNKNOWN = np.int64(-1)
_POSITION, _KEY, _VALUE, _SIZE = (
    8 * at for at in (ReaderRecord.position, ReaderRecord.key, ReaderRecord.value, ReaderRecord.size)
)


@inline
def _type_of(object_at):
    return words_at(object_at)[TYPE_WORD]


@subkernel
def _text_of(reader, text):
    """The address of a text's UTF-8, 0 if it has none; its length is in `reader.size`."""
    found = utf8_of_text(text, reader.own + _SIZE)
    if found == 0:
        clear_error()
    return found


@subkernel
def _is_same(reader, name, place):
    """Whether a text is the name at a place of the table."""
    found = _text_of(reader, name)
    start, end = reader.name_at[place], reader.name_at[place + 1]
    if found == 0 or reader.size != end - start:
        return False
    for k in range(end - start):  # noqa: SIM110 - a generator does not compile
        if bytes_at(found)[k] != reader.name_blob[start + k]:
            return False
    return True


@subkernel
def _place_of(reader, name):
    """The place of a name that filters use, -1 for any other."""
    hashed = hash_of_object(name)
    slot = np.int64((np.uint64(hashed) * _MIX) >> np.uint64(reader.shift))
    mask = (np.int64(1) << (64 - reader.shift)) - 1
    while reader.names[2 * slot + 1] >= 0:
        if reader.names[2 * slot] == hashed and _is_same(reader, name, reader.names[2 * slot + 1]):
            return reader.names[2 * slot + 1]
        slot = (slot + 1) & mask
    return _UNKNOWN


@subkernel
def _is_plain(reader, value):
    """Whether a value that no filter reads is one that an event may have, and no list or object."""
    kind = _type_of(value)
    if kind == reader.text_type:
        return _text_of(reader, value) != 0
    if kind == reader.int_type:
        reader.size = 0
        number_of_int(value, reader.own + _SIZE)
        return reader.size & 0xFFFFFFFF == 0
    return value == reader.none or kind in (reader.float_type, reader.bool_type)


@subkernel
def _may_be_ignored(reader, value):
    """The same for lists of such values, too."""
    if _type_of(value) != reader.list_type:
        return _is_plain(reader, value)
    size = size_of_list(value)
    reader.parts += size
    if size == 0 or size > reader.longest:
        return False
    for k in range(size):  # noqa: SIM110 - a generator does not compile
        if not _is_plain(reader, item_of_list(value, k)):
            return False
    return True


@subkernel
def _add_number(reader, rows, code, number):
    reader.codes[rows] = code + (5 if number == number else 4)
    reader.row_numbers[rows] = number


@subkernel
def _add_text(reader, rows, code, backwards, value, used):
    """Add a text, and reversed if there is a code for that; how many bytes are used then, or why not."""
    found = _text_of(reader, value)
    if found == 0:
        return np.int64(OTHER)
    size = reader.size
    if used + 2 * size > reader.words_length:
        return np.int64(GROW)
    content = bytes_at(found)
    seen = np.uint8(0)
    for k in range(size):
        reader.words[used + k] = content[k]
        seen |= content[k]
    reader.codes[rows] = code + 6
    reader.lengths[reader.texts] = size
    reader.texts += 1
    reader.row_numbers[rows] = 0.0
    if backwards >= 0:
        if seen >= 128:
            return np.int64(OTHER)
        for k in range(size):
            reader.words[used + size + k] = content[size - 1 - k]
        reader.codes[rows + 1] = backwards
        reader.lengths[reader.texts] = size
        reader.texts += 1
        reader.row_numbers[rows + 1] = 0.0
        return used + 2 * size
    return used + size


@subkernel
def _add_other(reader, rows, code, value):
    """Add a value that is no text; False if it is not plain, or an integer that no double equals."""
    kind = _type_of(value)
    if kind == reader.float_type:
        _add_number(reader, rows, code, number_of_float(value))
        return True
    reader.row_numbers[rows] = 0.0
    if kind == reader.bool_type:
        reader.codes[rows] = code + (3 if value == reader.true else 2)
        return True
    if value == reader.none:
        reader.codes[rows] = code + 1
        return True
    if kind != reader.int_type:
        return False
    reader.size = 0
    number = number_of_int(value, reader.own + _SIZE)
    if reader.size & 0xFFFFFFFF != 0 or ((number > _EXACT or number < -_EXACT) and number & _LAST_BITS != 0):
        return False
    _add_number(reader, rows, code, np.float64(number))
    return True


@subkernel
def _add_texts(reader, rows, values, used):
    """Take the texts of a list, in which other plain values may be, as some of all texts."""
    size = size_of_list(values)
    reader.parts += size
    if size == 0 or size > reader.longest:
        return np.int64(OTHER)
    texts = reader.texts
    for k in range(size):
        value = item_of_list(values, k)
        if _type_of(value) == reader.text_type:
            row = rows + reader.texts - texts
            if row + 2 > reader.codes_length:
                return np.int64(OTHER)
            used = _add_text(reader, row, reader.anywhere, _UNKNOWN, value, used)
            if used < 0:
                return used
            reader.extra += 1
        elif not _is_plain(reader, value):
            return np.int64(OTHER)
    return used


@subkernel
def _add_unread(reader, rows, name, value, used):
    """Take a value that no filter names: as one of all texts, if filters look at those; bytes used then, or why not."""
    if _text_of(reader, name) == 0:
        return np.int64(OTHER)
    if reader.anywhere < 0:
        return used if _may_be_ignored(reader, value) else np.int64(OTHER)
    if _type_of(value) == reader.text_type:
        return _add_text(reader, rows, reader.anywhere, _UNKNOWN, value, used)
    if _type_of(value) == reader.list_type:
        return _add_texts(reader, rows, value, used)
    return used if _is_plain(reader, value) else np.int64(OTHER)


@short_kernel
def read_plain(table, event):
    """Write the rows of a dict of plain values; how many, OTHER if it is another event, or GROW if there is no room.

    Parameters
    ----------
    table : a `ReaderRecord`
    event : address of the dict
    """
    reader = ReaderRecord(table, 0)
    reader.position = 0
    reader.parts = 0
    reader.texts = reader.given_texts
    reader.extra = reader.given
    rows, used = np.int64(reader.given), np.int64(reader.given_used)
    while next_of_dict(event, reader.own + _POSITION, reader.own + _KEY, reader.own + _VALUE) != 0:
        name, value = reader.key, reader.value
        reader.parts += 1
        if reader.parts > reader.most_parts or _type_of(name) != reader.text_type:
            return np.int64(OTHER)
        place = _place_of(reader, name)
        if rows + 2 > reader.codes_length:  # the caller makes room for two rows of each value, not for more
            return np.int64(OTHER) if reader.extra > 0 else np.int64(GROW)
        code = reader.name_codes[NAME_WIDTH * place] if place >= 0 else np.int64(-1)
        if code < 0:
            texts = reader.texts
            used = _add_unread(reader, rows, name, value, used)
            if used < 0:
                return used
            rows += reader.texts - texts
            continue
        backwards = reader.name_codes[NAME_WIDTH * place + 1]
        if _type_of(value) == reader.text_type:
            used = _add_text(reader, rows, code, backwards, value, used)
            if used < 0:
                return used
            rows += 2 if backwards >= 0 else 1
        elif backwards >= 0 or not _add_other(reader, rows, code, value):
            return np.int64(OTHER)
        else:
            rows += 1
    for k in range(rows):
        reader.row_info[2 * rows + k] = reader.codes[k]
    for k in range(reader.texts):
        reader.row_info[3 * rows + k] = reader.lengths[k]
    reader.used = used
    return rows
