"""The compiled form of the checksum's sums; `checksums.py` has the definition and its NumPy twin.

Some 30 GB/s from memory on one core, and 19 with registers of 128 bits: the sums have no order, so LLVM makes
lanes as wide as the processor's, and every processor can multiply 32 × 32 → 64 bits in them.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel

__all__ = ["add_up"]


@kernel
def add_up(words, chunk, step, out_sums):
    """Both sums of every chunk of words, one row of `out_sums` a chunk."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for number in range(len(out_sums)):
        part = words[number * chunk : (number + 1) * chunk]
        total, products, seed = np.uint64(0), np.uint64(0), np.uint64(0)
        for i in range(len(part)):
            seed += step
            mixed = part[i] ^ seed ^ ((seed & low) * (seed >> half))
            total += part[i]
            products += (mixed & low) * (mixed >> half)
        out_sums[number, 0] = total
        out_sums[number, 1] = products
