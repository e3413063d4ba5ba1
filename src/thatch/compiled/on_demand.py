"""Rare parts of kernels that are compiled only when something needs them, and called through a table of addresses.

A kernel that may call such a part has the table as one of its arrays. Where an address is 0 the part is not loaded, and
the kernel must do without::

    PARTS = OnDemand(1)

    @PARTS.part(0)
    def look_closer(box: int, context: SearchContext) -> int: ...

    @subkernel
    def settle(box, context):
        if context.parts[0] != 0:
            return look_closer(context.parts[0], box, context)

    PARTS.load(0)  # in Python, before the first search that needs it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from thatch.compiled.decorators import COMPILER_LOCK, JIT, address_of
from thatch.compiled.records import numba_type

__all__ = ["OnDemand"]


class OnDemand:
    """A table of addresses, 0 for what is not loaded; with the compiler off all count as loaded."""

    def __init__(self, count: int) -> None:
        self.addresses = np.full(count, 0 if JIT else 1, np.int64)
        self._parts: dict[int, tuple[Any, Any]] = {}

    def part(self, number: int) -> Callable[[Any], Any]:
        """Compile a function once `load` asks for it. Kernels call it with its address, then its own arguments.

        Parameters are annotated as integers, arrays or records, and the result is an integer.
        """

        def decorate(function: Any) -> Any:
            if not JIT:
                return lambda address, *args: function(*args)
            hints = get_type_hints(function)
            hints.pop("return", None)
            kinds = tuple(numba_type(hint) for hint in hints.values())
            self._parts[number] = function, types.int64(*kinds)
            return _caller(kinds)

        return decorate

    def load(self, *numbers: int) -> None:
        """Let kernels call these parts from now on."""
        if all(self.addresses[number] for number in numbers):
            return
        with COMPILER_LOCK:
            for number in numbers:
                if not self.addresses[number]:
                    self.addresses[number] = address_of(*self._parts[number])


def _caller(kinds: tuple[Any, ...]) -> Any:
    """A function `(address, *args)` for kernels that calls what stands at the address."""
    packed = types.StarArgTuple.from_types(kinds)

    @intrinsic
    def call(typingctx, address, *args):
        def codegen(context, builder, signature, given):
            args = cgutils.unpack_tuple(builder, given[1])
            kind = ir.FunctionType(ir.IntType(64), [each.type for each in args])
            return builder.call(builder.inttoptr(given[0], kind.as_pointer()), args)

        return types.int64(types.int64, packed), codegen

    return call
