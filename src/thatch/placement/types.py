"""Subscribers grouped: a candidate set is the leaves that meet a latency limit, a type an interest with such a set.

Candidate sets depend on locations only, and many subscribers share a location, so a million of them are some hundred
candidate sets and far fewer types than subscribers: the unit that algorithms work with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.candidates import with_candidates
from thatch.placement.problem import Problem
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
    if problem.candidates is None or not problem.candidates.are_of(problem):
        problem = with_candidates(problem)
    known = problem.candidates
    assert known is not None
    matrix = np.unpackbits(known.bits, axis=1, count=len(problem.tree.leaves)).astype(np.bool_)
    return CandidateSets(matrix=matrix, of=known.of)


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
