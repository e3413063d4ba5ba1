"""Memory that is free in this process, but not given back to the system.

Indexes are merged by building new ones beside the old. What that leaves free the C library keeps for later, in pieces that
the next merge may not fit in; a process that must stay within a budget asks for it to be given back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa

__all__ = ["give_back"]


def give_back() -> None:
    """Give free memory back to the system, where the C library can: glibc."""
    pa.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    try:
        return getattr(ctypes.CDLL(None), "malloc_trim", None)
    except OSError:  # a platform whose C library has no such name
        return None
