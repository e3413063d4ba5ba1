"""Bits of a word, and fetching ahead, as single instructions of the processor."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from thatch.compiled.decorators import JIT
from thatch.compiled.pointers import pointer_into

__all__ = ["bit_count", "prefetch", "trailing_zeros"]

_I32 = ir.IntType(32)


@intrinsic
def trailing_zeros(typingctx, word):
    """Position of the lowest set bit."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def bit_count(typingctx, word):
    """How many bits are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def prefetch(typingctx, array, index):
    """Let the line of an entry be fetched while something else is done."""

    def codegen(context, builder, signature, args):
        byte = ir.IntType(8)
        fetch = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte.as_pointer(), _I32, _I32, _I32]),
            "llvm.prefetch.p0",
        )
        place = pointer_into(context, builder, signature.args[0], args[0], args[1], byte)
        reading, near, data = (ir.Constant(_I32, number) for number in (0, 3, 1))
        builder.call(fetch, [place, reading, near, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


# --- with the compiler switched off ---

if not JIT:

    def trailing_zeros(word):  # noqa: D103
        return np.uint64((int(word) & -int(word)).bit_length() - 1)

    def bit_count(word):  # noqa: D103
        return np.uint64(int(word).bit_count())

    def prefetch(array, index):  # noqa: D103
        assert 0 <= index <= len(array)
