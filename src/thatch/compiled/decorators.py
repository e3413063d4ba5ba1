"""Decorators that compile functions with Numba and cache them on disk.

`kernel` and `short_kernel` are for what Python calls; `subkernel` and `inline` for what only kernels call;
`thatch.compiled.on_demand` for rare parts of a kernel that are compiled only when they are needed.

Where no folder for the cache can be written, kernels are compiled anew in every process, and a log line says so once.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import numba
from numba import config, njit

__all__ = [
    "CACHE", "COMPILER_LOCK", "JIT", "PLAIN", "TESTED_NUMBA", "address_of", "inline", "kernel", "short_kernel", "subkernel",
    "tell_no_cache",
]  # fmt: skip

TESTED_NUMBA = ("0.68",)  # versions with which all tests were run, with private names and without
CACHE = os.environ.get("THATCH_KERNEL_CACHE", "1") == "1" and os.environ.get("THATCH_PORTABLE") != "1"
JIT = not config.DISABLE_JIT

# Without private names of Numba, kernels take longer to compile and to load; answers are the same.
internals: Any = None
if os.environ.get("THATCH_PLAIN_NUMBA") != "1":
    try:
        from thatch.compiled import numba_internals as internals
    except (ImportError, AttributeError):  # another version of Numba
        internals = None
PLAIN = internals is None
COMPILER_LOCK: Any = RLock() if PLAIN else internals.COMPILER_LOCK  # held while something is compiled


def kernel(function: Any) -> Any:
    """Compile without the GIL; cached on disk."""
    return _for_python(function, nogil=True)


def short_kernel(function: Any) -> Any:
    """Compile what takes microseconds: it keeps the GIL, because giving it up and waiting for it takes longer."""
    return _for_python(function, nogil=False)


def subkernel(function: Any) -> Any:
    """Compile for callers that are kernels themselves; Python cannot call it."""
    return njit(nogil=True)(function) if PLAIN else internals.compile_subkernel(function)


def inline(function: Any) -> Any:
    """Copy into each caller as if it were written there: for what is short, or called once."""
    return njit(inline="always", nogil=True)(function) if PLAIN else internals.compile_inline(function)


def _for_python(function: Any, *, nogil: bool) -> Any:
    if PLAIN:
        return njit(nogil=nogil, cache=_is_cached(function))(_stamp(function))
    return _cache_on_disk(internals.compile_kernel(function, nogil=nogil), function)


def address_of(function: Any, signature: Any) -> int:
    """Compile a function that kernels call by address, and return its address; cached on disk."""
    if PLAIN:
        compiled = numba.cfunc(signature, cache=_is_cached(function))(_stamp(function))
    else:
        compiled = _cache_on_disk(internals.compile_for_address(function, signature), function)
        compiled.compile()
    _KEPT.append(compiled)  # its code lives as long as it does
    return int(compiled.address)


_KEPT: list[Any] = []


def _cache_on_disk(compiled: Any, function: Any) -> Any:
    if _is_cached(function):
        return internals.cache_on_disk(
            compiled, function, _fingerprint(inspect.getfile(function)), tell_no_cache
        )
    return compiled


def _stamp(function: Any) -> Any:
    """Put the fingerprint into the name under which Numba caches a function, so that stale code is never loaded."""
    if _is_cached(function):
        function.__qualname__ += f"_{_fingerprint(inspect.getfile(function))[:16]}"
    return function


# --- where there is no room for a cache ------------------------------------------------------------------------------

_log = logging.getLogger("thatch")
_told = False


def _is_cached(function: Any) -> bool:
    """Whether the kernels of a function's file are cached on disk."""
    return CACHE and JIT and _has_folder(inspect.getfile(function), function)


_folders: dict[str, bool] = {}


def _has_folder(path: str, function: Any) -> bool:
    """Whether there is a folder where the kernels of a file can be cached: Numba looks for one before it compiles."""
    if path not in _folders:
        try:
            _fingerprint(path)
            njit(cache=True)(function)
            _folders[path] = True
        except (
            RuntimeError,
            OSError,
        ) as error:  # a read-only installation without a home, or a package in an archive
            _folders[path] = False
            tell_no_cache(error)
    return _folders[path]


def tell_no_cache(error: BaseException) -> None:
    """Say once that kernels are not cached, and how to change that. No warning: those may be errors."""
    global _told  # noqa: PLW0603 - once per process
    if not _told:
        _told = True
        _log.warning(
            "Thatch compiles its kernels anew in every process, because no folder to keep them in can be written (%s). "
            "Set NUMBA_CACHE_DIR to a folder that can, or THATCH_KERNEL_CACHE=0 to do without and not be told.",
            error,
        )


# --- what a kernel depends on ----------------------------------------------------------------------------------------

_ROOT = str(Path(__file__).parents[2])
_IMPORT = re.compile(r"^\s*from (thatch[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


@cache
def _fingerprint(path: str) -> str:
    """A hash of a source file and of all files of Thatch that it imports, directly or not.

    A kernel can only use what its file imports, so nothing that changes its code is left out.
    """
    found, waiting = {path: _source(path)[0]}, [path]
    while waiting:
        for other in _source(waiting.pop())[1]:
            if other not in found:
                found[other] = _source(other)[0]
                waiting.append(other)
    return hashlib.sha256(b"".join(found[each] for each in sorted(found))).hexdigest()


@cache
def _source(path: str) -> tuple[bytes, tuple[str, ...]]:
    """The hash of one file, and the files that it imports."""
    content = Path(path).read_bytes()
    imported: dict[str, None] = {}
    for module, names in _IMPORT.findall(content.decode()):
        listed = re.findall(r"\w+", re.sub(r"#.*| as \w+", "", names))
        imported |= dict.fromkeys(_files_of(module.replace(".", "/"), listed))
    return hashlib.sha256(content).digest(), tuple(imported)


def _files_of(module: str, names: list[str]) -> Iterator[str]:
    """The files that names are imported from: a module, or those of a package that have these names."""
    found = _contents(module)
    if found is None:
        yield f"{_ROOT}/{module}.py"
        return
    for name in names:
        is_module, is_package = f"{name}.py" in found, name in found
        inner = f"{name}.py" if is_module else f"{name}/__init__.py" if is_package else "__init__.py"
        yield f"{_ROOT}/{module}/{inner}"


@cache
def _contents(package: str) -> frozenset[str] | None:
    """The files of a package, None if there is no such folder."""
    try:
        return frozenset(each.name for each in Path(_ROOT, package).iterdir())
    except OSError:
        return None
