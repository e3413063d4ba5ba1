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

from numba import config, njit
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime import rtsys

__all__ = ["CACHE", "JIT", "KernelCompiler", "cache_on_disk", "inline", "kernel", "short_kernel", "subkernel"]

CACHE = os.environ.get("THATCH_KERNEL_CACHE", "1") == "1" and os.environ.get("THATCH_PORTABLE") != "1"
JIT = not config.DISABLE_JIT


# --- on disk ---------------------------------------------------------------------------------------------------------


_COMPILED = Path(__file__).parent
_PACKAGE = _COMPILED.parent


@cache
def _fingerprint(folder: Path) -> str:
    """Hash all kernel sources and layouts that a package's kernels may use; a change in any makes the cache stale."""
    digest = hashlib.sha256()
    for path in sorted({*_COMPILED.rglob("*.py"), *folder.rglob("*.py")}):
        if _COMPILED in path.parents or path.parent.name == "kernels" or path.name in _KERNEL_FILES:
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


_KERNEL_FILES = ("kernels.py", "fields.py", "sides.py")


def _folder_of(function: Any) -> Path:
    """The folder whose kernels may call each other: the top-level package, or what is outside of Thatch."""
    path = Path(inspect.getfile(function))
    if _PACKAGE not in path.parents:
        return _PACKAGE / "matching"
    return _PACKAGE / path.relative_to(_PACKAGE).parts[0]


class _Cache(FunctionCache):
    """Kernels on disk: each depends on all of them, not only on the file that it stands in."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._cache_file._source_stamp  # noqa: SLF001 - Numba has no other way
        self._cache_file._source_stamp = (stamp, _fingerprint(_folder_of(function)))  # noqa: SLF001

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As Numba does it, but what lets it compile is loaded only where something must be compiled."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        return found if found is not None else super().load_overload(sig, target_context)


def cache_on_disk(compiled: Any, function: Any) -> Any:
    """Let something that is yet to be compiled be looked for, and kept, on disk."""
    if CACHE and JIT:
        compiled._cache = _Cache(function)  # noqa: SLF001 - Numba has no other way
    return compiled


# --- compiling -------------------------------------------------------------------------------------------------------


class KernelCompiler(Compiler):
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
    return cache_on_disk(njit(nogil=True, pipeline_class=KernelCompiler)(function), function)


def short_kernel(function: Any) -> Any:
    """Compile what takes microseconds: it keeps the GIL, because giving it up and waiting for it takes longer."""
    return cache_on_disk(njit(_nrt=False, pipeline_class=KernelCompiler)(function), function)


# --- what kernels call -----------------------------------------------------------------------------------------------


class _SubkernelLibrary(JITCodeLibrary):
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


class _SubkernelCompiler(KernelCompiler):
    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *args: Any) -> None:
        library = _SubkernelLibrary(targetctx.codegen(), "subkernel")
        super().__init__(typingctx, targetctx, library, *args)


_INNER = {
    "_nrt": False,
    "no_rewrites": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def subkernel(function: Any) -> Any:
    """Compile for callers that are kernels themselves; Python cannot call it."""
    return njit(pipeline_class=_SubkernelCompiler, **_INNER)(function)


def inline(function: Any) -> Any:
    """Take over into each caller as if it were written there: for what is short, or called once."""
    return njit(inline="always", **_INNER)(function)
