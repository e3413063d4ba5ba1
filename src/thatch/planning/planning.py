"""The plan of a set: the exact algorithm where there is one that can be afforded, else a heuristic; it says which."""

from __future__ import annotations

from dataclasses import replace

from thatch.errors import ParameterError, shown
from thatch.planning.depth_first import depth_first
from thatch.planning.dynamic_programme import best_strategy, gates_of, state_count
from thatch.planning.expected import expected_cost
from thatch.planning.factoring import factored, greedy
from thatch.planning.plans import Plan
from thatch.planning.problem import Problem
from thatch.planning.steps import arrival_order
from thatch.planning.topology import topology_of

__all__ = ["BUDGET", "plan", "unplanned"]

BUDGET = 500_000  # states of the dynamic programme: less than a second, and about 100 MB
_DEPTH_FIRST = ("conjunction", "link-group", "separate")
_BY_STATES = ("link-cluster", "multicluster-link")


def plan(problem: Problem, *, budget: int = BUDGET) -> Plan:
    """The cheapest plan that can be found.

    Where predicates imply weaker ones, these may be tested first for all members that imply them, if that is cheaper.

    Parameters
    ----------
    budget : most states of the dynamic programme; sets that need more get the factored heuristic

    Raises
    ------
    ParameterError
        If the budget is negative.

    Examples
    --------
    >>> found = plan(Problem.of([[0, 1], [2]], [0.9, 0.1, 0.5], answer="any"))
    >>> found.topology, found.algorithm, found.is_optimal, round(found.cost, 2)
    ('link-group', 'depth-first', True, 1.55)

    Notes
    -----
    A conjunction, a link-group and separate members are planned depth first, which is optimal; link-clusters and
    multicluster-links by the dynamic programme; clusters whose answer is a list, and clusters that overlap, by the factored
    heuristic: what is shared first. Their optimal plans are an open problem (paper C, section 3).
    """
    if not isinstance(budget, int) or budget < 0:
        raise ParameterError("a number of states from 0 on", shown(budget), "budget")
    found = _by_topology(problem, budget)
    if found.topology == "entangled" or not any(problem.implied):
        return found
    steps = depth_first(problem, greedy(problem))
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


def _by_topology(problem: Problem, budget: int) -> Plan:
    topology = topology_of(problem)
    steps = depth_first(problem, factored(problem))
    draft = Plan(
        problem=problem,
        topology=topology,
        algorithm="factored heuristic",
        is_optimal=False,
        steps=steps,
        cost=expected_cost(problem, steps),
    )
    # A member without predicates answers a link by itself: nothing is left to be evaluated.
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


def unplanned(problem: Problem) -> Plan:
    """Members and their predicates as they came, as a yardstick."""
    steps = arrival_order(problem)
    return Plan(
        problem=problem,
        topology=topology_of(problem),
        algorithm="arrival order",
        is_optimal=False,
        steps=steps,
        cost=expected_cost(problem, steps),
    )
