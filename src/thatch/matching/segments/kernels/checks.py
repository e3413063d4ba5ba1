"""Run a wildcard check's program (see `programs.py`) on a text in UTF-8; find which grams (`grams.py`) a text has.

Bytes stand for characters: what begins with the first byte of a character, as every piece does, is found in UTF-8 only
where a character begins, and a literal piece that is found ends where one ends. Only `_` has to know where they lie.

`place` is where the text begins that is not yet accounted for, `stop` where it ends; both lie between characters.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from thatch.compiled.decorators import JIT, cache_on_disk, inline, subkernel
from thatch.compiled.pointers import uint8_at
from thatch.matching.segments import fields as f

__all__ = ["JIT", "check_holds", "program_holds", "program_runner", "run_program"]

HEADER, PIECE_HEADER = 5, 3
ONE = 0xFF  # any one character
NOWHERE = -1


@subkernel
def _entry(array, at):
    """An entry at a place that is never negative: a signed index would be tested for that at every access."""
    return array[np.uint64(at)]


@subkernel
def _number(programs, at):
    """A number of two bytes."""
    return np.int64(_entry(programs, at)) | (np.int64(_entry(programs, at + 1)) << 8)


@subkernel
def _is_inside(byte):
    """Whether a byte continues a character."""
    return (byte & 0xC0) == 0x80


@subkernel
def _is_at(programs, piece, size, words, place):
    """Whether a literal piece stands at a place with room for it."""
    step = 0
    while step < size and _entry(programs, piece + step) == _entry(words, place + step):
        step += 1
    return step == size


@subkernel
def _end_of(programs, piece, size, words, place, stop):
    """Where a piece that begins at a place ends, NOWHERE if it is not there."""
    for step in range(piece, piece + size):
        if place >= stop:
            return NOWHERE
        byte = _entry(programs, step)
        if byte != ONE and byte != _entry(words, place):
            return NOWHERE
        place += 1
        if byte == ONE:
            while place < stop and _is_inside(_entry(words, place)):
                place += 1
    return place


@subkernel
def _start_of(programs, piece, size, words, place, stop):
    """Where a piece that ends at `stop` begins, NOWHERE if it is not there."""
    for step in range(piece + size - 1, piece - 1, -1):
        if stop <= place:
            return NOWHERE
        stop -= 1
        byte = _entry(programs, step)
        if byte == ONE:
            while stop > place and _is_inside(_entry(words, stop)):
                stop -= 1
        elif byte != _entry(words, stop):
            return NOWHERE
    return stop


@subkernel
def _find(programs, piece, size, words, place, stop):
    """Where the first literal piece of some text ends, NOWHERE if there is none."""
    first, last = _entry(programs, piece), _entry(programs, piece + size - 1)
    while place <= stop - size:
        # Both bytes in one test: a branch for the first alone is mispredicted once a text.
        ends_agree = (_entry(words, place) == first) & (_entry(words, place + size - 1) == last)
        if ends_agree and _is_at(programs, piece, size, words, place):
            return place + size
        place += 1
    return NOWHERE


@subkernel
def _find_loose(programs, piece, size, words, place, stop):
    """The same for a piece with `_` in it."""
    first = _entry(programs, piece)
    while place <= stop - size:
        if _entry(words, place) == first:
            end = _end_of(programs, piece, size, words, place, stop)
            if end != NOWHERE:
                return end
        place += 1
    return NOWHERE


@subkernel
def _matches(programs, start, words, place, stop):
    """Whether the text has the form of the pattern."""
    if stop - place < _number(programs, start + 1):
        return False
    pieces = _number(programs, start + 3)
    # The first piece: there is room for its bytes, and for those of the last, by the test above.
    piece = start + HEADER + PIECE_HEADER
    size = _number(programs, piece - 2)
    if _entry(programs, piece - 3) != 0:
        place = _end_of(programs, piece, size, words, place, stop)
        if place == NOWHERE:
            return False
    elif _is_at(programs, piece, size, words, place):
        place += size
    else:
        return False
    if pieces == 1:
        return place == stop
    # The last one; from here on the text ends where it begins.
    piece += size + PIECE_HEADER
    size = _number(programs, piece - 2)
    if _entry(programs, piece - 3) != 0:
        stop = _start_of(programs, piece, size, words, place, stop)
        if stop == NOWHERE:
            return False
    elif stop - size >= place and _is_at(programs, piece, size, words, stop - size):
        stop -= size
    else:
        return False
    # Those between: the first place of each leaves most room for the next.
    for _ in range(pieces - 2):
        piece += size + PIECE_HEADER
        size = _number(programs, piece - 2)
        if _entry(programs, piece - 3) != 0:
            place = _find_loose(programs, piece, size, words, place, stop)
        else:
            place = _find(programs, piece, size, words, place, stop)
        if place == NOWHERE:
            return False
    return True


@inline
def check_holds(programs, start, words, at, length):
    """Whether the check whose program begins at `start` holds for the text of `length` bytes at `at`.

    Compiled into its caller: called, it would count references to its arrays, which takes as long as the check.
    """
    return _matches(programs, start, words, at, at + length) != (_entry(programs, start) != 0)


@subkernel
def program_holds(programs, start, kind, words, at, length):
    """Whether the program that begins at `start` holds for a value: its class, its text."""
    if kind != 6:
        return _entry(programs, start) != 0
    return check_holds(programs, start, words, at, length)


# --- by address -----------------------------------------------------------------------------------------------------

# The code above is compiled once, apart, and only when some filter has a check; searches call it by its address.

_SIGNATURE = types.int64(*[types.int64] * 8)


def _run(programs_at, programs_size, start, kind, words_at, words_size, at, length):
    """`program_holds` on arrays given by address and length."""
    programs = carray(_address(programs_at), (programs_size,), np.uint8)
    words = carray(_address(words_at), (words_size,), np.uint8)
    return np.int64(program_holds(programs, start, kind, words, at, length))


@cache
def program_runner() -> Any:
    """What runs programs, compiled; `.address` is what searches are told."""
    runner = cache_on_disk(
        CFunc(_run, (_SIGNATURE.args, _SIGNATURE.return_type), {}, {"nopython": True}), _run
    )
    runner.compile()
    return runner


@intrinsic
def _address(typingctx, number):
    """A number as the address that it is."""

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), codegen


@intrinsic
def _call(typingctx, runner, a, b, c, d, e, f, g, h):
    """Call the runner at an address."""

    def codegen(context, builder, signature, args):
        integer = ir.IntType(64)
        function = builder.inttoptr(args[0], ir.FunctionType(integer, [integer] * 8).as_pointer())
        return builder.call(function, args[1:])

    return types.int64(types.int64, *_SIGNATURE.args), codegen


@subkernel
def run_program(context, programs_at, programs_size, start, kind, at, length):
    """Whether a program holds for a value of the event that a context describes."""
    return _call(
        context[f.RUNNER], programs_at, programs_size, start, kind,
        context[f.WORDS], context[f.WORDS + 1], at, length,
    ) != 0  # fmt: skip


def _run_plainly(context, programs_at, programs_size, start, kind, at, length):
    """`run_program` with the compiler switched off."""
    programs = uint8_at(np.array([programs_at, programs_size]), 0)
    return program_holds(programs, start, kind, uint8_at(context, f.WORDS), at, length)


if not JIT:
    run_program = _run_plainly
