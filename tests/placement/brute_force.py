"""The definition, by brute force: every assignment to candidates, every partition of interests into boxes.

For a handful of subscribers on a tree of one level.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from thatch.errors import ParameterError
from thatch.placement.arrays import Floats
from thatch.placement.candidates import LATENCY_SLACK
from thatch.placement.certificate import count_volume
from thatch.placement.problem import PlacementProblem

__all__ = ["least_bandwidth", "least_filter"]

_MOST_ASSIGNMENTS = 100_000


def least_bandwidth(problem: PlacementProblem, factor: float) -> float | None:
    """The least bandwidth within latency limits and a load factor; None if no assignment keeps them."""
    if not problem.tree.is_one_level:
        raise ParameterError("a tree of one level", "several levels", "the brute-force reference")
    near = problem.leaf_distances(problem.locations) <= problem.limits[:, None] * (1 + LATENCY_SLACK)
    allowed = [np.flatnonzero(row).tolist() for row in near]
    if np.prod([float(len(each)) for each in allowed]) > _MOST_ASSIGNMENTS:
        raise ParameterError(
            f"at most {_MOST_ASSIGNMENTS:,} assignments", "more", "the brute-force reference"
        )
    capacities = problem.capacities(factor)
    known: dict[tuple[int, frozenset[int]], float] = {}
    best: float | None = None
    for chosen in product(*allowed):
        if (np.bincount(chosen, minlength=len(capacities)) > capacities).any():
            continue
        total = 0.0
        for leaf in set(chosen):
            wanted = frozenset(int(problem.interest_of[j]) for j, other in enumerate(chosen) if other == leaf)
            if (leaf, wanted) not in known:
                boxes = np.concatenate([problem.interests.of(each) for each in sorted(wanted)])
                most = int(problem.complexities[problem.tree.leaves[leaf]])
                known[leaf, wanted] = least_filter(boxes, most)
            total += known[leaf, wanted]
        best = total if best is None else min(best, total)
    return best


def least_filter(boxes: Floats, most: int) -> float:
    """The least volume of a union of at most `most` boxes such that each box given lies inside one of them."""
    d = boxes.shape[1] // 2
    return min(
        count_volume(
            np.array(
                [np.concatenate([boxes[part, :d].min(axis=0), boxes[part, d:].max(axis=0)]) for part in parts]
            )
        )
        for parts in _partitions(list(range(len(boxes))), most)
    )


def _partitions(items: list[int], most: int) -> Iterator[list[list[int]]]:
    """Every way to put items into at most `most` parts."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for parts in _partitions(rest, most):
        for number in range(len(parts)):
            yield [*parts[:number], [first, *parts[number]], *parts[number + 1 :]]
        if len(parts) < most:
            yield [[first], *parts]
