"""SLP1: subscriber assignment by linear programming (paper 003, section 4), on leaves; filters above follow bottom-up.

Deviations, all in the step of `split.py`; `literal.py` does without them: the sample grows by what was missed instead of
being drawn anew, the load is sampled by candidate set instead of uniformly, at most α boxes are drawn for a leaf, and
filters grow along the cut until loads are met (spec 2, B3).
"""

from __future__ import annotations

import numpy as np

from thatch.placement.each import Each, here
from thatch.placement.filters import filters_of
from thatch.placement.problem import Problem
from thatch.placement.slp.branches import Branches
from thatch.placement.slp.outcome import Outcome, load_target
from thatch.placement.slp.part import Part
from thatch.placement.slp.split import CLUSTERS, split
from thatch.placement.types import types_of

__all__ = ["SAMPLED", "slp1"]

SAMPLED = 10  # subscribers a leaf, for the load


def slp1(
    problem: Problem,
    rng: np.random.Generator,
    *,
    sampled: int = SAMPLED,
    clusters: int = CLUSTERS,
    each: Each = here,
) -> Outcome:
    """Assign subscribers by sampling, linear programming and flow.

    Parameters
    ----------
    sampled, clusters : subscribers drawn for the load, and super-interests, a leaf
    each : who draws samples

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    types = types_of(problem)
    branches = Branches.leaves(problem)
    capacities = problem.capacities(load_target(problem, types.sets))
    part = Part.of(problem, types, branches, capacities)
    found = split(part, rng, sampled=sampled * len(branches), clusters=clusters, each=each)
    prior = [problem.interests.boxes[:0]] * len(problem.tree.parents)
    for leaf, boxes in zip(problem.tree.leaves.tolist(), found.filters, strict=True):
        prior[leaf] = boxes
    return Outcome(found.served_by, filters_of(problem, found.served_by, prior), found.fractional)
