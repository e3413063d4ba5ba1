"""Carry out a plan: on one event, or on many at once with the same evaluations, counted together.

A set of events is an integer, bit e for event e; a predicate's column is the set of events on which it is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from thatch.errors import ParameterError, shown
from thatch.planning.plans import MatchingPlan
from thatch.planning.steps import PlanStep

__all__ = ["BatchExecution", "Execution", "PredicateSample", "count", "execute"]

Truth = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of a plan on one event.

    Parameters
    ----------
    owners : those with a true member
    evaluated : the predicates that were evaluated, in order
    cost : their total cost
    """

    owners: frozenset[int]
    evaluated: tuple[int, ...]
    cost: float


def execute(plan: MatchingPlan, truth: Truth, verify: Truth | None = None) -> Execution:
    """Carry out a plan on one event.

    Parameters
    ----------
    truth : whether a predicate is true; called at most once for each
    verify : whether a member is true once all its predicates are, if that does not follow (lists); the plan is then
        walked depth first, since a strategy relies on it
    """
    known: dict[int, bool] = {}
    if plan.strategy is not None and verify is None:
        owners = _by_strategy(plan, truth, known)
    else:
        owners = _by_steps(plan, truth, verify, known)
    evaluated = tuple(known)
    return Execution(frozenset(owners), evaluated, sum(plan.problem.costs[each] for each in evaluated))


def _by_strategy(plan: MatchingPlan, truth: Truth, known: dict[int, bool]) -> set[int]:
    assert plan.strategy is not None
    strategy = plan.strategy
    state, last, value = 0, len(strategy.leaf) - 1, True
    while state != last:
        leaf = int(strategy.leaf[state])
        value = known[leaf] = truth(leaf)
        state = int((strategy.if_true if value else strategy.if_false)[state])
    return {0} if value else set()


def _by_steps(plan: MatchingPlan, truth: Truth, verify: Truth | None, known: dict[int, bool]) -> set[int]:
    satisfied: set[int] = set()
    owner_of = plan.problem.owners

    def take(step: PlanStep) -> None:
        if step.owners and satisfied.issuperset(step.owners):
            return
        for test in step.tests:
            value = known.get(test)
            if value is None:
                value = known[test] = truth(test)
            if not value:
                return
        for member in step.ends:
            if verify is None or verify(member):
                satisfied.add(owner_of[member])
        for each in step.below:
            take(each)

    take(plan.steps)
    return satisfied


@dataclass(frozen=True, slots=True)
class BatchExecution:
    """The result of a plan on some events.

    Parameters
    ----------
    events : the number of events
    evaluations : the number of evaluations on all events
    cost : their total cost
    satisfied : for each owner the set of events on which it was satisfied
    """

    events: int
    evaluations: int
    cost: float
    satisfied: tuple[int, ...]


def count(plan: MatchingPlan, columns: Sequence[int], events: int) -> BatchExecution:
    """Carry out a plan on many events with the evaluations that `execute` would make on each."""
    walk = _BatchWalk(plan, columns)
    everything = (1 << events) - 1
    if plan.strategy is not None:
        walk.follow(everything)
    else:
        walk.take(plan.steps, everything)
    costs = plan.problem.costs
    times = {predicate: seen.bit_count() for predicate, seen in walk.seen.items()}
    return BatchExecution(
        events,
        sum(times.values()),
        sum(costs[predicate] * number for predicate, number in times.items()),
        tuple(walk.satisfied),
    )


@dataclass(frozen=True, slots=True)
class PredicateSample:
    """Which predicates were true on a sample of events.

    Parameters
    ----------
    columns : for each predicate the set of events on which it was true, from `FilterSet.columns`
    events : the number of events
    """

    columns: Sequence[int]
    events: int

    def __post_init__(self) -> None:
        if self.events < 1:
            raise ParameterError("at least one event", shown(self.events), "sample")

    def selectivities(self) -> list[float]:
        """For each predicate the share of events on which it was true."""
        return [each.bit_count() / self.events for each in self.columns]

    def cost(self, plan: MatchingPlan) -> float:
        """The expected cost of a plan if predicates are true together as often as in the sample.

        Neither the predicates of a member nor members that are tried one after the other are assumed independent.
        """
        return count(plan, self.columns, self.events).cost / self.events


class _BatchWalk:
    def __init__(self, plan: MatchingPlan, columns: Sequence[int]) -> None:
        self._plan = plan
        self._columns = columns
        self.seen: dict[int, int] = {}  # by predicate: events on which it was evaluated
        self.satisfied = [0] * plan.problem.owner_count

    def take(self, step: PlanStep, here: int) -> None:
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
        """Visit the states that some event reaches, in order: an evaluation always leads to a later one."""
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
