"""Groups of subscribers: a candidate set is the leaves that meet a latency limit, a type an interest with such a set.

Candidate sets depend on locations and limits only, and many subscribers share a location. A million subscribers have some
hundred candidate sets and far fewer types than subscribers, so algorithms work with types.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thatch.placement.arrays import Bools, Floats, Ints, distinct_rows
from thatch.placement.executor import Executor, run_here, spans

__all__ = ["LATENCY_SLACK", "CandidateSets", "LeafDistances", "SubscriberTypes"]

# Path lengths are sums of square roots: a limit that is met up to rounding is met. Everything that compares lengths, the
# certificate included, allows this share of the limit.
LATENCY_SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class LeafDistances:
    """Where leaves are, and the length of the path to each of them; 0 if only the last hop counts."""

    leaves: Floats
    offsets: Floats

    def __call__(self, points: Floats) -> Floats:
        """The length of the path to each point through each leaf: a row a point, a column a leaf."""
        squares = np.zeros((len(points), len(self.leaves)))
        for axis in range(points.shape[1]):
            squares += (points[:, axis, None] - self.leaves[None, :, axis]) ** 2
        lengths = np.sqrt(squares, out=squares)
        lengths += self.offsets
        return lengths


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CandidateSets:
    """The distinct candidate sets, and which of them each subscriber has.

    Parameters
    ----------
    matrix : a row a set, a column a leaf: whether the leaf is a candidate
    of : the set of each subscriber
    """

    matrix: Bools
    of: Ints

    @classmethod
    def find(
        cls, distances: LeafDistances, points: Floats, limits: Floats, executor: Executor = run_here
    ) -> CandidateSets:
        """The sets of subscribers at these points, with these limits."""
        first, location_of = distinct_rows(np.column_stack([points, limits]))
        shared = distances, points[first], limits[first]
        bits = np.concatenate(executor(shared, _candidate_bits, spans(len(first), len(distances.leaves))))
        first, number = distinct_rows(bits)
        matrix = np.unpackbits(bits[first], axis=1, count=len(distances.leaves)).astype(np.bool_)
        return cls(matrix=matrix, of=number[location_of])

    @property
    def sizes(self) -> Ints:
        """How many subscribers have each set."""
        return np.bincount(self.of, minlength=len(self.matrix))

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
class SubscriberTypes:
    """The distinct types of subscribers.

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

    @classmethod
    def find(cls, interest_of: Ints, sets: CandidateSets) -> SubscriberTypes:
        """The types of subscribers with these interests and candidate sets."""
        first, number = distinct_rows(np.column_stack([interest_of, sets.of]))
        return cls(
            interest=interest_of[first],
            candidates=sets.of[first],
            count=np.bincount(number, minlength=len(first)),
            of=number,
            sets=sets,
        )

    def __len__(self) -> int:
        return len(self.count)

    def select(self, members: Ints, is_leaf: Bools) -> SubscriberTypes:
        """The types of some subscribers, with candidates among some leaves only."""
        chosen, number = np.unique(self.of[members], return_inverse=True)
        return SubscriberTypes(
            interest=self.interest[chosen],
            candidates=self.candidates[chosen],
            count=np.bincount(number, minlength=len(chosen)),
            of=number,
            sets=CandidateSets(matrix=self.sets.matrix & is_leaf, of=self.sets.of[members]),
        )


def _candidate_bits(
    shared: tuple[LeafDistances, Floats, Floats], span: tuple[int, int]
) -> npt.NDArray[np.uint8]:
    """A row a point, a bit a leaf: whether it meets the limit."""
    distances, points, limits = shared
    lengths = distances(points[slice(*span)])
    return np.packbits(lengths <= limits[slice(*span), None] * (1 + LATENCY_SLACK), axis=1)
