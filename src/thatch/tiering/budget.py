"""The budget of the fast tier, and how to return free memory to the system.

Indexes are merged by building new ones beside the old. The C library keeps the memory this frees, in pieces that may be
too small for the next merge; a process with a budget asks for it to be returned. Large arrays are best allocated on their
own: they go back whole. glibc stops doing so once a program has freed some, unless it is told not to; under a flood the
process then grows half as much.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pyarrow as pa

from thatch.errors import ParameterError, shown

__all__ = ["Budget", "allocate_large_apart", "return_memory"]

_LEAST = 64 << 10  # bytes below the low mark that suffice for a few subscriptions
_MMAP_THRESHOLD = -3  # the number of this option in glibc
_LARGE = 128 << 10  # bytes; where glibc begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A budget with its high and low mark, as shares of it.

    Merging an index of segments takes about three times its size for a moment, so the marks lie well below the budget;
    for diagrams they may be higher.

    Raises `ParameterError` if the marks are not in order.

    Parameters
    ----------
    size : bytes that everything in memory may take, merging included
    high : above this share of it clusters move to the cold tier
    low : until this share is reached; and they come back if they fit below it
    """

    size: int
    high: float = 0.32
    low: float = 0.24

    def __post_init__(self) -> None:
        if not isinstance(self.size, int) or isinstance(self.size, bool) or self.size <= 0:
            raise ParameterError("a number of bytes above 0", shown(self.size), "budget")
        if not 0 < self.low < self.high <= 1:
            raise ParameterError("0 < low < high <= 1", f"low {self.low!r} and high {self.high!r}", "budget")

    @property
    def high_mark(self) -> int:
        """Bytes above which clusters move out."""
        return int(self.size * self.high)

    @property
    def low_mark(self) -> int:
        """Bytes at which they stop moving out, and below which they come back."""
        return int(self.size * self.low)

    def deduct(self, taken: int) -> Budget:
        """The budget that is left for subscriptions beside bytes that are always taken, with the same marks.

        Raises `ParameterError` if there is no room for any.
        """
        least = taken + int(_LEAST / self.low)
        if self.size < least:
            expected = f"at least {least:,} bytes, of which {taken:,} are taken before the first subscription"
            raise ParameterError(expected, f"{self.size:,}", "budget")
        return replace(self, size=self.size - taken)


def return_memory() -> None:
    """Return free memory to the system, where the C library can: glibc."""
    pa.default_memory_pool().release_unused()
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


def allocate_large_apart() -> None:
    """From now on allocate large arrays on their own, in this whole process; glibc only."""
    set_option = _function("mallopt")
    if set_option is not None and _function("malloc_trim") is not None:
        set_option(_MMAP_THRESHOLD, _LARGE)


@cache
def _function(name: str) -> Callable[..., Any] | None:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except OSError:  # a platform without such a library
        return None
