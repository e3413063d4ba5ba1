"""The only file that uses private names of Numba: with them, kernels compile and load in half the time.

Functions that only kernels call are optimised once, inside their callers; nothing counts references; Python's garbage
collector is off while Numba compiles; and a cached kernel is loaded without the tables that only the compiler needs.

`thatch.compiled.decorators` does without this file if `THATCH_PLAIN_NUMBA=1` is set, or if the import fails because
the installed version of Numba lacks one of the names.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock as COMPILER_LOCK  # noqa: N812 - an object of theirs, a constant here
from numba.core.runtime import rtsys

__all__ = [
    "COMPILER_LOCK", "cache_on_disk", "compile_for_address", "compile_inline", "compile_kernel", "compile_subkernel",
]  # fmt: skip

_NEEDED = {
    FunctionCache: ("_load_overload", "_guard_against_spurious_io_errors", "load_overload"),
    JITCodeLibrary: ("_optimize_functions", "_optimize_final_module", "_finalize_final_module"),
    Compiler: ("compile_extra",),
    CFunc: ("compile", "address"),
}
_MISSING = [name for owner, names in _NEEDED.items() for name in names if not hasattr(owner, name)]
if _MISSING:
    raise ImportError(f"this version of Numba lacks {', '.join(_MISSING)}")

_INNER = {
    "_nrt": False,
    "no_rewrites": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


# --- the cache on disk -----------------------------------------------------------------------------------------------


class _KernelCache(FunctionCache):
    """A cached kernel is stale when any source file that it depends on has changed."""

    def __init__(self, function: Any, fingerprint: str, tell: Callable[[OSError], None]) -> None:
        super().__init__(function)
        self._tell = tell
        self._cache_file._source_stamp = (self._cache_file._source_stamp, fingerprint)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load as Numba does, but set up the compiler only if there is something to compile."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        return found if found is not None else super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save as Numba does; a disk that is full or read-only by now is told of, and the kernel works."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self._tell(error)


def cache_on_disk(compiled: Any, function: Any, fingerprint: str, tell: Callable[[OSError], None]) -> Any:
    """Cache a compiled function on disk; `tell` is called with what keeps it from being written."""
    compiled._cache = _KernelCache(function, fingerprint, tell)
    return compiled


# --- compiling -------------------------------------------------------------------------------------------------------


class _KernelCompiler(Compiler):
    """Numba's compiler with the garbage collector off, which would scan all that it allocates in vain."""

    def compile_extra(self, func: Any) -> Any:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if was_enabled:
                gc.enable()


class _SubkernelLibrary(JITCodeLibrary):
    """Code that is optimised and loaded only as part of the kernels that it is linked into."""

    codegen = SimpleNamespace(set_env=lambda *_: None)  # nothing is loaded that could know its environment

    def _optimize_functions(self, ll_module: Any) -> None:
        pass

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class _SubkernelCompiler(_KernelCompiler):
    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *args: Any) -> None:
        library = _SubkernelLibrary(targetctx.codegen(), "subkernel")
        super().__init__(typingctx, targetctx, library, *args)


def compile_kernel(function: Any, *, nogil: bool) -> Any:
    """A function that Python calls; one that keeps the GIL allocates nothing."""
    options = {"nogil": True} if nogil else {"_nrt": False}
    return njit(pipeline_class=_KernelCompiler, **options)(function)


def compile_subkernel(function: Any) -> Any:
    """A function that only kernels call."""
    return njit(pipeline_class=_SubkernelCompiler, **_INNER)(function)


def compile_inline(function: Any) -> Any:
    """A function that is copied into the kernels that call it."""
    return njit(inline="always", **_INNER)(function)


def compile_for_address(function: Any, signature: Any) -> Any:
    """A function that kernels call by its `address`, once `compile` was called."""
    options = {"nopython": True, "_nrt": False}
    kinds = (signature.args, signature.return_type)
    return CFunc(function, kinds, {}, options, pipeline_class=_KernelCompiler)
