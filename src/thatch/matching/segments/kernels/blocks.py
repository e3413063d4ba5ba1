"""Kernels that test sixty-four boxes at a time against an event: blocks of boxes, zones of blocks, zones of zones.

The tests are LLVM's portable vectors, which any processor runs. `sides64` compares one attribute of a block: sixty-four
`lo` codes, then sixty-four `hi` codes, sixteen bits each, and gives one bit a box. `mixed64` does so where every box
has an attribute of its own; with AVX-512 and few attributes it permutes the event's codes inside registers.

With the compiler off (NUMBA_DISABLE_JIT=1) plain NumPy takes the place of vectors, so that every kernel can run, and be
tested, as the Python that it is written in.
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

from thatch.compiled.bits import prefetch, trailing_zeros
from thatch.compiled.decorators import JIT, subkernel
from thatch.compiled.pointers import pointer_into
from thatch.matching.segments.records import MIXED_SIDES

__all__ = [
    "HAS_PERMUTE", "LANES", "boxes_alive", "list_blocks", "mixed64", "mixed_alive", "n_zones", "zones_alive",
]  # fmt: skip

LANES = 64
_IS_PORTABLE = os.environ.get("THATCH_PORTABLE") == "1"
HAS_PERMUTE = JIT and not _IS_PORTABLE and bool(llvm.get_host_cpu_features().get("avx512bw"))


# --- tests of sixty-four boxes --------------------------------------------------------------------------------------

_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_V64 = ir.VectorType(_I16, LANES)
_V32 = ir.VectorType(_I16, 32)


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


@subkernel
def _gathered64(mixed, offset, low, high, lanes):
    """`mixed64` for any processor and any number of attributes; it tests only the lanes still alive."""
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

    def sides64(codes, offset, low, high):
        passes = (_lanes(codes, offset) <= high) & (_lanes(codes, offset + LANES) >= low)
        return np.bitwise_or.reduce(_BITS[passes], initial=np.uint64(0))


# --- blocks and zones ------------------------------------------------------------------------------------------------


@subkernel
def _keys_alive(codes, start, step, total, group, low, high):
    """One bit for each whose key sides pass, of sixty-four boxes, blocks or zones.

    Parameters
    ----------
    start, step : where the codes of this kind begin in the group, and which sixty-four are meant
    total : how many of the kind the group has
    """
    keys, n_keys = group.keys, group.n_keys
    at = start + step * n_keys * 128
    lanes = ~np.uint64(0)
    for key in range(n_keys):
        which = keys[key]
        lanes &= sides64(codes, at + key * 128, low[which], high[which])
        if lanes == 0:
            break
    there = total - (step << 6)
    return lanes & ((np.uint64(1) << np.uint64(there)) - np.uint64(1)) if there < 64 else lanes


@subkernel
def mixed_alive(segment, at, low, high, lanes):
    """Of these boxes, those whose mixed sides pass."""
    is_narrow = segment.is_narrow != 0
    for step in range(MIXED_SIDES):
        if lanes == 0:
            break
        lanes = mixed64(segment.mixed, at + step * 192, low, high, lanes, is_narrow)
    return lanes


@subkernel
def n_zones(group):
    """How many zones a group has."""
    return (group.n_blocks + 63) >> 6


@subkernel
def boxes_alive(codes, group, block, low, high):
    """The boxes of a block whose key sides pass."""
    return _keys_alive(codes, group.codes_at, block, group.n_boxes, group, low, high)


@subkernel
def zones_alive(codes, group, step, low, high):
    """Of sixty-four zones of a group, those in which a box may pass."""
    zones = n_zones(group)
    if zones == 1:  # its blocks are tested next anyway
        return np.uint64(1)
    return _keys_alive(codes, group.upper_zones_at, step, zones, group, low, high)


@subkernel
def list_blocks(codes, group, step, zones, low, high, most, found):
    """List the blocks in which a box may pass; return how many there are, and which zones are left for later.

    Parameters
    ----------
    step, zones : which sixty-four zones, and which of them may have such blocks
    most : how many zones to look at
    """
    one = np.uint64(1)
    count = np.int64(0)
    first, size = group.codes_at, group.n_keys * 128
    for _ in range(most):
        if zones == 0:
            break
        zone = (step << 6) + np.int64(trailing_zeros(zones))
        zones &= zones - one
        blocks = _keys_alive(codes, group.zones_at, zone, group.n_blocks, group, low, high)
        while blocks != 0:
            block = (zone << 6) + np.int64(trailing_zeros(blocks))
            found[count] = block
            if size > 0:  # fetch the codes of the first key, in lines of 32, while others are still tested
                for line in range(4):
                    prefetch(codes, first + block * size + 32 * line)
            blocks &= blocks - one
            count += 1
    return count, zones
