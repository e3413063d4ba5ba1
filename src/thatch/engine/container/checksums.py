"""A checksum of 64 bits that keeps pace with memory.

The content is read as little-endian words of 64 bits, in chunks of `CHUNK` words. Of each chunk, modulo 2⁶⁴:

    total     Σ wᵢ
    products  Σ fold(wᵢ ^ kᵢ)    where fold(x) is the lower half of x times its upper half (32 bits each)
    keys      kᵢ = sᵢ ^ fold(sᵢ), sᵢ = i × STEP, i from 1

The value starts from the length, takes in both sums of each chunk by turns, then the last bytes that make no
word. A changed word always changes the total; words that change places, and changes that make up for each
other in the total, meet different keys in the products. The keys have to be as irregular as they are: with sᵢ
itself as the key, flipping the signs of four equal numbers could go unseen. Both are sums, so they may be
computed in any order and by lanes of any width: the compiled and the NumPy form are equal by arithmetic.

It is there for damage, not for attackers: whoever wants two contents with one checksum can make them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["CHUNK", "STEP", "checksum", "compiled_sums", "mix", "plain_sums"]

CHUNK = 1 << 17  # words; a megabyte, so that folding the chunks in Python costs nothing
STEP = 0x9E3779B97F4A7C15  # odd, near 2⁶⁴ / φ: seeds of one chunk lie as far apart as can be
_WORD = 8
_BLOCK = 4096  # words that NumPy takes at a time: its temporary arrays stay in the nearest cache
_MASK = (1 << 64) - 1


def checksum(content: NDArray[np.uint8], *, compiled: bool = False) -> int:
    """The checksum of contiguous bytes; `compiled` loads Numba for it and gives the same value."""
    whole = len(content) // _WORD * _WORD
    words = content[:whole].view(np.uint64)
    value = mix((len(content) + STEP) & _MASK)
    for total, products in (compiled_sums if compiled else plain_sums)(words).tolist():
        value = mix(mix(value ^ total) ^ products)
    return mix(value ^ int.from_bytes(content[whole:].tobytes(), "little"))


def mix(value: int) -> int:
    """A permutation of 64 bits in which every bit hangs on every other (the finaliser of MurmurHash3)."""
    value = ((value ^ value >> 33) * 0xFF51AFD7ED558CCD) & _MASK
    value = ((value ^ value >> 33) * 0xC4CEB9FE1A85EC53) & _MASK
    return value ^ value >> 33


def compiled_sums(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Both sums of every chunk, by the kernel."""
    from thatch.engine.container.kernels import add_up  # loads Numba

    # One kind of array, aligned and read-only, is one compiled kernel.
    words = np.require(words, requirements="A").view()
    words.flags.writeable = False
    sums = np.empty((-(-len(words) // CHUNK), 2), np.uint64)
    with np.errstate(over="ignore"):  # where the compiler is switched off, it is plain Python that overflows
        add_up(words, CHUNK, np.uint64(STEP), sums)
    return sums


def plain_sums(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Both sums of every chunk, by NumPy."""
    sums = np.zeros((-(-len(words) // CHUNK), 2), np.uint64)
    for start in range(0, len(words), _BLOCK):
        part = words[start : start + _BLOCK]
        first = start % CHUNK + 1
        seeds = np.arange(first, first + len(part), dtype=np.uint64) * np.uint64(STEP)
        products = _fold(part ^ seeds ^ _fold(seeds))
        sums[start // CHUNK] += np.array([part.sum(), products.sum()])
    return sums


def _fold(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (words & np.uint64(0xFFFFFFFF)) * (words >> np.uint64(32))
