"""How kernels are compiled, kept on disk and loaded again.

The first match of a process waits for this, so it does without all that Numba does for others: what only kernels call
is optimised once, inside its callers; nothing counts references; what a kernel seldom needs is compiled apart, when it
is needed; and what is on disk is loaded without the tables that only a compiler reads.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import os
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys
from numba.extending import intrinsic

from thatch.matching.segments import fields as f

__all__ = ["CACHE", "JIT", "PARTS", "apart", "brief", "inlined", "kept", "kernel", "load_parts", "merged"]

CACHE = os.environ.get("THATCH_KERNEL_CACHE", "1") == "1" and os.environ.get("THATCH_PORTABLE") != "1"
JIT = not config.DISABLE_JIT


# --- on disk ---------------------------------------------------------------------------------------------------------


_SEGMENTS = Path(__file__).parents[1]
_ROOMS = _SEGMENTS.parents[1]


@cache
def _fingerprint(folder: Path) -> str:
    """What the kernels of a room, ours and the layouts they share look like.

    One that was compiled with another version of any of them is not used.
    """
    digest = hashlib.sha256()
    for path in sorted({*_SEGMENTS.rglob("*.py"), *folder.rglob("*.py")}):
        if path.name in ("kernels.py", "fields.py", "sides.py"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _room_of(function: Any) -> Path:
    """The folder whose kernels may call each other."""
    path = Path(inspect.getfile(function))
    if _SEGMENTS in path.parents or _ROOMS not in path.parents:
        return _SEGMENTS
    return _ROOMS / path.relative_to(_ROOMS).parts[0]


class _Cache(FunctionCache):
    """Kernels on disk: each depends on all of them, not only on the file that it stands in."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._cache_file._source_stamp  # noqa: SLF001 - Numba has no other way
        self._cache_file._source_stamp = (stamp, _fingerprint(_room_of(function)))  # noqa: SLF001

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As Numba does it, but what lets it compile is loaded only where something must be compiled."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        return found if found is not None else super().load_overload(sig, target_context)


def kept(compiled: Any, function: Any) -> Any:
    """Let something that is yet to be compiled be looked for, and kept, on disk."""
    if CACHE and JIT:
        compiled._cache = _Cache(function)  # noqa: SLF001 - Numba has no other way
    return compiled


# --- compiling -------------------------------------------------------------------------------------------------------


class _Compiler(Compiler):
    """Numba's compiler without Python's collector of garbage, which would look at all that it makes, in vain."""

    def compile_extra(self, func: Any) -> Any:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if was_enabled:
                gc.enable()


# --- what Python calls -----------------------------------------------------------------------------------------------


def kernel(function: Any) -> Any:
    """Compile without the GIL; cached on disk."""
    return kept(njit(nogil=True, pipeline_class=_Compiler)(function), function)


def brief(function: Any) -> Any:
    """Compile what takes microseconds: it keeps the GIL, because giving it up and waiting for it takes longer."""
    return kept(njit(_nrt=False, pipeline_class=_Compiler)(function), function)


# --- what kernels call -----------------------------------------------------------------------------------------------


class _Ingredient(JITCodeLibrary):
    """Code that is neither optimised nor loaded by itself: that is done once, where it is linked in."""

    codegen = SimpleNamespace(set_env=lambda *_: None)  # nothing is loaded that could know its environment

    def _optimize_functions(self, ll_module: Any) -> None:
        pass

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 - Numba's name for it
        self._ensure_finalized()
        return 0


class _IngredientCompiler(_Compiler):
    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *args: Any) -> None:
        library = _Ingredient(targetctx.codegen(), "ingredient")
        super().__init__(typingctx, targetctx, library, *args)


_INNER = {
    "_nrt": False,
    "no_rewrites": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def inlined(function: Any) -> Any:
    """Compile for callers that are kernels themselves; Python cannot call it."""
    return njit(pipeline_class=_IngredientCompiler, **_INNER)(function)


def merged(function: Any) -> Any:
    """Take over into each caller as if it were written there: for what is short, or called once."""
    return njit(inline="always", **_INNER)(function)


# --- what kernels call by address -------------------------------------------------------------------------------------

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
        compiled = CFunc(function, (tuple(kinds), types.int64), {}, options, pipeline_class=_Compiler)
        _COMPILED_APART[part] = kept(compiled, function)

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
