"""In which order predicates are evaluated, and what that costs: matching plans from commonalities (paper C)."""

from __future__ import annotations

from thatch.planning.commonalities import Commonality, commonalities
from thatch.planning.counting import Count, PredicateSample, count
from thatch.planning.executing import Execution, execute
from thatch.planning.expected import expected_cost, paired_chances
from thatch.planning.filter_set import FilterSet
from thatch.planning.hints import access_hints, attribute_order
from thatch.planning.planning import BUDGET, plan, unplanned
from thatch.planning.plans import Plan
from thatch.planning.problem import Problem
from thatch.planning.topology import Topology, topology_of

__all__ = [
    "BUDGET",
    "Commonality",
    "Count",
    "Execution",
    "FilterSet",
    "Plan",
    "PredicateSample",
    "Problem",
    "Topology",
    "access_hints",
    "attribute_order",
    "commonalities",
    "count",
    "execute",
    "expected_cost",
    "paired_chances",
    "plan",
    "topology_of",
    "unplanned",
]
