"""Clusters of subscriptions, and how much their members share (paper C, section 5.2).

For each cluster in memory every predicate of every member is kept as a number, its hash, so that unique ones can be counted;
two different predicates with one hash of 61 bits would count as one. Nothing is known of the members themselves: the
cold tier remembers those.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from thatch.model.filters import Filter
from thatch.tiering.problem import ClusterRecord

__all__ = ["LARGEST", "Cluster", "Clusters", "predicates_of"]

LARGEST = 1_000  # members; a further one begins another cluster under the same key
_CLUSTER_BYTES = 400  # an object, its entries in two dicts, and its key, without predicates


def predicates_of(filter: Filter) -> list[int]:
    """A number for each predicate of a filter, equal for equal ones."""
    return [
        hash(predicate)
        for conjunction in filter.conjunctions
        for predicate in (*conjunction.constraints, *conjunction.residuals)
    ]


class Cluster:
    """Subscriptions with something in common.

    Parameters
    ----------
    number, key : what it is, and what the members have in common
    is_cold : the cold tier answers for it, and new members go there

    `is_new` until the cold tier knows it.
    """

    __slots__ = ("_nodes", "_predicates", "_total", "is_cold", "is_new", "key", "members", "number")

    def __init__(self, number: int, key: str, *, is_cold: bool = False) -> None:
        self.number, self.key, self.is_cold = number, key, is_cold
        self.is_new = True
        self.members = 0
        self._predicates = array("q")
        self._nodes, self._total = 0, 0  # as last counted; of a cold cluster all that is known

    @staticmethod
    def of(record: ClusterRecord) -> Cluster:
        """A cluster that is remembered; its predicates, if it is not cold, have yet to be told."""
        cluster = Cluster(record.number, record.key, is_cold=record.is_cold)
        cluster.members, cluster.is_new = record.members, False
        cluster._nodes, cluster._total = record.nodes, record.predicates
        return cluster

    @property
    def predicates(self) -> int:
        """How many predicates the members have, each counted as often as it comes."""
        return self._total if self.is_cold else len(self._predicates)

    @property
    def nodes(self) -> int:
        """How many unique predicates the members have."""
        if not self.is_cold and (self._total != len(self._predicates) or not self._nodes):
            self._nodes, self._total = len(np.unique(np.array(self._predicates))), len(self._predicates)
        return self._nodes

    @property
    def ratio(self) -> float:
        """The commonality ratio: unique predicates ÷ all; 1 = nothing is shared, small = much is."""
        return self.nodes / self.predicates if self.predicates else 1.0

    @property
    def weighted(self) -> float:
        """Node count × ratio. The larger it is, the lower is the priority of the cluster."""
        return self.nodes * self.ratio

    def learn(self, predicates: Sequence[int]) -> None:
        """Count the predicates of a new member. In a cold cluster nobody knows which are new: all count as such."""
        if self.is_cold:
            self._nodes += len(predicates)
            self._total += len(predicates)
            return
        self._predicates.extend(predicates)
        self._nodes = 0

    def unlearn(self, predicates: Sequence[int]) -> None:
        """Take back the predicates of a member."""
        if self.is_cold:
            shared = round(len(predicates) * self.ratio)
            self._nodes = max(self._nodes - shared, 0)
            self._total = max(self._total - len(predicates), 0)
            return
        for each in predicates:
            try:
                self._predicates.remove(each)
            except ValueError:  # learned by a process that is gone
                continue
        self._nodes = 0

    def go(self, *, is_cold: bool) -> None:
        """Change the tier; of a cluster that goes to the cold one only counts are kept."""
        if is_cold and not self.is_cold:
            self._nodes, self._total = self.nodes, len(self._predicates)
        self._predicates = array("q")
        self.is_cold = is_cold

    def record(self, *, is_cold: bool) -> ClusterRecord:
        """What should be remembered of it."""
        return ClusterRecord(self.number, self.key, is_cold, self.nodes, self.predicates, self.members)

    def nbytes(self) -> int:
        """Bytes that it takes."""
        return _CLUSTER_BYTES + sys.getsizeof(self._predicates)


class Clusters:
    """All clusters by number, and for each key the one of each tier that takes new members."""

    def __init__(self) -> None:
        self._by_number: dict[int, Cluster] = {}
        self._open: tuple[dict[str, Cluster], dict[str, Cluster]] = ({}, {})  # in memory, and cold
        self._next = 0
        self.members = 0

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[Cluster]:
        return iter(self._by_number.values())

    def __getitem__(self, number: int) -> Cluster:
        return self._by_number[number]

    def home(self, key: str) -> Cluster:
        """The cluster that a new member with this key belongs to; a new one if there is none, or it is full.

        As long as a cluster of this key is cold, so is the home of new members: what floods in flows past memory.
        """
        is_cold = key in self._open[True]
        newest = self._open[is_cold].get(key)
        if newest is None or newest.members >= LARGEST:
            newest = Cluster(self._next, key, is_cold=is_cold)
            self.keep(newest)
        return newest

    def keep(self, cluster: Cluster) -> None:
        """Take in a cluster that is new, or remembered."""
        self.members += cluster.members
        self._by_number[cluster.number] = cluster
        self._open[cluster.is_cold][cluster.key] = cluster
        self._next = max(self._next, cluster.number + 1)

    def go(self, cluster: Cluster, *, is_cold: bool) -> None:
        """Change the tier of a cluster."""
        cluster.go(is_cold=is_cold)
        self._open[is_cold][cluster.key] = cluster
        if self._open[not is_cold].get(cluster.key) is cluster:
            del self._open[not is_cold][cluster.key]
            for each in self:
                if each.key == cluster.key and each.is_cold is not is_cold:
                    self._open[not is_cold][cluster.key] = each

    def count(self, cluster: Cluster, change: int) -> None:
        """A cluster has so many members more; a cold one that has none left is forgotten as such."""
        cluster.members += change
        self.members += change
        if change < 0 and not cluster.members and cluster.is_cold:
            self.go(cluster, is_cold=False)
            cluster.is_new = True

    def by_priority(self, *, is_cold: bool) -> list[Cluster]:
        """Clusters of one tier that have members, the lowest priority first."""
        some = [each for each in self if each.is_cold == is_cold and each.members]
        return sorted(some, key=lambda each: (-each.weighted, each.number))

    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(each.nbytes() for each in self)
