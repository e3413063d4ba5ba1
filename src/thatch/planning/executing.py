"""Plans carried out on one event at a time: who is satisfied, and how many predicates that took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thatch.planning.plans import Plan
from thatch.planning.steps import Step

__all__ = ["Execution", "execute"]

Truth = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Execution:
    """What a plan found on an event.

    Parameters
    ----------
    owners : those with a true member
    evaluated : predicates, in the order in which they were evaluated, each once
    cost : of all of them
    """

    owners: frozenset[int]
    evaluated: tuple[int, ...]
    cost: float


def execute(plan: Plan, truth: Truth, verify: Truth | None = None) -> Execution:
    """Carry out a plan.

    Parameters
    ----------
    truth : whether a predicate is true; asked at most once for each
    verify : whether a member is true whose predicates all are; where that does not follow by itself, the plan goes
        depth first, since a strategy builds on it
    """
    known: dict[int, bool] = {}
    if plan.strategy is not None and verify is None:
        owners = _by_strategy(plan, truth, known)
    else:
        owners = _by_steps(plan, truth, verify, known)
    evaluated = tuple(known)
    return Execution(frozenset(owners), evaluated, sum(plan.problem.costs[each] for each in evaluated))


def _by_strategy(plan: Plan, truth: Truth, known: dict[int, bool]) -> set[int]:
    assert plan.strategy is not None
    strategy = plan.strategy
    state, last, value = 0, len(strategy.leaf) - 1, True
    while state != last:
        leaf = int(strategy.leaf[state])
        value = known[leaf] = truth(leaf)
        state = int((strategy.if_true if value else strategy.if_false)[state])
    return {0} if value else set()


def _by_steps(plan: Plan, truth: Truth, verify: Truth | None, known: dict[int, bool]) -> set[int]:
    satisfied: set[int] = set()
    owner_of = plan.problem.owners

    def take(step: Step) -> None:
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
