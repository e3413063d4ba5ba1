"""Plans carried out on many events at once: the same evaluations, counted for all of them together.

A set of events is a whole number, bit e for event e; a predicate's column is the set on which it is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from thatch.errors import ParameterError, shown
from thatch.planning.plans import Plan
from thatch.planning.steps import Step

__all__ = ["Count", "PredicateSample", "count"]


@dataclass(frozen=True, slots=True)
class Count:
    """What a plan did on some events.

    Parameters
    ----------
    events : how many
    evaluations : predicates evaluated, on all events together
    cost : of them
    satisfied : for each owner the events on which it was, as a set
    """

    events: int
    evaluations: int
    cost: float
    satisfied: tuple[int, ...]


def count(plan: Plan, columns: Sequence[int], events: int) -> Count:
    """Carry out a plan on all events, as `execute` would on each."""
    walk = _Walk(plan, columns)
    everything = (1 << events) - 1
    if plan.strategy is not None:
        walk.follow(everything)
    else:
        walk.take(plan.steps, everything)
    costs = plan.problem.costs
    times = {predicate: seen.bit_count() for predicate, seen in walk.seen.items()}
    return Count(
        events,
        sum(times.values()),
        sum(costs[predicate] * number for predicate, number in times.items()),
        tuple(walk.satisfied),
    )


@dataclass(frozen=True, slots=True)
class PredicateSample:
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


class _Walk:
    def __init__(self, plan: Plan, columns: Sequence[int]) -> None:
        self._plan = plan
        self._columns = columns
        self.seen: dict[int, int] = {}  # by predicate: events on which it was evaluated
        self.satisfied = [0] * plan.problem.owner_count

    def take(self, step: Step, here: int) -> None:
        if step.owners:
            spared = here
            for owner in step.owners:
                spared &= self.satisfied[owner]
            here &= ~spared
        for test in step.tests:
            if not here:
                return
            self.seen[test] = self.seen.get(test, 0) | here
            here &= self._columns[test]
        if not here:
            return
        for member in step.ends:
            self.satisfied[self._plan.problem.owners[member]] |= here
        for each in step.below:
            self.take(each, here)

    def follow(self, everything: int) -> None:
        """All states that some event comes to, in their order: an evaluation leads to a later one."""
        assert self._plan.strategy is not None
        strategy = self._plan.strategy
        waiting, here, last = [0], {0: everything}, len(strategy.leaf) - 1
        while waiting:
            state = heappop(waiting)
            some, leaf = here.pop(state), int(strategy.leaf[state])
            self.seen[leaf] = self.seen.get(leaf, 0) | some
            true = some & self._columns[leaf]
            for part, after in (
                (true, int(strategy.if_true[state])),
                (some & ~true, int(strategy.if_false[state])),
            ):
                if after == last:
                    self.satisfied[0] |= part & true
                elif part:
                    if after not in here:
                        heappush(waiting, after)
                    here[after] = here.get(after, 0) | part
