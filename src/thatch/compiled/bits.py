"""Bits of one word and of many, and fetching ahead, as single instructions of the processor."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from thatch.compiled.decorators import JIT
from thatch.compiled.pointers import pointer_into

__all__ = ["bit_count", "masks512", "prefetch", "trailing_zeros", "transpose64"]

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_V512 = ir.VectorType(_I64, 8)


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
    """Start to fetch the cache line of an entry."""

    def codegen(context, builder, signature, args):
        byte = ir.IntType(8)
        fetch = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte.as_pointer(), _I32, _I32, _I32]),
            "llvm.prefetch.p0",
        )
        pointer = pointer_into(context, builder, signature.args[0], args[0], args[1], byte)
        reading, near, data = (ir.Constant(_I32, number) for number in (0, 3, 1))
        builder.call(fetch, [pointer, reading, near, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


# --- many words at once ------------------------------------------------------------------------------------------------


@intrinsic
def masks512(typingctx, mask, offset, first, first_at, second, second_at):
    """AND 512 bits at `first_at` and 512 bits at `second_at` into those at `offset`; return whether any is left."""
    signature = types.uint64(mask, types.int64, first, types.int64, second, types.int64)

    def codegen(context, builder, signature, args):
        kinds = signature.args

        def where(number):
            return pointer_into(context, builder, kinds[number], args[number], args[number + 1], _V512)

        kept = builder.load(where(0), align=8)
        for number in (2, 4):
            kept = builder.and_(kept, builder.load(where(number), align=8))
        builder.store(kept, where(0), align=8)
        some = builder.icmp_unsigned("!=", kept, ir.Constant(_V512, [0] * 8))
        return builder.zext(builder.bitcast(some, ir.IntType(8)), _I64)

    return signature, codegen


@intrinsic
def transpose64(typingctx, rows, offset, out, out_offset):
    """Transpose 64 words of 64 bits: bit r of word c of `out` is bit c of row r.

    Six times, halves of halves are swapped: first between vectors of eight rows, then inside each.
    """
    signature = types.void(rows, types.int64, out, types.int64)

    def codegen(context, builder, signature, args):
        kinds = signature.args

        def splat(number):
            return ir.Constant(_V512, [number] * 8)

        def pointer(number, step):
            where = builder.add(args[number + 1], ir.Constant(_I64, 8 * step))
            return pointer_into(context, builder, kinds[number], args[number], where, _V512)

        def exchanged(first, second, step, kept):
            """What the rows of `first` and `second`, which are `step` apart, swap."""
            return builder.and_(builder.xor(builder.lshr(first, splat(step)), second), kept)

        vectors = [builder.load(pointer(0, step), align=8) for step in range(8)]
        for step in (32, 16, 8, 4, 2, 1):
            kept = splat(sum(1 << bit for bit in range(64) if not bit & step))
            apart = step // 8
            for index in range(8):
                if apart and not index & apart:
                    swap = exchanged(vectors[index], vectors[index + apart], step, kept)
                    vectors[index + apart] = builder.xor(vectors[index + apart], swap)
                    vectors[index] = builder.xor(vectors[index], builder.shl(swap, splat(step)))
                elif not apart:
                    own = vectors[index]
                    order = ir.Constant(ir.VectorType(_I32, 8), [lane ^ step for lane in range(8)])
                    other = builder.shuffle_vector(own, ir.Constant(_V512, ir.Undefined), order)
                    upper = builder.xor(own, builder.shl(exchanged(own, other, step, kept), splat(step)))
                    lower = builder.xor(own, exchanged(other, own, step, kept))
                    flags = [int(not lane & step) for lane in range(8)]
                    is_upper = ir.Constant(ir.VectorType(ir.IntType(1), 8), flags)
                    vectors[index] = builder.select(is_upper, upper, lower)
        for step in range(8):
            builder.store(vectors[step], pointer(2, step), align=8)
        return context.get_dummy_value()

    return signature, codegen


# --- with the compiler switched off ---

if not JIT:

    def trailing_zeros(word):  # noqa: D103 - as above
        return np.uint64((int(word) & -int(word)).bit_length() - 1)

    def bit_count(word):  # noqa: D103 - as above
        return np.uint64(int(word).bit_count())

    def prefetch(array, index):  # noqa: D103 - as above
        assert 0 <= index <= len(array)

    def transpose64(rows, offset, out, out_offset):  # noqa: D103 - as above
        assert 0 <= offset <= len(rows) - 64
        words = rows[offset : offset + 64]
        out[out_offset : out_offset + 64] = [
            sum(((int(word) >> bit) & 1) << row for row, word in enumerate(words)) for bit in range(64)
        ]

    def masks512(mask, offset, first, first_at, second, second_at):  # noqa: D103 - as above
        assert 0 <= offset <= len(mask) - 8
        assert 0 <= first_at <= len(first) - 8
        assert 0 <= second_at <= len(second) - 8
        kept = mask[offset : offset + 8]
        kept &= first[first_at : first_at + 8] & second[second_at : second_at + 8]
        return np.uint64(np.any(kept))
