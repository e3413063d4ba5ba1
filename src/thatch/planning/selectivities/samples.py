"""Selectivities of a sample of events: of single predicates, and of all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thatch.errors import ParameterError, shown
from thatch.planning.counting import count
from thatch.planning.plans import Plan

__all__ = ["Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Which predicates were true on some events, as `FilterSet.columns` gives it.

    Parameters
    ----------
    columns : for each predicate the set of events on which it was true, bit e for event e
    events : how many there were
    """

    columns: Sequence[int]
    events: int

    def __post_init__(self) -> None:
        if self.events < 1:
            raise ParameterError("at least one event", shown(self.events), "sample")

    def selectivities(self) -> list[float]:
        """Of each predicate the share of events on which it was true."""
        return [each.bit_count() / self.events for each in self.columns]

    def cost(self, plan: Plan) -> float:
        """The expected cost of a plan, if predicates are true together as often as they were here.

        No independence is assumed: neither of the predicates of one member, nor of members that are tried one after the
        other until one is true.
        """
        return count(plan, self.columns, self.events).cost / self.events
