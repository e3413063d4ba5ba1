"""Kernels that turn the slots of matches into labels: each label once, and slots that are answered themselves.

A negative label says that a slot is answered itself.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import kernel, short_kernel

__all__ = ["list_marks", "mark_slots", "split_slots"]


@short_kernel
def split_slots(slots, labels, marks, out_labels, out_slots):
    """Write the labels of these slots, each once and lowest first, and the slots whose label is negative.

    Returns how many labels there are, and 2^32 times how many slots. `marks` has a bit for each label, and is zero.
    """
    one = np.uint64(1)
    kept = np.int64(0)
    for index in range(len(slots)):
        label = labels[slots[index]]
        if label < 0:
            out_slots[kept] = slots[index]
            kept += 1
        else:
            marks[label >> 6] |= one << np.uint64(label & 63)
    found = np.int64(0)
    for word in range(len(marks)):
        bits = marks[word]
        marks[word] = 0
        while bits != 0:
            out_labels[found] = (word << 6) + np.int64(trailing_zeros(bits))
            found += 1
            bits &= bits - one
    return found + (kept << 32)


@kernel
def mark_slots(first, counts, slots, rows, labels, out_marks, out_own):
    """Set a bit for every label that an event reaches, and write the slots that are answered themselves; returns how many.

    Parameters
    ----------
    first, counts, slots : matches: of so many events, from the first on, the slots one behind the other
    rows : the row of `out_marks` that belongs to each event
    out_own : slots, with the row in the upper half of the number
    """
    one = np.uint64(1)
    kept = at = np.int64(0)
    for event in range(len(counts)):
        row = rows[first + event]
        for _ in range(counts[event]):
            slot = np.int64(slots[at])
            at += 1
            label = labels[slot]
            if label < 0:
                out_own[kept] = (row << 32) | slot
                kept += 1
            else:
                out_marks[row, label >> 6] |= one << np.uint64(label & 63)
    return kept


@kernel
def list_marks(marks, out_starts, out_rows):
    """List the rows that have the mark of each label, lowest first; `out_starts` says where those of a label begin."""
    one = np.uint64(1)
    for turn in range(2):  # first count, then write
        for row in range(marks.shape[0]):
            for word in range(marks.shape[1]):
                bits = marks[row, word]
                while bits != 0:
                    label = (word << 6) + np.int64(trailing_zeros(bits))
                    bits &= bits - one
                    if turn == 0:
                        out_starts[label + 2] += 1
                    else:
                        out_rows[out_starts[label + 1]] = row
                        out_starts[label + 1] += 1
        if turn == 0:
            for label in range(2, len(out_starts)):
                out_starts[label] += out_starts[label - 1]
