"""The depth-first order: inside a step by (1 − p) / c, steps among each other by p' / c' (paper C, section 3).

p' is the probability that something below the step is true, c' its expected cost. Where every predicate stands once,
one owner has all members and no member shares anything, this is optimal; where the answer is a list the order of
steps does not matter.
"""

from __future__ import annotations

from math import inf

from thatch.planning.conjunction import by_ratio, expected
from thatch.planning.problem import Problem
from thatch.planning.steps import Step

__all__ = ["depth_first"]


def depth_first(problem: Problem, step: Step) -> Step:
    """The same steps in depth-first order, without those that are never taken."""
    return _ordered(problem, step, frozenset())[0]


def _ordered(problem: Problem, step: Step, known: frozenset[int]) -> tuple[Step, float, float]:
    """A step in order, with p' and c', where some predicates are known to be true."""
    tests = by_ratio(problem, step.tests, known)
    satisfied = {problem.owners[member] for member in step.ends}
    true, cost = expected(problem, tests, known)
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
    whole = Step(tests, step.ends, steps, _owners(problem, step.ends, steps))
    return whole, true * (1.0 - unsettled), cost + true * inside


def _is_taken(step: Step, satisfied: set[int]) -> bool:
    """Whether a step may be taken where these owners are satisfied."""
    return not step.owners or not satisfied.issuperset(step.owners)


def _owners(problem: Problem, ends: tuple[int, ...], below: tuple[Step, ...]) -> tuple[int, ...]:
    """Whom members here and below belong to; nobody if one of them has no other member."""
    found = {problem.owners[member] for member in ends}
    if not found <= problem.repeated or not all(step.owners for step in below):
        return ()
    return tuple(sorted(found.union(*(step.owners for step in below))))
