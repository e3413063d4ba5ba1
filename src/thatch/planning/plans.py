"""A plan: how a set is matched, and what that is expected to cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from thatch.planning.dynamic_programme import Strategy
from thatch.planning.problem import Problem
from thatch.planning.steps import Step
from thatch.planning.topology import Topology

__all__ = ["Algorithm", "Plan"]

Algorithm = Literal["arrival order", "depth-first", "dynamic programme", "factored heuristic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A matching plan.

    Parameters
    ----------
    problem : what was planned
    topology : of the set
    algorithm : that made the plan
    is_optimal : whether no plan is cheaper in the mean, if predicates are independent
    steps : the plan; with a strategy, the best that goes depth first
    strategy : what to evaluate in each state, for plans that the dynamic programme made
    states : how many the dynamic programme has, or would have, where it applies
    cost : expected, if predicates are independent
    """

    problem: Problem
    topology: Topology
    algorithm: Algorithm
    is_optimal: bool
    steps: Step
    strategy: Strategy | None = None
    states: int | None = None
    cost: float
