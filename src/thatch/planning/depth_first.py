"""The depth-first order of a plan (commonality, section 3).

Inside a step, predicates come by (1 − p) / c, the most likely to end it for its cost first: optimal for a conjunction. Steps
come by p' / c', where p' is the probability that something below the step is true and c' its expected cost. This is
optimal where every predicate occurs once, one owner has all members and members share nothing. Where the answer is a
list, the order of steps does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import inf

from thatch.planning.problem import PlanningProblem
from thatch.planning.steps import PlanStep

__all__ = ["by_ratio", "by_true_ratio", "chance_and_cost", "depth_first", "ratio"]


def by_ratio(
    problem: PlanningProblem, predicates: Iterable[int], known: Collection[int] = ()
) -> tuple[int, ...]:
    """Predicates of a conjunction in their optimal order, given that those in `known` are true."""
    return tuple(sorted(predicates, key=lambda each: -ratio(problem, each, known)))


def by_true_ratio(problem: PlanningProblem, predicates: Iterable[int]) -> tuple[int, ...]:
    """Predicates of a disjunction in their optimal order, by non-increasing p / c."""
    return tuple(sorted(predicates, key=lambda each: -problem.selectivities[each] / problem.costs[each]))


def ratio(problem: PlanningProblem, predicate: int, known: Collection[int] = ()) -> float:
    """The probability that a predicate is false, per unit of cost."""
    return (1.0 - problem.chance(predicate, known)) / problem.costs[predicate]


def chance_and_cost(
    problem: PlanningProblem, predicates: Sequence[int], known: Collection[int] = ()
) -> tuple[float, float]:
    """The probability that a conjunction is true, and the expected cost in this order (equation 3)."""
    reached, cost = 1.0, 0.0
    for each in predicates:
        cost += reached * problem.costs[each]
        reached *= problem.chance(each, known)
    return reached, cost


def depth_first(problem: PlanningProblem, step: PlanStep) -> PlanStep:
    """The same steps in depth-first order, without those that would never be taken."""
    return _ordered(problem, step, frozenset())[0]


def _ordered(
    problem: PlanningProblem, step: PlanStep, known: frozenset[int]
) -> tuple[PlanStep, float, float]:
    """A step in order, with its p' and c', given that some predicates are true."""
    tests = by_ratio(problem, step.tests, known)
    satisfied = {problem.owners[member] for member in step.ends}
    true, cost = chance_and_cost(problem, tests, known)
    known |= frozenset(tests)
    rated = [_ordered(problem, each, known) for each in step.below]
    below = [each for each in rated if _is_taken(each[0], satisfied)]
    below.sort(key=lambda each: -each[1] / each[2] if each[2] else -inf)
    unsettled = 0.0 if step.ends else 1.0
    inside = 0.0
    for _, chance, own in below:
        inside += unsettled * own
        unsettled *= 1.0 - chance
    steps = tuple(each for each, _, _ in below)
    whole = PlanStep(tests, step.ends, steps, _owners(problem, step.ends, steps))
    return whole, true * (1.0 - unsettled), cost + true * inside


def _is_taken(step: PlanStep, satisfied: set[int]) -> bool:
    """Whether a step is still needed when these owners are satisfied."""
    return not step.owners or not satisfied.issuperset(step.owners)


def _owners(problem: PlanningProblem, ends: tuple[int, ...], below: tuple[PlanStep, ...]) -> tuple[int, ...]:
    """The owners of the members here and below; none if one of them has no other member."""
    found = {problem.owners[member] for member in ends}
    if not found <= problem.repeated or not all(step.owners for step in below):
        return ()
    return tuple(sorted(found.union(*(step.owners for step in below))))
