"""Kernels of sieves: of each box one word that most events which it does not hold fail.

Of a union it has the hashed codes that are not in it, of a check the hashed pairs of letters that a text must have;
whichever lets less through. An event has two words an attribute: its own code, and the pairs that its text has not.
A box can only hold an event where its word and the event's have no bit in common.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count, prefetch
from thatch.compiled.decorators import inline, kernel, subkernel
from thatch.compiled.pointers import int32_at, int64_at, uint8_at
from thatch.matching.segments import fields as f
from thatch.matching.segments.kernels.candidates import box_of
from thatch.matching.segments.kernels.on_demand import apart

__all__ = ["fill_sieves", "needed_letters", "sieved"]

BITS = 56
ALL = (1 << BITS) - 1
NONE = 127 << BITS  # of a box that passes always
MOST = 63  # attributes that a word can name
_LONGEST = 256  # bytes of a text whose pairs are looked at
_MOST_CODES = 48  # of a union whose codes are looked at
_ANY_ONE = 0xFF  # byte of a program that stands for any one character


@inline
def _bit(number):
    """One of the bits, by a hash."""
    return np.int64(1) << ((((number * 40_503) & 0xFFFF) * BITS) >> 16)


@subkernel
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


@subkernel
def _letters_missing(words, start, length):
    """The hashed pairs of letters that a text does not have."""
    missing = np.int64(ALL)
    for step in range(start, start + length - 1):
        missing &= ~_pair(words[step], words[step + 1])
    return missing


@subkernel
def _set_words(desc, context, count):
    """Give an event its words. What it lacks is missing, which is code 0; of a list, what all elements say counts."""
    words, known = int64_at(context, f.SIEVES), int32_at(context, f.LOCAL_TOUCHED)
    heads, joints = int32_at(context, f.LOCAL_HEADS), uint8_at(context, f.LOCAL_JOINTS)
    row_next, row_cells = int32_at(context, f.ROW_NEXT), int32_at(context, f.ROW_CELLS)
    row_class, letters = uint8_at(context, f.ROW_CLASS), uint8_at(context, f.WORDS)
    text_at, text_length = int32_at(context, f.ROW_TEXT_AT), int32_at(context, f.ROW_TEXT_LENGTH)
    shifts = uint8_at(desc, f.SHIFTS)
    for which in range(desc[f.ATTRIBUTES] if desc[f.ATTRIBUTES] < MOST else MOST):
        words[2 * which], words[2 * which + 1] = _bit(np.int64(0)), 0  # letters tell no check anything
    for index in range(count):
        local = np.int64(known[index])
        if local >= MOST:
            continue
        row = np.int64(heads[local])
        code = missing = np.int64(0 if joints[local] == f.NOT_KNOWN else ALL)
        while row >= 0:
            code &= _bit(np.int64(row_cells[row]) >> shifts[local])
            is_text = row_class[row] == 6 and text_length[row] <= _LONGEST
            missing &= _letters_missing(letters, text_at[row], text_length[row]) if is_text else 0
            row = np.int64(row_next[row])
        words[2 * local], words[2 * local + 1] = code, missing


@apart(f.SIEVED)
def sieved(begin, end, desc, context, count):
    """Drop the candidates that do not pass their sieves; return where the others end."""
    box_sieves, words = int64_at(desc, f.BOX_SIEVES), int64_at(context, f.SIEVES)
    left_at, candidates = int32_at(desc, f.LEFT_AT), int64_at(context, f.PENDING)
    _set_words(desc, context, count)
    passed = begin
    for index in range(begin, end):
        sieve = box_sieves[box_of(candidates[index])]
        candidates[passed] = candidates[index]
        passed += 1 if sieve & words[sieve >> BITS] & ALL == 0 else 0
    for index in range(begin, passed):
        prefetch(left_at, box_of(candidates[index]))
    return passed
