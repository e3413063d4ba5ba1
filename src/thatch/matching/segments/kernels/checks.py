"""Run a wildcard check's program on a text in UTF-8; `thatch.matching.segments.parts` says how programs are written.

Bytes stand for characters: a piece begins with the first byte of a character, so it is found only where a character
begins, and a literal piece that is found ends where a character ends. Only `_` must know where characters lie.

The text that is not yet accounted for lies from `at` to `stop`; both lie between characters.
"""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import inline, subkernel
from thatch.compiled.records import Uint8s
from thatch.matching.segments.kernels.two_way import NOWHERE, find_in_linear_time
from thatch.matching.segments.records import CHECKS, PARTS

__all__ = ["check_holds", "run_program"]

HEADER, PIECE_HEADER = 5, 3
ONE = 0xFF  # any one character


@subkernel
def _number(programs, at):
    """A number of two bytes."""
    return np.int64(programs[at]) | (np.int64(programs[at + 1]) << 8)


@subkernel
def _is_inside(byte):
    """Whether a byte continues a character."""
    return (byte & 0xC0) == 0x80


@subkernel
def _agreeing(programs, piece, size, words, at):
    """How many bytes of a literal piece agree with the text at `at`, which is long enough for it."""
    step = 0
    while step < size and programs[piece + step] == words[at + step]:
        step += 1
    return step


@subkernel
def _end_of(programs, piece, size, words, at, stop):
    """Where a piece that begins at `at` ends, NOWHERE if it is not there."""
    for step in range(piece, piece + size):
        if at >= stop:
            return NOWHERE
        byte = programs[step]
        if byte != ONE and byte != words[at]:
            return NOWHERE
        at += 1
        if byte == ONE:
            while at < stop and _is_inside(words[at]):
                at += 1
    return at


@subkernel
def _start_of(programs, piece, size, words, at, stop):
    """Where a piece that ends at `stop` begins, NOWHERE if it is not there."""
    for step in range(piece + size - 1, piece - 1, -1):
        if stop <= at:
            return NOWHERE
        stop -= 1
        byte = programs[step]
        if byte == ONE:
            while stop > at and _is_inside(words[stop]):
                stop -= 1
        elif byte != words[stop]:
            return NOWHERE
    return stop


@subkernel
def _find(programs, piece, size, words, at, stop):
    """Where the first literal piece of some text ends, NOWHERE if there is none."""
    first, last = programs[piece], programs[piece + size - 1]
    start, in_vain = at, 0
    while at <= stop - size:
        # Both bytes in one test: a branch for the first alone is mispredicted once a text.
        ends_agree = (words[at] == first) & (words[at + size - 1] == last)
        if ends_agree:
            agreeing = _agreeing(programs, piece, size, words, at)
            if agreeing == size:
                return at + size
            in_vain += agreeing
            if in_vain > 4 * (at - start) + 8 * size:
                return find_in_linear_time(programs, piece, size, words, at + 1, stop)
        at += 1
    return NOWHERE


@subkernel
def _find_loose(programs, piece, size, words, at, stop):
    """The same for a piece with `_` in it, which is short (see `program`)."""
    first = programs[piece]
    while at <= stop - size:
        if words[at] == first:
            end = _end_of(programs, piece, size, words, at, stop)
            if end != NOWHERE:
                return end
        at += 1
    return NOWHERE


@subkernel
def _matches(programs, start, words, at, stop):
    """Whether the text has the form of the pattern."""
    if stop - at < _number(programs, start + 1):
        return False
    pieces = _number(programs, start + 3)
    # The first piece: there is room for its bytes, and for those of the last, by the test above.
    piece = start + HEADER + PIECE_HEADER
    size = _number(programs, piece - 2)
    if programs[piece - 3] != 0:
        at = _end_of(programs, piece, size, words, at, stop)
        if at == NOWHERE:
            return False
    elif _agreeing(programs, piece, size, words, at) == size:
        at += size
    else:
        return False
    if pieces == 1:
        return at == stop
    # The last one; from here on the text ends where it begins.
    piece += size + PIECE_HEADER
    size = _number(programs, piece - 2)
    if programs[piece - 3] != 0:
        stop = _start_of(programs, piece, size, words, at, stop)
        if stop == NOWHERE:
            return False
    elif stop - size >= at and _agreeing(programs, piece, size, words, stop - size) == size:
        stop -= size
    else:
        return False
    # Those between: the first occurrence of each leaves most room for the next.
    for _ in range(pieces - 2):
        piece += size + PIECE_HEADER
        size = _number(programs, piece - 2)
        if programs[piece - 3] != 0:
            at = _find_loose(programs, piece, size, words, at, stop)
        else:
            at = _find(programs, piece, size, words, at, stop)
        if at == NOWHERE:
            return False
    return True


@inline
def check_holds(programs, start, words, at, length):
    """Whether the check whose program begins at `start` holds for the text of `length` bytes at `at`."""
    return _matches(programs, start, words, at, at + length) != (programs[start] != 0)


@PARTS.part(CHECKS)
def run_program(programs: Uint8s, start: int, kind: int, words: Uint8s, at: int, length: int) -> int:
    """1 if the program that begins at `start` holds for a value, given by its class and its text, else 0."""
    holds = check_holds(programs, start, words, at, length) if kind == 6 else programs[start] != 0
    return np.int64(1) if holds else np.int64(0)
