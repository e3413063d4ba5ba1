"""Memory that is free in this process, but not given back to the system.

Indexes are merged by building new ones beside the old. What that leaves free the C library keeps for later, in pieces that
the next merge may not fit in; a process that must stay within a budget asks for it to be given back. Large arrays are best
pieces of their own, which go back whole; glibc gives that up once a program has freed some, unless it is told not to. Under
a flood the process then grows half as much.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa

__all__ = ["give_back", "keep_large_apart"]

_MMAP_THRESHOLD = -3  # glibc's number for it
_LARGE = 128 << 10  # bytes; where glibc begins


def give_back() -> None:
    """Give free memory back to the system, where the C library can: glibc."""
    pa.default_memory_pool().release_unused()
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


def keep_large_apart() -> None:
    """From now on large arrays are pieces of memory of their own, in this whole process; glibc only."""
    tell = _function("mallopt")
    if tell is not None and _function("malloc_trim") is not None:
        tell(_MMAP_THRESHOLD, _LARGE)


@cache
def _function(name: str) -> Callable[..., Any] | None:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except OSError:  # a platform whose C library has no such name
        return None
