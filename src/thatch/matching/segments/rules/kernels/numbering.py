"""Number what is equal in the order in which it first appears, and copy parts of arrays."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import JIT, inline, kernel, subkernel

__all__ = ["copy_parts", "number_rows", "place_keys"]

_WORD = 2**64 - 1


@inline
def _mix(state, value, factor):
    """The state of a hash after one more value."""
    mixed = (state ^ np.uint64(value)) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(29))


if not JIT:  # NumPy warns of products that do not fit

    def _mix(state, value, factor):
        """The same with Python's integers."""
        mixed = (int(state) ^ (int(value) & _WORD)) * int(factor) & _WORD
        return mixed ^ (mixed >> 29)


@subkernel
def _is_same(first, second, starts, ends, content, row, other):
    """Whether two rows are equal."""
    size = ends[row] - starts[row]
    if first[row] != first[other] or second[row] != second[other] or size != ends[other] - starts[other]:
        return False
    at = 0
    while at < size and content[starts[row] + at] == content[starts[other] + at]:
        at += 1
    return at == size


@kernel
def number_rows(first, second, starts, ends, content, factor, table, out_number, out_rows):
    """Give equal rows the same number, from 0 on as they first appear; how many numbers there are.

    Parameters
    ----------
    first, second : numbers of each row
    starts, ends : where the bytes of each row lie in `content`; rows are equal if all three are
    factor : an odd number that nobody outside knows, so that nobody can choose rows that are slow to tell apart
    table : room for a power of two of numbers, twice as many as rows at least, all -1
    out_number : the number of each row
    out_rows : the first row of each number
    """
    mask = np.uint64(len(table) - 1)
    count = 0
    for row in range(len(first)):
        state = _mix(_mix(np.uint64(1), first[row], factor), second[row], factor)
        for at in range(starts[row], ends[row]):
            state = _mix(state, content[at], factor)
        slot = np.int64(np.uint64(state) & mask)
        while table[slot] >= 0 and not _is_same(
            first, second, starts, ends, content, row, out_rows[table[slot]]
        ):
            slot = (slot + 1) & np.int64(mask)
        if table[slot] < 0:
            table[slot] = count
            out_rows[count] = row
            count += 1
        out_number[row] = table[slot]
    return count


@kernel
def copy_parts(source, starts, out_starts, out):
    """Copy parts of a byte array, the size of each is what `out_starts` leaves for it."""
    for part in range(len(starts)):
        start, target = starts[part], out_starts[part]
        for k in range(out_starts[part + 1] - target):
            out[target + k] = source[start + k]


@kernel
def place_keys(homes, out_taken, out_slots):
    """Find a slot for each key: its home, or the next that is free."""
    mask = len(out_taken) - 1
    for key in range(len(homes)):
        slot = homes[key]
        while out_taken[slot]:
            slot = (slot + 1) & mask
        out_taken[slot] = 1
        out_slots[key] = slot
