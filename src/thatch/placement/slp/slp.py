"""SLP: subscriber assignment on trees of several levels, from the top down (paper 003, section 4.4).

At each inner broker its subscribers are split among its children as SLP1 splits them among leaves, and so on below; then
filters are tightened from the bottom up. Two things the paper leaves open (spec 2, A4): a child is a candidate if some leaf
below it is, by exact lengths of paths; and loads are those of leaves on every level. The flow that ends a split sends each
subscriber to a leaf, so what is left to the children can be done, with the very same capacities.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.each import Each, here
from thatch.placement.filters import filters_of
from thatch.placement.problem import Problem
from thatch.placement.slp.branches import Branches
from thatch.placement.slp.outcome import Outcome, load_target
from thatch.placement.slp.part import Part
from thatch.placement.slp.slp1 import SAMPLED
from thatch.placement.slp.split import CLUSTERS, split
from thatch.placement.types import types_of

__all__ = ["slp"]

_SAMPLED = 20  # subscribers a child, for the load


def slp(
    problem: Problem,
    rng: np.random.Generator,
    *,
    sampled: int | None = None,
    clusters: int = CLUSTERS,
    each: Each = here,
) -> Outcome:
    """Assign subscribers level by level; on one level this is SLP1.

    There is a value of the linear program on one level only: those of several splits do not add up to anything.

    Parameters
    ----------
    sampled : subscribers drawn for the load a child; 10 on one level and 20 on several if not given
    clusters : super-interests a child
    each : who draws samples

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    tree = problem.tree
    types = types_of(problem)
    capacities = problem.capacities(load_target(problem, types.sets))
    prior = [problem.interests.boxes[:0]] * len(tree.parents)
    served_by = np.zeros(problem.subscribers, np.int64)
    members = {tree.root: np.arange(problem.subscribers)}
    value = None
    per_child = sampled or (SAMPLED if tree.is_one_level else _SAMPLED)
    for node in tree.order.tolist():
        mine = members.pop(node, None)
        if mine is None or node in tree.leaves:
            continue
        branches = Branches.below(problem, node)
        part = Part.of(problem, types, branches, capacities, mine)
        found = split(part, rng, sampled=per_child * len(branches), clusters=clusters, each=each)
        if node == tree.root and tree.is_one_level:
            value = found.fractional
        served_by[mine] = found.served_by
        branch = branches.of_leaf[found.served_by]
        for number, child in enumerate(branches.nodes.tolist()):
            prior[child] = found.filters[number]
            if (branch == number).any():
                members[child] = mine[branch == number]
    return Outcome(served_by, filters_of(problem, served_by, prior), value)
