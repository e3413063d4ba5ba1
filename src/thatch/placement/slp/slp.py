"""SLP1 and SLP: subscriber assignment by linear programming (yu2012, section 4).

SLP1 splits subscribers among the leaves; on trees of several levels the filters above follow bottom-up. SLP works from the top
down (section 4.4): at each inner broker its subscribers are split among its children as SLP1 splits them among leaves, and so
on below; then filters are tightened from the bottom up.

Deviations in SLP, where the paper leaves things open: a child is a candidate if some leaf below it is, by exact lengths of
paths; and loads are those of leaves on every level. The flow that ends a split assigns each subscriber to a leaf, so the
children can be split further with the very same capacities. Deviations in the split itself are listed in `split.py`;
`tests/experiments/slp1_literal.py` does without them.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.executor import Executor, run_here
from thatch.placement.filters import fit_filters
from thatch.placement.flow import least_factor
from thatch.placement.problem import PlacementProblem
from thatch.placement.slp.branches import Branches, Subproblem
from thatch.placement.slp.split import CLUSTERS, SlpResult, split

__all__ = ["SAMPLED", "slp", "slp1"]

SAMPLED = 10  # subscribers for each leaf, for the load
_SAMPLED_ON_LEVELS = 20  # the same for each child, on several levels
_ABOVE = 1.02  # where β cannot be met: how far above the least load factor


def slp1(
    problem: PlacementProblem,
    rng: np.random.Generator,
    *,
    sampled: int = SAMPLED,
    clusters: int = CLUSTERS,
    executor: Executor = run_here,
) -> SlpResult:
    """Assign subscribers to leaves by sampling, linear programming and flow.

    Parameters
    ----------
    sampled : subscribers drawn for the load, for each leaf
    clusters : super-interests for each leaf
    executor : draws samples

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    branches = Branches.leaves(problem)
    part = Subproblem.of(problem, problem.subscriber_types(), branches, _capacities(problem))
    found = split(part, rng, sampled=sampled * len(branches), clusters=clusters, executor=executor)
    prior = [problem.interests.boxes[:0]] * len(problem.tree.parents)
    for leaf, boxes in zip(problem.tree.leaves.tolist(), found.filters, strict=True):
        prior[leaf] = boxes
    return SlpResult(found.served_by, fit_filters(problem, found.served_by, prior), found.fractional)


def slp(
    problem: PlacementProblem,
    rng: np.random.Generator,
    *,
    sampled: int | None = None,
    clusters: int = CLUSTERS,
    executor: Executor = run_here,
) -> SlpResult:
    """Assign subscribers level by level; on one level this is SLP1.

    The result has a value of the linear program on one level only: those of several splits do not add up.

    Options and errors are those of `slp1`; by default 10 subscribers are sampled for each child on one level, 20 on several.
    """
    tree = problem.tree
    types, capacities = problem.subscriber_types(), _capacities(problem)
    prior: list[Floats] = [problem.interests.boxes[:0]] * len(tree.parents)
    served_by = np.zeros(problem.subscribers, np.int64)
    members = {tree.root: np.arange(problem.subscribers)}
    value = None
    per_child = sampled or (SAMPLED if tree.is_one_level else _SAMPLED_ON_LEVELS)
    for node in tree.order.tolist():
        mine = members.pop(node, None)
        if mine is None or node in tree.leaves:
            continue
        branches = Branches.below(problem, node)
        part = Subproblem.of(problem, types, branches, capacities, mine)
        found = split(part, rng, sampled=per_child * len(branches), clusters=clusters, executor=executor)
        if node == tree.root and tree.is_one_level:
            value = found.fractional
        served_by[mine] = found.served_by
        branch = branches.of_leaf[found.served_by]
        for number, child in enumerate(branches.nodes.tolist()):
            prior[child] = found.filters[number]
            if (branch == number).any():
                members[child] = mine[branch == number]
    return SlpResult(served_by, fit_filters(problem, served_by, prior), value)


def _capacities(problem: PlacementProblem) -> Ints:
    """Capacities at β or, where that cannot be met, a little above the least load factor, at most at β_max if possible."""
    sets = problem.candidate_sets()
    found = least_factor(problem, sets.sizes, sets.matrix, problem.beta)
    factor = problem.beta
    if found is not None and found[0] > problem.beta:
        factor = max(found[0], min(problem.beta_max, _ABOVE * found[0]))
    return problem.capacities(factor)
