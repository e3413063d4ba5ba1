"""Tests of sixty-four boxes at once, in LLVM's portable vectors, which any processor runs.

`sides64` compares one attribute of a block: sixty-four `lo` codes, then sixty-four `hi` codes, sixteen bits each, and
gives one bit a box. `mixed64` does so where every box has an attribute of its own; where AVX-512 is there and a segment
has few attributes, it fetches the event's codes by a permute inside registers. `masks512` narrows a mask of 512 events.

With the compiler switched off (NUMBA_DISABLE_JIT=1) plain NumPy stands for the vectors, so that every kernel can run,
and be tested, as the Python that it is written in.
"""

from __future__ import annotations

import os
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from thatch.compiled.bits import trailing_zeros
from thatch.compiled.decorators import JIT, subkernel
from thatch.compiled.pointers import pointer_into

__all__ = ["HAS_PERMUTE", "LANES", "masks512", "mixed64", "sides64", "transpose64"]

LANES = 64
HAS_PERMUTE = (
    bool(llvm.get_host_cpu_features().get("avx512bw")) and os.environ.get("THATCH_PORTABLE") != "1" and JIT
)


# --- vectors -----------------------------------------------------------------------------------------------------

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_V64 = ir.VectorType(_I16, LANES)
_V32 = ir.VectorType(_I16, 32)
_V512 = ir.VectorType(_I64, 8)


def _splat(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(_V64, ir.Undefined), value, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(_V64, ir.Undefined), zeros)


@intrinsic
def sides64(typingctx, codes, offset, low, high):
    """One bit a box: `lo <= high` and `hi >= low`, with 64 `lo` at `offset` and 64 `hi` behind them."""
    signature = types.uint64(codes, types.int64, types.uint16, types.uint16)

    def codegen(context, builder, signature, args):
        array, at, low, high = args
        kind = signature.args[0]
        lo = builder.load(pointer_into(context, builder, kind, array, at, _V64), align=2)
        past = builder.add(at, ir.Constant(_I64, LANES))
        hi = builder.load(pointer_into(context, builder, kind, array, past, _V64), align=2)
        begins = builder.icmp_unsigned("<=", lo, _splat(builder, high))
        ends = builder.icmp_unsigned(">=", hi, _splat(builder, low))
        return builder.bitcast(builder.and_(begins, ends), _I64)

    return signature, codegen


@intrinsic
def _permuted64(typingctx, mixed, offset, low, high):
    """`mixed64` for at most 64 attributes: the event's codes stay in registers and are permuted (AVX-512 BW)."""
    signature = types.uint64(mixed, types.int64, low, high)

    def codegen(context, builder, signature, args):
        array, at, low, high = args
        kind = signature.args[0]
        permute = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_V32, [_V32, _V32, _V32]), "llvm.x86.avx512.vpermi2var.hi.512"
        )

        def half(array, kind, base, step):
            where = builder.add(base, ir.Constant(_I64, step))
            return builder.load(pointer_into(context, builder, kind, array, where, _V32), align=2)

        zero = ir.Constant(_I64, 0)
        lows = [half(low, signature.args[2], zero, step) for step in (0, 32)]
        highs = [half(high, signature.args[3], zero, step) for step in (0, 32)]
        masks = []
        for step in (0, 32):
            which = half(array, kind, at, step)
            lo, hi = half(array, kind, at, 64 + step), half(array, kind, at, 128 + step)
            begins = builder.icmp_unsigned("<=", lo, builder.call(permute, [highs[0], which, highs[1]]))
            ends = builder.icmp_unsigned(">=", hi, builder.call(permute, [lows[0], which, lows[1]]))
            masks.append(builder.zext(builder.bitcast(builder.and_(begins, ends), _I32), _I64))
        return builder.or_(masks[0], builder.shl(masks[1], ir.Constant(_I64, 32)))

    return signature, codegen


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
    """Write 64 words of 64 bits to `out` so that bit r of word c is what bit c of row r was.

    Halves of halves are exchanged, six times: between vectors of eight rows first, then inside each.
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
            """What the rows of `first` and `second`, `step` apart, exchange."""
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
                    is_upper = ir.Constant(
                        ir.VectorType(ir.IntType(1), 8), [int(not lane & step) for lane in range(8)]
                    )
                    vectors[index] = builder.select(is_upper, upper, lower)
        for step in range(8):
            builder.store(vectors[step], pointer(2, step), align=8)
        return context.get_dummy_value()

    return signature, codegen


@subkernel
def _gathered64(mixed, offset, low, high, lanes):
    """`mixed64` for any processor and any number of attributes: only the lanes still alive are looked at."""
    result = np.uint64(0)
    one = np.uint64(1)
    while lanes != 0:
        lane = np.int64(trailing_zeros(lanes))
        bit = lanes & (~lanes + one)
        lanes ^= bit
        which = mixed[offset + lane]
        if mixed[offset + 64 + lane] <= high[which] and mixed[offset + 128 + lane] >= low[which]:
            result |= bit
    return result


if HAS_PERMUTE:

    @subkernel
    def mixed64(mixed, offset, low, high, lanes, is_narrow):
        """One bit a box, each with an attribute of its own: 64 attributes, 64 `lo`, 64 `hi` at `offset`."""
        if is_narrow:
            return lanes & _permuted64(mixed, offset, low, high)
        return _gathered64(mixed, offset, low, high, lanes)

else:

    @subkernel
    def mixed64(mixed, offset, low, high, lanes, is_narrow):
        """One bit a box, each with an attribute of its own: 64 attributes, 64 `lo`, 64 `hi` at `offset`."""
        return _gathered64(mixed, offset, low, high, lanes)


# --- with the compiler switched off ----------------------------------------------------------------------------------

if not JIT:
    _BITS = np.uint64(1) << np.arange(LANES, dtype=np.uint64)

    def _lanes(array, offset):
        assert 0 <= offset <= len(array) - LANES, "a block reaches beyond its array"
        return array[offset : offset + LANES]

    def sides64(codes, offset, low, high):  # noqa: D103 - the twin of the one above
        passes = (_lanes(codes, offset) <= high) & (_lanes(codes, offset + LANES) >= low)
        return np.bitwise_or.reduce(_BITS[passes], initial=np.uint64(0))

    def transpose64(rows, offset, out, out_offset):  # noqa: D103
        words = _lanes(rows, offset)
        _lanes(out, out_offset)[:] = [
            sum(((int(word) >> bit) & 1) << row for row, word in enumerate(words)) for bit in range(LANES)
        ]

    def masks512(mask, offset, first, first_at, second, second_at):  # noqa: D103
        assert 0 <= offset <= len(mask) - 8
        assert 0 <= first_at <= len(first) - 8
        assert 0 <= second_at <= len(second) - 8
        kept = mask[offset : offset + 8]
        kept &= first[first_at : first_at + 8] & second[second_at : second_at + 8]
        return np.uint64(np.any(kept))
