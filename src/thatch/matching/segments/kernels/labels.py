"""Kernels that turn the slots of matches into labels: each label once, and slots that are wanted themselves."""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import short_kernel

__all__ = ["split_slots"]


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
