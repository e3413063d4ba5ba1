"""Filters fitted anew around a given assignment, broker by broker: each leaf by itself, then inner brokers from below."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thatch.placement.each import Each, here
from thatch.placement.filters import fitted
from thatch.placement.interests import Interests
from thatch.placement.placement import Placement, measured
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.volumes import union_volume

__all__ = ["refitted"]


@dataclass(frozen=True, slots=True, eq=False)
class _Ground:
    """For each leaf the distinct interests that it serves, how many have each, the most boxes, and the filter it has."""

    all_interests: Interests
    interests: tuple[Ints, ...]
    counts: tuple[Ints, ...]
    most: Ints
    filters: tuple[Floats, ...]


def refitted(placement: Placement, each: Each = here) -> Placement:
    """The same assignment with filters of less bandwidth, where the fit of A3.5 finds some; else the same placement."""
    problem = placement.problem
    tree = problem.tree
    number = np.searchsorted(tree.leaves, placement.assignment)
    ground = _ground(problem, number, placement.filters)
    filters = list(placement.filters)
    found = each(ground, _leaf, list(range(len(tree.leaves))))
    for leaf, boxes in zip(tree.leaves.tolist(), found, strict=True):
        filters[leaf] = boxes
    for node in tree.order[::-1].tolist():
        children = tree.children(node)
        if node != tree.root and len(children):
            below = np.concatenate([filters[child] for child in children.tolist()])
            prior = placement.filters[node]
            filters[node] = fitted(below, np.ones(len(below)), int(problem.complexities[node]), prior)
    if sum(map(union_volume, filters)) >= placement.bandwidth:
        return placement
    better = measured(
        problem,
        number,
        tuple(filters),
        algorithm=placement.algorithm,
        seed=placement.seed,
        bounds=placement.bounds,
    )
    return replace(better, seconds=placement.seconds)


def _ground(problem: Problem, number: Ints, filters: tuple[Floats, ...]) -> _Ground:
    count, leaves = len(problem.interests), problem.tree.leaves
    pairs, counts = np.unique(number * count + problem.interest_of, return_counts=True)
    ends = np.searchsorted(pairs, np.arange(len(leaves) + 1) * count)
    parts = [slice(ends[leaf], ends[leaf + 1]) for leaf in range(len(leaves))]
    return _Ground(
        problem.interests,
        tuple(pairs[part] % count for part in parts),
        tuple(counts[part] for part in parts),
        problem.complexities[leaves],
        tuple(filters[leaf] for leaf in leaves.tolist()),
    )


def _leaf(ground: _Ground, leaf: int) -> Floats:
    """The better of what a leaf has and what is fitted."""
    rows, owner = ground.all_interests.rows_of(ground.interests[leaf])
    weights = ground.counts[leaf][owner].astype(np.float64)
    had = ground.filters[leaf]
    found = fitted(ground.all_interests.boxes[rows], weights, int(ground.most[leaf]), had)
    return found if union_volume(found) < union_volume(had) else had
