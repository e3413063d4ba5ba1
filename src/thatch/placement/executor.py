"""Independent pieces of work: run here one after the other, or side by side by another executor (on Spark, for instance).

The result of a piece must depend on nothing but its arguments, so that it does not matter who runs it, or in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Executor", "run_here", "spans"]

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")

SPAN = 1 << 22  # numbers that one piece holds in memory


class Executor(Protocol):
    """Runs `work(shared, item)` for every item, and returns the results in the order of the items."""

    def __call__(
        self, shared: Shared, work: Callable[[Shared, Item], Result], items: Sequence[Item]
    ) -> list[Result]: ...


def run_here(shared: Shared, work: Callable[[Shared, Item], Result], items: Sequence[Item]) -> list[Result]:
    """Run one item after the other, in this process."""
    return [work(shared, item) for item in items]


def spans(count: int, width: int = 1, size: int = SPAN) -> list[tuple[int, int]]:
    """Cut 0 to `count` into ranges small enough for `size` numbers, at `width` numbers each; the same for every executor."""
    step = max(1, size // max(width, 1))
    return [(at, min(at + step, count)) for at in range(0, count, step)]
