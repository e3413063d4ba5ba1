"""Kernels of sieves: of each box one word that most events which it does not hold fail.

Of a union it has the hashed codes that are not in it, of a check the hashed pairs of letters that a text must have;
whichever lets less through. An event has two words an attribute: its own code, and the pairs that its text has not.
A box can only hold an event where its word and the event's have no bit in common.
"""

from __future__ import annotations

import numpy as np

from thatch.matching.segments import fields as f
from thatch.matching.segments.vectors.kernels import bit_count, inlined, kernel, merged, uint8_at, uint32_at

__all__ = ["fill_sieves", "forget_sieve", "has_passed", "needed_letters", "set_sieve", "set_sieves"]

BITS = 24
ALL = (1 << BITS) - 1
NONE = 255 << BITS  # of a box that passes always
MOST = 127  # attributes that a word can name
_LONGEST = 256  # bytes of a text whose pairs are looked at
_MOST_CODES = 48  # of a union whose codes are looked at
_ANY_ONE = 0xFF  # byte of a program that stands for any one character


@merged
def _bit(number):
    """One of the bits, by a hash."""
    return np.int64(1) << ((((number * 40_503) & 0xFFFF) * BITS) >> 16)


@inlined
def _pair(first, second):
    return _bit((np.int64(first) << 8) ^ (np.int64(second) * 31))


# --- boxes --------------------------------------------------------------------------------------------------------------


@kernel
def needed_letters(starts, programs, needs):
    """The hashed pairs of letters that a text must have to pass each check; none of a negated one."""
    for check in range(len(needs)):
        at = starts[check]
        needs[check] = 0
        if programs[at] != 0:
            continue
        pieces = np.int64(programs[at + 3]) | (np.int64(programs[at + 4]) << 8)
        at += 5
        for _ in range(pieces):
            size = np.int64(programs[at + 1]) | (np.int64(programs[at + 2]) << 8)
            at += 3
            for step in range(at, at + size - 1):
                if programs[step] != _ANY_ONE and programs[step + 1] != _ANY_ONE:
                    needs[check] |= _pair(programs[step], programs[step + 1])
            at += size


@kernel
def fill_sieves(left_at, left, needs, check_attribute, sieves):
    """The word of every box."""
    for box in range(len(sieves)):
        best, least = np.int64(NONE), 0.7  # what lets more through than that is not worth a look
        at, end = np.int64(left_at[box]), np.int64(left_at[box + 1])
        while at < end:
            which = np.int64(left[3 * at])
            if which == f.CHECKED:
                check = np.int64(left[3 * at + 1]) | (np.int64(left[3 * at + 2]) << 16)
                which, at = np.int64(check_attribute[check]), at + 1
                share = 0.25 ** np.float64(np.int64(bit_count(np.uint64(needs[check]))))
                word = needs[check] | ((2 * which + 1) << BITS)
            else:
                codes, mask = np.int64(0), np.int64(0)
                while at < end and left[3 * at] == which:
                    first, last = np.int64(left[3 * at + 1]), np.int64(left[3 * at + 2])
                    codes += last - first + 1
                    if codes <= _MOST_CODES:
                        for code in range(first, last + 1):
                            mask |= _bit(code)
                    at += 1
                share = np.int64(bit_count(np.uint64(mask))) / BITS if codes <= _MOST_CODES else 1.0
                word = (ALL & ~mask) | (2 * which << BITS)
            if which < MOST and share < least:
                best, least = word, share
        sieves[box] = best


# --- events -------------------------------------------------------------------------------------------------------------


@inlined
def _letters_missing(words, start, length):
    """The hashed pairs of letters that a text does not have."""
    missing = np.int64(ALL)
    for step in range(start, start + length - 1):
        missing &= ~_pair(words[step], words[step + 1])
    return missing


@merged
def set_sieves(desc, context):
    """Let an event have no attributes: all are missing, which is code 0, and no check can tell from its letters."""
    sieves = uint32_at(context, f.SIEVES)
    for which in range(desc[f.ATTRIBUTES] if desc[f.ATTRIBUTES] < MOST else MOST):
        sieves[2 * which] = _bit(np.int64(0))
        sieves[2 * which + 1] = 0


@merged
def set_sieve(context, local, code, kind, start, length, is_first):
    """Let an event have a value; of several, what all of them say."""
    sieves = uint32_at(context, f.SIEVES)
    if local < MOST:
        missing = np.int64(0)
        if kind == 6 and length <= _LONGEST:
            missing = _letters_missing(uint8_at(context, f.WORDS), start, length)
        sieves[2 * local] = _bit(code) & (ALL if is_first else np.int64(sieves[2 * local]))
        sieves[2 * local + 1] = missing & (ALL if is_first else np.int64(sieves[2 * local + 1]))


@merged
def forget_sieve(context, local):
    """Let everything pass that asks for an attribute."""
    sieves = uint32_at(context, f.SIEVES)
    if local < MOST:
        sieves[2 * local] = 0
        sieves[2 * local + 1] = 0


@merged
def has_passed(sieve, words):
    """Whether a box may hold the event, as far as its word tells."""
    return (np.int64(sieve) & np.int64(words[np.int64(sieve) >> BITS]) & ALL) == 0
