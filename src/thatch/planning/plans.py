"""Plans of a set: made by an exact algorithm where one applies and is affordable, otherwise by a heuristic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from thatch.errors import ParameterError, shown
from thatch.planning.commonalities import SetTopology, topology_of
from thatch.planning.depth_first import depth_first
from thatch.planning.dynamic_programme import Strategy, best_strategy, gates_of, state_count
from thatch.planning.expected import expected_cost
from thatch.planning.factoring import factor, factor_greedily
from thatch.planning.problem import PlanningProblem
from thatch.planning.steps import PlanStep

__all__ = ["BUDGET", "Algorithm", "MatchingPlan", "plan", "plan_as_given"]

Algorithm = Literal["arrival order", "depth-first", "dynamic programme", "factored heuristic"]
BUDGET = 500_000  # states of the dynamic programme: under a second and about 100 MB
_DEPTH_FIRST = ("conjunction", "link-group", "separate")
_BY_STATES = ("link-cluster", "multicluster-link")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingPlan:
    """A matching plan and its expected cost.

    Parameters
    ----------
    problem : the set that was planned
    topology : its topology
    algorithm : the algorithm that made the plan
    is_optimal : whether no plan has a lower expected cost, if predicates are independent
    steps : the plan; if there is a strategy, the best depth-first plan
    strategy : what to evaluate in each state, for plans of the dynamic programme
    states : how many states the dynamic programme has, or would have, where it applies
    cost : the expected cost, if predicates are independent
    """

    problem: PlanningProblem
    topology: SetTopology
    algorithm: Algorithm
    is_optimal: bool
    steps: PlanStep
    strategy: Strategy | None = None
    states: int | None = None
    cost: float


def plan(problem: PlanningProblem, *, budget: int = BUDGET) -> MatchingPlan:
    """The cheapest plan that can be found.

    Weaker predicates may be tested first for all members that imply them, if that is cheaper.

    Parameters
    ----------
    budget : most states of the dynamic programme; larger sets get the factored heuristic

    Raises
    ------
    ParameterError
        If the budget is negative.

    Examples
    --------
    >>> found = plan(PlanningProblem.of([[0, 1], [2]], [0.9, 0.1, 0.5], answer="any"))
    >>> found.topology, found.algorithm, found.is_optimal, round(found.cost, 2)
    ('link-group', 'depth-first', True, 1.55)

    Notes
    -----
    A conjunction, a link-group and separate members are planned depth first, which is optimal; link-clusters and
    multicluster-links by the dynamic programme; clusters whose answer is a list, and clusters that overlap, by the factor
    heuristic: shared predicates first. Their optimal plans are an open problem (commonality, section 3).
    """
    if not isinstance(budget, int) or budget < 0:
        raise ParameterError("a number of states from 0 on", shown(budget), "budget")
    found = _by_topology(problem, budget)
    if found.topology == "entangled" or not any(problem.implied):
        return found
    steps = depth_first(problem, factor_greedily(problem))
    cost = expected_cost(problem, steps)
    if cost >= found.cost:
        return found
    return replace(
        found,
        algorithm="factored heuristic",
        is_optimal=False,
        steps=steps,
        strategy=None,
        states=None,
        cost=cost,
    )


def _by_topology(problem: PlanningProblem, budget: int) -> MatchingPlan:
    topology = topology_of(problem)
    steps = depth_first(problem, factor(problem))
    draft = MatchingPlan(
        problem=problem,
        topology=topology,
        algorithm="factored heuristic",
        is_optimal=False,
        steps=steps,
        cost=expected_cost(problem, steps),
    )
    # A member without predicates answers for its link: nothing needs to be evaluated.
    if topology in _DEPTH_FIRST or not draft.cost:
        return replace(draft, algorithm="depth-first", is_optimal=True)
    if topology not in _BY_STATES:
        return draft
    gates = gates_of(problem, steps)
    states = state_count(gates)
    if states > budget:
        return replace(draft, states=states)
    strategy = best_strategy(problem, gates)
    return replace(
        draft,
        algorithm="dynamic programme",
        is_optimal=True,
        strategy=strategy,
        states=states,
        cost=strategy.cost,
    )


def plan_as_given(problem: PlanningProblem) -> MatchingPlan:
    """The plan that evaluates members and their predicates in the order given, for comparison."""
    steps = PlanStep(
        (),
        below=tuple(
            PlanStep(member, (number,), owners=(owner,) if owner in problem.repeated else ())
            for number, (member, owner) in enumerate(zip(problem.members, problem.owners, strict=True))
        ),
    )
    return MatchingPlan(
        problem=problem,
        topology=topology_of(problem),
        algorithm="arrival order",
        is_optimal=False,
        steps=steps,
        cost=expected_cost(problem, steps),
    )
