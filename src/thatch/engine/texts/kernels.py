"""Kernels of the text table: a hash table over texts that lie one after another in an array of bytes.

A bucket holds 0 if it is empty, -1 if its text was removed, else a text's number + 1; a text stands in the first bucket that
was empty from its hash on. The arrays may come from a damaged file: every number and every offset is checked before it
is followed, and no search takes more steps than there are buckets.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import kernel, short_kernel, subkernel

__all__ = ["drop_text", "fill_buckets", "find_text", "restore_text"]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_BYTE = np.uint64(8)
_WORD = np.uint64(64)
_ONE = np.uint64(1)
# Odd numbers without a pattern: the first 64 bits behind the point of the golden ratio and of two square roots.
_A = np.uint64(0x9E3779B97F4A7C15)
_B = np.uint64(0xBB67AE8584CAA73B)
_C = np.uint64(0x3C6EF372FE94F82B)


@subkernel
def _folded(a, b):
    """The two halves of the product of 128 bits, one over the other, from products of 32 bits, which never overflow."""
    a_low, a_high, b_low, b_high = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    low, left, right, high = a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high
    middle = (low >> _HALF) + (left & _LOW) + (right & _LOW)
    high += (left >> _HALF) + (right >> _HALF) + (middle >> _HALF)
    return ((middle << _HALF) | (low & _LOW)) ^ high


@kernel
def _hashed(data, start, end, seed):
    """A number of 64 bits for the bytes data[start:end]: which one, only those who know the seed can tell."""
    secret = _folded(seed ^ _A, _B) | _ONE
    state = _folded(seed ^ _C, secret)
    word, shift = np.uint64(0), np.uint64(0)
    for place in range(start, end):
        word |= np.uint64(data[place]) << shift
        shift += _BYTE
        if shift == _WORD:
            state = _folded(state ^ word, secret)
            word, shift = np.uint64(0), np.uint64(0)
    state = _folded(state ^ word, secret)  # perhaps of no bytes; the length tells zero bytes from none
    return _folded(state ^ np.uint64(end - start), _A)


@subkernel
def _equals(blob, offsets, number, data, start, end):
    """Whether text `number` consists of the bytes data[start:end]."""
    first, last = np.int64(offsets[number]), np.int64(offsets[number + 1])
    if last - first != end - start or first < 0 or last > len(blob):
        return False
    for step in range(end - start):  # noqa: SIM110 - a generator does not compile
        if blob[first + step] != data[start + step]:
            return False
    return True


@short_kernel
def find_text(blob, offsets, buckets, seed, key):
    """The number of the text whose bytes are `key`, -1 if no bucket holds it."""
    mask = len(buckets) - 1
    place = np.int64(_hashed(key, 0, len(key), seed) & np.uint64(mask))
    for _ in range(len(buckets)):
        bucket = buckets[place]
        if bucket == 0:
            return -1
        if 0 < bucket < len(offsets) and _equals(blob, offsets, bucket - 1, key, 0, len(key)):
            return bucket - 1
        place = (place + 1) & mask
    return -1


@short_kernel
def drop_text(blob, offsets, buckets, seed, number):
    """Mark the bucket of text `number` as deleted; return whether it had one."""
    start, end = np.int64(offsets[number]), np.int64(offsets[number + 1])
    if not 0 <= start <= end <= len(blob):
        return False
    mask = len(buckets) - 1
    place = np.int64(_hashed(blob, start, end, seed) & np.uint64(mask))
    for _ in range(len(buckets)):
        bucket = buckets[place]
        if bucket == 0:
            return False
        if bucket == number + 1:
            buckets[place] = -1
            return True
        place = (place + 1) & mask
    return False


@short_kernel
def restore_text(blob, offsets, buckets, seed, number):
    """Give text `number` a bucket again: its own, if it still has one, else the first that is deleted or empty."""
    start, end = np.int64(offsets[number]), np.int64(offsets[number + 1])
    if not 0 <= start <= end <= len(blob):
        return False
    mask = len(buckets) - 1
    first = np.int64(_hashed(blob, start, end, seed) & np.uint64(mask))
    free = np.int64(-1)
    for step in range(len(buckets)):
        place = (first + step) & mask
        bucket = buckets[place]
        if bucket == number + 1:
            return True
        if bucket <= 0 and free < 0:
            free = place
        if bucket == 0:
            break
    if free >= 0:
        buckets[free] = number + 1
    return free >= 0


@kernel
def fill_buckets(blob, offsets, buckets, seed, first, live, out_known):
    """Give a bucket to every text from number `first` on that is live; return how many got one.

    out_known[t] = the bucket of an earlier text that equals text first + t, which then gets none; -1 if there is none.
    """
    mask = len(buckets) - 1
    filled = 0
    for turn in range(len(live)):
        out_known[turn] = -1
        number = first + turn
        start, end = np.int64(offsets[number]), np.int64(offsets[number + 1])
        if not live[turn] or not 0 <= start <= end <= len(blob):
            continue
        place = np.int64(_hashed(blob, start, end, seed) & np.uint64(mask))
        for _ in range(len(buckets)):
            bucket = buckets[place]
            if bucket == 0:  # a deleted bucket is not used again, so that a refused extension can be undone
                buckets[place] = number + 1
                filled += 1
                break
            if 0 < bucket <= number and _equals(blob, offsets, bucket - 1, blob, start, end):
                out_known[turn] = place
                break
            place = (place + 1) & mask
    return filled
