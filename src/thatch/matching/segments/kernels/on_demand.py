"""Kernels that searches call by address, compiled only once something needs them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from thatch.compiled.decorators import JIT, KernelCompiler, cache_on_disk
from thatch.matching.segments import fields as f

__all__ = ["PARTS", "apart", "load_parts"]

PARTS = np.full(
    f.N_PARTS, 0 if JIT else 1, np.int64
)  # addresses, 0 for what is not loaded; contexts name this
_COMPILED_APART: dict[int, Any] = {}
_POINTERS = ("desc", "context")


def apart(part: int) -> Any:
    """Compile for kernels, by itself, once `load_parts` asks for it; they call it by its address.

    Its arguments are integers but for `desc` and `context`, and it gives an integer.
    """

    def decorate(function: Any) -> Any:
        if not JIT:
            return function
        names = list(inspect.signature(function).parameters)
        kinds = [types.CPointer(types.int64) if name in _POINTERS else types.int64 for name in names]
        signature = types.int64(types.StarArgTuple.from_types(tuple(kinds)))
        options = {"nopython": True, "_nrt": False}
        compiled = CFunc(function, (tuple(kinds), types.int64), {}, options, pipeline_class=KernelCompiler)
        _COMPILED_APART[part] = cache_on_disk(compiled, function)

        @intrinsic
        def call(typingctx, *args):
            def codegen(context, builder, signature, packed):
                args = cgutils.unpack_tuple(builder, packed[0])
                where = args[names.index("context")]
                table = builder.load(builder.gep(where, [ir.Constant(ir.IntType(64), f.PARTS)]))
                table = builder.inttoptr(table, where.type)
                address = builder.load(builder.gep(table, [ir.Constant(ir.IntType(64), part)]))
                kind = ir.FunctionType(ir.IntType(64), [each.type for each in args])
                return builder.call(builder.inttoptr(address, kind.as_pointer()), args)

            return signature, codegen

        return call

    return decorate


def load_parts(*parts: int) -> None:
    """Let kernels call these from now on."""
    if all(PARTS[part] for part in parts):
        return
    with global_compiler_lock:
        for part in parts:
            if not PARTS[part]:
                _COMPILED_APART[part].compile()
                PARTS[part] = _COMPILED_APART[part].address
