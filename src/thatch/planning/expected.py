"""The expected cost of steps, and the general forms of it (commonality, section 4, equations 3, 5 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, prod

from thatch.model.profile import Profile
from thatch.planning.problem import PlanningProblem
from thatch.planning.steps import PlanStep

__all__ = [
    "Chances",
    "chances_of_pairs",
    "cluster_cost",
    "conjunction_cost",
    "expected_cost",
    "link_group_cost",
    "paired_chances",
]

# The probability that a predicate is true, given that some others are.
Chances = Callable[[int, Sequence[int]], float]
_UNSEEN = 1e-12  # in place of a probability of 0, in logarithms only


def conjunction_cost(selectivities: Sequence[float], costs: Sequence[float]) -> float:
    """E(n) = c1 + p1 c2 + p1 p2 c3 + … (equation 3)."""
    reached, cost = 1.0, 0.0
    for selectivity, each in zip(selectivities, costs, strict=True):
        cost += reached * each
        reached *= selectivity
    return cost


def cluster_cost(shared: tuple[Sequence[float], Sequence[float]], members: Sequence[float]) -> float:
    """E(k) + p1 … pk (sum of the members' costs) (equation 5, for members of any length).

    Parameters
    ----------
    shared : selectivities and costs of the shared predicates
    members : expected costs of what each member holds beyond them
    """
    return conjunction_cost(*shared) + prod(shared[0]) * sum(members)


def link_group_cost(chances: Sequence[float], costs: Sequence[float]) -> float:
    """c'1 + (1 − p'1) c'2 + … (equation 7): members with their probabilities and expected costs, in order."""
    return conjunction_cost([1.0 - each for each in chances], costs)


def expected_cost(problem: PlanningProblem, step: PlanStep, chances: Chances | None = None) -> float:
    """The expected cost of walking these steps.

    Parameters
    ----------
    chances : by default predicates are independent unless one implies the other, as in the paper

    Notes
    -----
    Exact if every predicate occurs once and is independent of the others. A predicate that occurs several times is
    evaluated once, if any of its steps is reached; these events are assumed independent, as are different owners.
    """
    walk = _ChanceWalk(problem, chances or problem.chance)
    walk.take(walk.rate(step, ()), 1.0, dict.fromkeys(problem.repeated, 1.0))
    return sum(problem.costs[predicate] * (1.0 - missed) for predicate, missed in walk.missed.items())


@dataclass(frozen=True, slots=True)
class _Rated:
    """A step with the probability that each test is true after those before it, and that owners are satisfied."""

    step: PlanStep
    passed: tuple[float, ...]
    below: tuple[_Rated, ...]
    satisfied: Mapping[int, float]


class _ChanceWalk:
    def __init__(self, problem: PlanningProblem, chances: Chances) -> None:
        self._problem = problem
        self._chances = chances
        self.missed: dict[int, float] = {}  # the probability that no step with the predicate is reached

    def rate(self, step: PlanStep, path: tuple[int, ...]) -> _Rated:
        passed, through = [], 1.0
        for test in step.tests:
            passed.append(self._chances(test, path))
            through *= passed[-1]
            path = (*path, test)
        below = tuple(self.rate(each, path) for each in step.below)
        open_here: dict[int, float] = {}
        for member in step.ends:
            if self._problem.owners[member] in self._problem.repeated:
                open_here[self._problem.owners[member]] = 0.0
        for each in below:
            for owner, chance in each.satisfied.items():
                open_here[owner] = open_here.get(owner, 1.0) * (1.0 - chance)
        return _Rated(
            step, tuple(passed), below, {owner: through * (1.0 - each) for owner, each in open_here.items()}
        )

    def take(self, rated: _Rated, reached: float, unsatisfied: dict[int, float]) -> None:
        """Add the evaluations of a step, given the probabilities that it is reached and that owners are unsatisfied."""
        for test, passed in zip(rated.step.tests, rated.passed, strict=True):
            self.missed[test] = self.missed.get(test, 1.0) * (1.0 - reached)
            reached *= passed
        if not rated.below:
            return
        for member in rated.step.ends:
            unsatisfied[self._problem.owners[member]] = 0.0
        for each in rated.below:
            wanted = _wanted(each.step, unsatisfied)
            if wanted:
                inside = {owner: unsatisfied[owner] / wanted for owner in each.satisfied}
                self.take(each, reached * wanted, inside)
            for owner, chance in each.satisfied.items():
                unsatisfied[owner] *= 1.0 - chance


def _wanted(step: PlanStep, unsatisfied: Mapping[int, float]) -> float:
    """The probability that some owner of a step is not satisfied."""
    return 1.0 - prod(1.0 - unsatisfied[owner] for owner in step.owners) if step.owners else 1.0


def chances_of_pairs(problem: PlanningProblem, pairs: Mapping[tuple[int, int], float]) -> Chances:
    """Conditional selectivities from those of pairs; of several known pairs the most informative one is used.

    Parameters
    ----------
    pairs : the probability that both predicates are true, the one with the lower number first
    """
    selectivities = problem.selectivities

    def chance(predicate: int, known: Sequence[int]) -> float:
        own = max(selectivities[predicate], _UNSEEN)
        given = [problem.chance(predicate, known)]
        for each in known:
            both = pairs.get((min(each, predicate), max(each, predicate)))
            if both is not None and selectivities[each]:
                given.append(min(both / selectivities[each], 1.0))
        return max(given, key=lambda each: abs(log(max(each, _UNSEEN) / own)))

    return chance


def paired_chances(problem: PlanningProblem, profile: Profile) -> Chances:
    """Conditional selectivities from the pairs of predicates that a profile measured."""
    numbers = {name: number for number, name in enumerate(problem.names)}
    found = {}
    for each in profile.predicate_pairs:
        first, second = numbers.get(each.first), numbers.get(each.second)
        if first is not None and second is not None and profile.events:
            found[min(first, second), max(first, second)] = each.events / profile.events
    return chances_of_pairs(problem, found)
