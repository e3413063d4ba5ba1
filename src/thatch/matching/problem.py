"""The matching problem: which filters of a set match an event?

An index holds filters under **places**, whole numbers that also give the order of the answer. Every index of the
family answers what `reference` defines, and is tested by being listed in `tests/matching`.
"""

from __future__ import annotations

from typing import Protocol

from thatch.model.events import Record
from thatch.model.filters import Filter

__all__ = ["Index"]


class Index(Protocol):
    """A set of filters that can be matched against events."""

    def add(self, place: int, filter: Filter) -> None:
        """Add a filter under a place that is free."""

    def remove(self, place: int) -> None:
        """Forget the filter at a place that is taken."""

    def match(self, record: Record) -> list[int]:
        """The places of all filters that match, lowest first."""

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
