"""Candidate sets found beforehand, by parts: for each distinct location and limit the leaves that meet it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from thatch.placement.each import Each, here, spans
from thatch.placement.problem import LATENCY_SLACK, KnownCandidates, Problem
from thatch.placement.rows import Floats, distinct_rows

__all__ = ["candidate_bits", "with_candidates"]

Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class _Ground:
    """Distinct places with their limits, the leaves, and the length of the way to each leaf."""

    points: Floats
    limits: Floats
    leaves: Floats
    offsets: Floats


def candidate_bits(problem: Problem, each: Each = here) -> tuple[Bits, npt.NDArray[np.int64]]:
    """For each distinct place a bit for each leaf, whether it is a candidate; and the place of each subscriber."""
    first, place_of = distinct_rows(np.column_stack([problem.locations, problem.limits]))
    tree = problem.tree
    offsets = tree.distances[tree.leaves] if problem.latency == "path" else np.zeros(len(tree.leaves))
    ground = _Ground(problem.locations[first], problem.limits[first], tree.locations[tree.leaves], offsets)
    return np.concatenate(each(ground, _bits, spans(len(first), len(tree.leaves)))), place_of


def _bits(ground: _Ground, span: tuple[int, int]) -> Bits:
    points, limits = (each[slice(*span)] for each in (ground.points, ground.limits))
    squares = np.zeros((len(points), len(ground.leaves)))
    for axis in range(points.shape[1]):
        squares += (points[:, axis, None] - ground.leaves[None, :, axis]) ** 2
    ways = np.sqrt(squares) + ground.offsets
    return np.packbits(ways <= limits[:, None] * (1 + LATENCY_SLACK), axis=1)


def with_candidates(problem: Problem, each: Each = here) -> Problem:
    """The same problem, whose candidate sets are known; algorithms need not find them again."""
    bits, place_of = candidate_bits(problem, each)
    first, number = distinct_rows(bits)
    known = KnownCandidates(
        tree=problem.tree,
        locations=problem.locations,
        limits=problem.limits,
        bits=bits[first],
        of=number[place_of],
    )
    return replace(problem, candidates=known)
