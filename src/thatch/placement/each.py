"""Work that falls into independent parts: done here one after the other, or by whoever can do it side by side.

What a part gives must depend on nothing but what it is told, so that it does not matter who does it, or in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Each", "here", "spans"]

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Found = TypeVar("Found")

_SPAN = 1 << 22  # numbers that one part holds at once


class Each(Protocol):
    """Does `work(shared, item)` for every item, and gives what was found in the order of the items."""

    def __call__(
        self, shared: Shared, work: Callable[[Shared, Item], Found], items: Sequence[Item]
    ) -> list[Found]: ...


def here(shared: Shared, work: Callable[[Shared, Item], Found], items: Sequence[Item]) -> list[Found]:
    """One after the other, in this process."""
    return [work(shared, item) for item in items]


def spans(count: int, width: int) -> list[tuple[int, int]]:
    """Ranges that together are 0 to `count`, each small enough for rows of `width` numbers; never dependent on who works."""
    step = max(1, _SPAN // max(width, 1))
    return [(at, min(at + step, count)) for at in range(0, count, step)]
