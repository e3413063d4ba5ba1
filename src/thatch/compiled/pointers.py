"""Pointers in kernels: to an entry of an array, and to an array read as another type of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from thatch.compiled.decorators import JIT

__all__ = [
    "CheckedArray", "as_doubles", "as_int32", "as_uint64", "bytes_at", "part_of", "pointer_into", "pointer_to", "words_at",
]  # fmt: skip


def pointer_into(context: Any, builder: Any, kind: Any, array: Any, offset: Any, vector: Any) -> Any:
    """LLVM code for the address of an entry of an array, to read as `vector`."""
    return builder.bitcast(builder.gep(_data(context, builder, kind, array), [offset]), vector.as_pointer())


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The pointer to the numbers of an array."""
    if isinstance(kind, types.CPointer):
        return array
    return context.make_array(kind)(context, builder, array).data


@intrinsic
def part_of(typingctx, array, start):
    """The part of an array, given by a pointer, from an index on."""

    def codegen(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return array(array, types.intp), codegen


def _found_at(kind: Any) -> Any:
    """A function that gives the numbers at an address; with the compiler off there are none."""

    @intrinsic
    def found(typingctx, address):
        def codegen(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(types.int64), codegen

    return found


bytes_at, words_at = map(_found_at, (types.uint8, types.int64))


class CheckedArray(np.ndarray):
    """An array for when the compiler is off: like a pointer, it has no negative indexes."""

    def __getitem__(self, at):
        assert not isinstance(at, int | np.integer) or at >= 0
        return super().__getitem__(at)

    def __setitem__(self, at, value):
        assert not isinstance(at, int | np.integer) or at >= 0
        super().__setitem__(at, value)


def _seen_as(kind: Any) -> Any:
    """A function that reads an array as another type of numbers."""
    if not JIT:
        return lambda array: array.view(str(kind))

    @intrinsic
    def seen(typingctx, array):
        def codegen(context, builder, signature, args):
            start = _data(context, builder, signature.args[0], args[0])
            return builder.bitcast(start, context.get_value_type(signature.return_type))

        return types.CPointer(kind)(array), codegen

    return seen


as_int32, as_doubles, as_uint64, pointer_to = map(
    _seen_as, (types.int32, types.float64, types.uint64, types.int64)
)


if not JIT:

    def part_of(array, start):  # noqa: D103 - as above
        return array[start:]
