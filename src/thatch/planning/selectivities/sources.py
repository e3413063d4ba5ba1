"""What knows the selectivity of a predicate."""

from __future__ import annotations

from typing import Protocol

from thatch.model.printing import PrintedCondition

__all__ = ["Source"]


class Source(Protocol):
    """Selectivities of predicates."""

    def selectivity(self, predicate: PrintedCondition) -> float:
        """The probability that a predicate is true on an event."""
