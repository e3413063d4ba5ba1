"""Subscribers grouped: a candidate set is the leaves that meet a latency limit, a type an interest with such a set.

Candidate sets depend on locations only, and many subscribers share a location, so a million of them are some hundred
candidate sets and far fewer types than subscribers: the unit that algorithms work with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.problem import LATENCY_SLACK, Problem
from thatch.placement.rows import Bools, Ints, distinct_rows

__all__ = ["CandidateSets", "Types", "candidate_sets", "types_of"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CandidateSets:
    """The distinct candidate sets, and which each subscriber has.

    Parameters
    ----------
    matrix : a row a set, a column a leaf: whether the leaf is a candidate
    of : the set of each subscriber
    """

    matrix: Bools
    of: Ints

    def lists(self) -> tuple[Ints, Ints]:
        """The same as lists: set k has the leaves `leaf[start[k]:start[k + 1]]`, numbered as in `tree.leaves`."""
        start = np.concatenate([[0], np.cumsum(self.matrix.sum(axis=1))]).astype(np.int64)
        return start, np.nonzero(self.matrix)[1].astype(np.int64)

    def without_latency(self) -> CandidateSets:
        """One set of all leaves for everybody."""
        return CandidateSets(
            matrix=np.ones((1, self.matrix.shape[1]), np.bool_), of=np.zeros(len(self.of), np.int64)
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Types:
    """The distinct types.

    Parameters
    ----------
    interest, candidates : the interest and the candidate set of each type
    count : how many subscribers are of it
    of : the type of each subscriber
    sets : the candidate sets
    """

    interest: Ints
    candidates: Ints
    count: Ints
    of: Ints
    sets: CandidateSets

    def __len__(self) -> int:
        return len(self.count)


def candidate_sets(problem: Problem) -> CandidateSets:
    """The leaves that each subscriber may be assigned to without breaking its latency limit; never none."""
    places, place_of = distinct_rows(np.column_stack([problem.locations, problem.limits]))
    packed = []
    leaves = problem.tree.locations[problem.tree.leaves]
    offsets = problem.tree.distances[problem.tree.leaves] if problem.latency == "path" else 0.0
    step = max(1, (1 << 22) // len(leaves))
    for at in range(0, len(places), step):
        chosen = places[at : at + step]
        squares = np.zeros((len(chosen), len(leaves)))
        for axis in range(leaves.shape[1]):
            squares += (problem.locations[chosen, axis, None] - leaves[None, :, axis]) ** 2
        ways = np.sqrt(squares) + offsets
        packed.append(np.packbits(ways <= problem.limits[chosen, None] * (1 + LATENCY_SLACK), axis=1))
    bits = np.concatenate(packed)
    first, number = distinct_rows(bits)
    matrix = np.unpackbits(bits[first], axis=1, count=len(leaves)).astype(np.bool_)
    return CandidateSets(matrix=matrix, of=number[place_of])


def types_of(problem: Problem, sets: CandidateSets | None = None) -> Types:
    """Group the subscribers of a problem, by default with its own candidate sets."""
    sets = candidate_sets(problem) if sets is None else sets
    first, number = distinct_rows(np.column_stack([problem.interest_of, sets.of]))
    return Types(
        interest=problem.interest_of[first],
        candidates=sets.of[first],
        count=np.bincount(number, minlength=len(first)),
        of=number,
        sets=sets,
    )
