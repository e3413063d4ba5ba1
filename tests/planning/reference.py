"""Slow definitions: the best of all strategies, and expected costs by trying every combination of truth values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from thatch.errors import ParameterError
from thatch.planning.executing import execute
from thatch.planning.plans import MatchingPlan
from thatch.planning.problem import PlanningProblem

__all__ = ["best_cost", "combinations", "cost_of", "satisfied_owners"]

_MOST_PREDICATES = 12  # there are 3^n states of knowledge, and 2^n events


def satisfied_owners(problem: PlanningProblem, values: tuple[bool, ...]) -> frozenset[int]:
    """The owners of members that are true where predicates have these values."""
    members = zip(problem.members, problem.owners, strict=True)
    return frozenset(owner for member, owner in members if all(values[each] for each in member))


def combinations(problem: PlanningProblem) -> Iterator[tuple[tuple[bool, ...], float]]:
    """Every combination of values with its probability, if predicates are independent."""
    _check(problem)
    for values in product((False, True), repeat=len(problem.selectivities)):
        chance = 1.0
        for value, selectivity in zip(values, problem.selectivities, strict=True):
            chance *= selectivity if value else 1.0 - selectivity
        yield values, chance


def cost_of(plan: MatchingPlan) -> float:
    """The expected cost of a plan."""
    return sum(
        chance * execute(plan, values.__getitem__).cost for values, chance in combinations(plan.problem)
    )


def best_cost(problem: PlanningProblem) -> float:
    """The least expected cost over all adaptive strategies: what is evaluated next may depend on all that is known."""
    _check(problem)

    @cache
    def best(known: tuple[bool | None, ...]) -> float:
        if _is_answered(problem, known):
            return 0.0
        found = []
        for each, value in enumerate(known):
            if value is None:
                p = problem.selectivities[each]
                after = [best((*known[:each], value, *known[each + 1 :])) for value in (True, False)]
                found.append(problem.costs[each] + p * after[0] + (1.0 - p) * after[1])
        return min(found)

    return best((None,) * len(problem.selectivities))


def _is_answered(problem: PlanningProblem, known: tuple[bool | None, ...]) -> bool:
    """Whether every owner has a true member or only false ones."""
    open_owners, satisfied_owners = set(), set()
    for member, owner in zip(problem.members, problem.owners, strict=True):
        values = [known[each] for each in member]
        if all(values):
            satisfied_owners.add(owner)
        elif False not in values:
            open_owners.add(owner)
    return open_owners <= satisfied_owners


def _check(problem: PlanningProblem) -> None:
    if len(problem.selectivities) > _MOST_PREDICATES:
        raise ParameterError(f"at most {_MOST_PREDICATES} predicates", str(len(problem.selectivities)))
