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
from thatch.tiering.access import wider_keys
from thatch.tiering.problem import ClusterRecord

__all__ = ["CLUSTER_BYTES", "LARGEST", "Cluster", "Clusters", "predicates_of"]

LARGEST = 1_000  # members; a further one begins another cluster under the same key
CLUSTER_BYTES = 480  # an object, its entries in two dicts and a list, and its key, without predicates


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

    def take_in(self, other: Cluster) -> None:
        """Count what is known of a cluster, which is cold as this one is, as known of this one."""
        self._nodes += other._nodes
        self._total += other._total

    def record(self, *, is_cold: bool) -> ClusterRecord:
        """What should be remembered of it."""
        return ClusterRecord(self.number, self.key, is_cold, self.nodes, self.predicates, self.members)

    def nbytes(self) -> int:
        """Bytes that it takes."""
        return CLUSTER_BYTES + sys.getsizeof(self._predicates)


class Clusters:
    """All clusters that have members, by number; for each key and tier the newest one takes new members."""

    def __init__(self) -> None:
        self._by_number: dict[int, Cluster] = {}
        self._of: tuple[dict[str, list[Cluster]], dict[str, list[Cluster]]] = ({}, {})  # in memory, and cold
        self._next = 0
        self.members = 0
        self.cold = 0  # clusters

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[Cluster]:
        return iter(self._by_number.values())

    def __getitem__(self, number: int) -> Cluster:
        return self._by_number[number]

    def __contains__(self, number: object) -> bool:
        return number in self._by_number

    def home(self, key: str) -> Cluster:
        """The cluster that a new member with this key belongs to; a new one if there is none, or it is full.

        As long as a cluster of this key, or what others like it were folded into, is cold, so is the home of new
        members: what floods in flows past memory.
        """
        cold = self._cold_key(key)
        return self.newest(key, is_cold=False) if cold is None else self.newest(cold, is_cold=True)

    def is_cold(self, key: str) -> bool:
        """Whether the home of a new member with this key is cold."""
        return self._cold_key(key) is not None

    def newest(self, key: str, *, is_cold: bool, more: int = 1) -> Cluster:
        """The cluster of a key and tier that has room for so many members more; a new one if there is none."""
        some = self._of[is_cold].get(key)
        if some is None or some[-1].members + more > LARGEST:
            newest = Cluster(self._next, key, is_cold=is_cold)
            self.keep(newest)
            return newest
        return some[-1]

    def keep(self, cluster: Cluster) -> None:
        """Take in a cluster that is new, or remembered; one without members only its number."""
        self._next = max(self._next, cluster.number + 1)
        if cluster.members or cluster.is_new:
            self.members += cluster.members
            self._by_number[cluster.number] = cluster
            self._list(cluster)

    def forget(self, cluster: Cluster) -> None:
        """Let go of a cluster and its members."""
        self.members -= cluster.members
        del self._by_number[cluster.number]
        self._unlist(cluster)

    def go(self, cluster: Cluster, *, is_cold: bool) -> None:
        """Change the tier of a cluster."""
        self._unlist(cluster)
        cluster.go(is_cold=is_cold)
        self._list(cluster)

    def count(self, cluster: Cluster, change: int) -> None:
        """A cluster has so many members more; one that has none left is forgotten."""
        cluster.members += change
        self.members += change
        if change < 0 and not cluster.members:
            self.forget(cluster)

    def fold(self, cluster: Cluster) -> Cluster:
        """Let a small cold cluster become part of a wider one; that one."""
        into = self.newest(wider_keys(cluster.key)[0], is_cold=True, more=cluster.members)
        self.forget(cluster)
        self.count(into, cluster.members)
        into.take_in(cluster)
        return into

    def smallest(self, most: int, *, depth: int) -> list[Cluster]:
        """Cold clusters that are small enough to be folded, with so many wider keys each; the smallest, so many at most."""
        small = [
            each
            for each in self
            if each.is_cold and each.members < LARGEST // 2 and len(wider_keys(each.key)) == depth
        ]
        return sorted(small, key=lambda each: (each.members, each.number))[:most]

    def _cold_key(self, key: str) -> str | None:
        """The key of the cold cluster that takes new members of a key; None if one in memory does."""
        keys = [key] if key in self._of[False] else [key, *wider_keys(key)]
        return next((each for each in keys if each in self._of[True]), None)

    def _list(self, cluster: Cluster) -> None:
        self._of[cluster.is_cold].setdefault(cluster.key, []).append(cluster)
        self.cold += cluster.is_cold

    def _unlist(self, cluster: Cluster) -> None:
        some = self._of[cluster.is_cold][cluster.key]
        some.remove(cluster)
        if not some:
            del self._of[cluster.is_cold][cluster.key]
        self.cold -= cluster.is_cold

    def by_priority(self, *, is_cold: bool) -> list[Cluster]:
        """Clusters of one tier that have members, the lowest priority first."""
        some = [each for each in self if each.is_cold == is_cold and each.members]
        return sorted(some, key=lambda each: (-each.weighted, each.number))

    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(each.nbytes() for each in self)
