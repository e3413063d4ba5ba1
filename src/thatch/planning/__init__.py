"""Matching plans: in which order to evaluate the predicates of many filters, and what that costs (commonality)."""

from __future__ import annotations

from thatch.planning.commonalities import Commonality, SetTopology, commonalities, topology_of
from thatch.planning.executing import BatchExecution, Execution, PredicateSample, count, execute
from thatch.planning.expected import expected_cost, paired_chances
from thatch.planning.filter_set import FilterSet
from thatch.planning.hints import access_hints, attribute_order
from thatch.planning.plans import BUDGET, MatchingPlan, plan, plan_as_given
from thatch.planning.problem import PlanningProblem

__all__ = [
    "BUDGET",
    "BatchExecution",
    "Commonality",
    "Execution",
    "FilterSet",
    "MatchingPlan",
    "PlanningProblem",
    "PredicateSample",
    "SetTopology",
    "access_hints",
    "attribute_order",
    "commonalities",
    "count",
    "execute",
    "expected_cost",
    "paired_chances",
    "plan",
    "plan_as_given",
    "topology_of",
]
