"""Kernels of the prefilter: one word a box that rules out most events which the box does not hold.

The word of a box names one attribute. It comes from a union (the hashed codes that are not in it) or from a check (the
hashed pairs of letters that a text must have), whichever lets less through. An event has two words for each attribute:
the hash of its code, and the hashed pairs of letters that its text lacks. A box can only hold an event if its word and
that of the event have no bit in common.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.bits import bit_count, prefetch
from thatch.compiled.decorators import inline, kernel, subkernel
from thatch.matching.segments.kernels.candidates import box_of
from thatch.matching.segments.records import CHECK, NOT_KNOWN, PARTS, PREFILTER, SearchContext, SegmentRecord

__all__ = ["drop_by_words", "fill_words", "needed_letters"]

BITS = 56
ALL = (1 << BITS) - 1
NONE = 127 << BITS  # of a box that always passes
MOST = 63  # attributes that a word can name
_LONGEST = 256  # bytes of a text whose pairs are hashed
_MOST_CODES = 48  # of a union whose codes are hashed
_ANY_ONE = 0xFF  # byte of a program that stands for any one character


@inline
def _bit(number):
    """One of the bits, chosen by a hash."""
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
def fill_words(left_at, left, needs, check_attribute, words):
    """Write the word of every box."""
    for box in range(len(words)):
        best, least = np.int64(NONE), 0.7  # what lets more through is not worth a look
        at, end = np.int64(left_at[box]), np.int64(left_at[box + 1])
        while at < end:
            which = np.int64(left[3 * at])
            if which == CHECK:
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
        words[box] = best


# --- events -------------------------------------------------------------------------------------------------------------


@subkernel
def _letters_missing(words, start, length):
    """The hashed pairs of letters that a text does not have."""
    missing = np.int64(ALL)
    for step in range(start, start + length - 1):
        missing &= ~_pair(words[step], words[step + 1])
    return missing


@subkernel
def _set_words(segment, context, count):
    """Write the words of an event. An attribute that it lacks has code 0; of a list, only bits of all elements count."""
    words = context.event_words
    for which in range(segment.n_attributes if segment.n_attributes < MOST else MOST):
        words[2 * which], words[2 * which + 1] = _bit(np.int64(0)), 0  # what is no text rules out no check
    for index in range(count):
        local = np.int64(context.local_touched[index])
        if local >= MOST:
            continue
        row = np.int64(context.local_heads[local])
        code = missing = np.int64(0 if context.local_joints[local] == NOT_KNOWN else ALL)
        while row >= 0:
            code &= _bit(np.int64(context.row_cells[row]) >> segment.shifts[local])
            is_text = context.row_class[row] == 6 and context.row_text_length[row] <= _LONGEST
            start, length = context.row_text_at[row], context.row_text_length[row]
            missing &= _letters_missing(context.words, start, length) if is_text else 0
            row = np.int64(context.row_next[row])
        words[2 * local], words[2 * local + 1] = code, missing


@PARTS.part(PREFILTER)
def drop_by_words(begin: int, end: int, segment: SegmentRecord, context: SearchContext, count: int) -> int:
    """Drop the candidates whose words rule out the event; return where the others end."""
    candidates = context.pending
    _set_words(segment, context, count)
    passed = begin
    for index in range(begin, end):
        word = segment.prefilter[box_of(candidates[index])]
        candidates[passed] = candidates[index]
        passed += 1 if word & context.event_words[word >> BITS] & ALL == 0 else 0
    for index in range(begin, passed):
        prefetch(segment.left_at, box_of(candidates[index]))
    return passed
