"""Which topology a set has: which commonalities touch which members (paper C, sections 2.2 and 3).

==================  ============  =====================================================
topology            answer        predicates that several members hold
==================  ============  =====================================================
conjunction         –             (a single member)
link-group          yes or no     none
link-cluster        yes or no     held by all members
multicluster-link   yes or no     clusters that are disjoint or nested
separate            a list        none
cluster             a list        held by all members
multi-cluster       a list        clusters that are disjoint or nested
entangled           any           clusters that overlap
==================  ============  =====================================================
"""

from __future__ import annotations

from typing import Literal

from thatch.planning.commonalities import nested_clusters
from thatch.planning.problem import Problem

__all__ = ["Topology", "topology_of"]

Topology = Literal[
    "conjunction",
    "link-group",
    "link-cluster",
    "multicluster-link",
    "separate",
    "cluster",
    "multi-cluster",
    "entangled",
]


def topology_of(problem: Problem) -> Topology:
    """The topology of a set.

    Notes
    -----
    `separate`, `multi-cluster` and `entangled` are our names: the paper has none for sets without commonalities, and for
    several clusters whose answer is a list or which overlap.
    """
    if len(problem.members) == 1:
        return "conjunction"
    is_link = problem.owner_count == 1
    nested = nested_clusters(problem)
    if nested is None:
        return "entangled"
    if not nested:
        return "link-group" if is_link else "separate"
    if len(nested) == 1 and len(nested[0][0].members) == len(problem.members):
        return "link-cluster" if is_link else "cluster"
    return "multicluster-link" if is_link else "multi-cluster"
