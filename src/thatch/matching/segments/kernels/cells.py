"""Kernels that find the cell of a value: its rank among the cuts of an attribute."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import subkernel

__all__ = [
    "FIRST_NUMBER", "FIRST_TEXT", "WIDE_LAST_NUMBER", "WIDE_LAST_TEXT", "WIDE_NUMBER", "WIDE_TEXT",
    "compare_texts", "count_below", "grid_cell", "number_cell", "number_code", "text_cell", "text_code",
    "text_key", "wide_code",
]  # fmt: skip

FIRST_NUMBER = 5  # cell of numbers below every value of an attribute's table
FIRST_TEXT = 6  # the same for texts, past the cells of numbers


@subkernel
def count_below(table, start, end, value):
    """How many entries of a sorted part of a table are less than a value; without a branch to mispredict."""
    size = end - start
    at = start
    while size > 1:
        half = size >> 1
        at += half if table[at + half - 1] < value else 0
        size -= half
    if size == 1 and table[at] < value:
        at += 1
    return at - start


@subkernel
def grid_cell(value, first, scale, last):
    """Which of the equal steps between the ends of an attribute's numbers a value falls into."""
    step = (float(value) - float(first)) * float(scale)
    return last if step >= last else np.int64(step) if step > 0 else 0


@subkernel
def number_cell(numbers, start, end, grid, grid_start, grid_end, scale, value):
    """The cell of a number: 2 i + 1 on the i-th value of the table, 2 i between the one before and it.

    The grid says between which entries to look, so that a search takes a step or two and not a dozen.
    """
    low, high = start, end
    if grid_end - grid_start > 1 and abs(value) < np.inf:
        step = grid_start + grid_cell(value, numbers[start], scale, grid_end - grid_start - 2)
        low, high = start + grid[step], start + grid[step + 1]
    at = low + count_below(numbers, low, high, value)
    is_equal = at < end and numbers[at] == value
    return FIRST_NUMBER + 2 * (at - start) + (1 if is_equal else 0)


@subkernel
def text_key(blob, start, end):
    """The first eight bytes of a text as a number that sorts as they do."""
    key = np.uint64(0)
    for step in range(8):
        byte = np.uint64(blob[start + step]) if start + step < end else np.uint64(0)
        key = (key << np.uint64(8)) | byte
    return key


@subkernel
def compare_texts(blob, start, end, other, other_start, other_end):
    """-1, 0 or 1 as one text sorts before, with or after another."""
    size, other_size = end - start, other_end - other_start
    for step in range(size if size < other_size else other_size):
        a, b = blob[start + step], other[other_start + step]
        if a != b:
            return -1 if a < b else 1
    if size == other_size:
        return 0
    return 1 if size > other_size else -1


@subkernel
def text_cell(keys, offsets, blob, start, end, words, at, length):
    """The cell of a text among texts `start` to `end` of a table, counted as `number_cell` counts."""
    key = text_key(words, at, at + length)
    low = start + count_below(keys, start, end, key)
    if low == end or keys[low] != key:
        return 2 * (low - start)
    high = end if key == ~np.uint64(0) else start + count_below(keys, start, end, key + np.uint64(1))
    while low < high:  # many texts may begin with the same eight bytes
        middle = (low + high) >> 1
        order = compare_texts(blob, offsets[middle], offsets[middle + 1], words, at, at + length)
        if order == 0:
            return 2 * (middle - start) + 1
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return 2 * (low - start)


# --- coarse codes, which need no table ---------------------------------------------------------------------------------

# Coarse codes: 0 to 4 for the points below the numbers, then a step per sixteenth part of a binary order, then texts
# by their first two bytes. 65,535 is no code.
WIDE_NUMBER, WIDE_LAST_NUMBER, WIDE_TEXT, WIDE_LAST_TEXT = 8, 49_159, 49_160, 65_534


@subkernel
def number_code(bits):
    """The coarse code of a double, given by its bits."""
    top = np.int64(bits >> np.uint64(48))
    top = 65535 - top if top >= 32768 else top + 32768  # negative numbers in reverse, below the others
    return WIDE_NUMBER + (top * 3 >> 2)


@subkernel
def text_code(words, start, length):
    """The coarse code of a text."""
    first = np.int64(words[start]) if length > 0 else np.int64(0)
    second = np.int64(words[start + 1]) if length > 1 else np.int64(0)
    return WIDE_TEXT + (((first << 8) | second) * 16_375 >> 16)


@subkernel
def wide_code(kind, number, words, start, length):
    """The coarse code of a value of an event."""
    if kind < 5:
        return kind
    if kind == 6:
        return text_code(words, start, length)
    return number_code(np.float64(number + 0.0).view(np.uint64))
