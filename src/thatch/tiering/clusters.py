"""Clusters of subscriptions, and how much their members share (commonality, section 5.2).

A cluster in memory keeps the hash of every predicate of every member, to count unique ones; two predicates with the same
hash of 61 bits would count as one. The members themselves are in the cold tier.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from thatch.model.filters import Filter
from thatch.tiering.access import wider_keys
from thatch.tiering.problem import ClusterRecord

__all__ = ["CLUSTER_BYTES", "LARGEST", "Clusters", "TierCluster", "predicates_of"]

LARGEST = 1_000  # members; a further one begins another cluster under the same key
CLUSTER_BYTES = 480  # an object, its key and its entries in two dicts and a list, without predicates


def predicates_of(filter: Filter) -> list[int]:
    """A number for each predicate of a filter, equal for equal ones."""
    return [
        hash(predicate)
        for conjunction in filter.outer_conjunctions
        for predicate in (*conjunction.constraints, *conjunction.residuals)
    ]


class TierCluster:
    """Subscriptions with something in common; `is_new` until the cold tier has stored it.

    Parameters
    ----------
    number, key : which cluster, and what the members have in common
    is_cold : the cold tier answers for it, and new members go there
    """

    __slots__ = ("_nodes", "_predicates", "_total", "is_cold", "is_new", "key", "members", "number")

    def __init__(self, number: int, key: str, *, is_cold: bool = False) -> None:
        self.number, self.key, self.is_cold = number, key, is_cold
        self.is_new = True
        self.members = 0
        self._predicates = array("q")
        self._nodes, self._total = 0, 0  # as last counted; all that is known of a cold cluster

    @staticmethod
    def of(record: ClusterRecord) -> TierCluster:
        """A stored cluster; if it is not cold, its predicates have yet to be added."""
        cluster = TierCluster(record.number, record.key, is_cold=record.is_cold)
        cluster.members, cluster.is_new = record.members, False
        cluster._nodes, cluster._total = record.nodes, record.predicates
        return cluster

    @property
    def predicates(self) -> int:
        """How many predicates the members have, repeated ones included."""
        return self._total if self.is_cold else len(self._predicates)

    @property
    def nodes(self) -> int:
        """How many unique predicates the members have."""
        if not self.is_cold and (self._total != len(self._predicates) or not self._nodes):
            self._nodes, self._total = len(np.unique(np.array(self._predicates))), len(self._predicates)
        return self._nodes

    def learn(self, predicates: Sequence[int]) -> None:
        """Count the predicates of a new member. In a cold cluster all count as new: nobody knows the others."""
        if self.is_cold:
            self._nodes += len(predicates)
            self._total += len(predicates)
            return
        self._predicates.extend(predicates)
        self._nodes = 0

    def unlearn(self, predicates: Sequence[int]) -> None:
        """Stop counting the predicates of a member."""
        if self.is_cold:
            shared = round(len(predicates) * self.record().ratio)
            self._nodes = max(self._nodes - shared, 0)
            self._total = max(self._total - len(predicates), 0)
            return
        for each in predicates:
            try:
                self._predicates.remove(each)
            except ValueError:  # counted by an earlier process
                continue
        self._nodes = 0

    def go(self, *, is_cold: bool) -> None:
        """Change the tier; a cluster that becomes cold keeps only its counts."""
        if is_cold and not self.is_cold:
            self._nodes, self._total = self.nodes, len(self._predicates)
        self._predicates = array("q")
        self.is_cold = is_cold

    def absorb(self, other: TierCluster) -> None:
        """Add the counts of another cluster; both are cold."""
        self._nodes += other._nodes
        self._total += other._total

    def record(self, *, is_cold: bool | None = None) -> ClusterRecord:
        """What the cold tier should store; by default the tier stays as it is."""
        tier = self.is_cold if is_cold is None else is_cold
        return ClusterRecord(self.number, self.key, tier, self.nodes, self.predicates, self.members)

    def nbytes(self) -> int:
        """Bytes that it takes."""
        return CLUSTER_BYTES + sys.getsizeof(self._predicates)


class Clusters:
    """All clusters that have members, by number. The newest of each key and tier takes new members."""

    def __init__(self) -> None:
        self._by_number: dict[int, TierCluster] = {}
        # By key: in memory, and cold.
        self._of: tuple[dict[str, list[TierCluster]], dict[str, list[TierCluster]]] = ({}, {})
        self._next = 0
        self.members = 0
        self.cold = 0  # clusters

    def __len__(self) -> int:
        return len(self._by_number)

    def __iter__(self) -> Iterator[TierCluster]:
        return iter(self._by_number.values())

    def __getitem__(self, number: int) -> TierCluster:
        return self._by_number[number]

    def __contains__(self, number: object) -> bool:
        return number in self._by_number

    def home(self, key: str) -> TierCluster:
        """The cluster for a new member with this key; a new one if there is none, or it is full.

        While a cluster of this key, or one that such clusters were folded into, is cold, new members go there: a flood
        passes memory by.
        """
        cold = self._cold_key(key)
        return self.newest(key, is_cold=False) if cold is None else self.newest(cold, is_cold=True)

    def is_cold(self, key: str) -> bool:
        """Whether a new member with this key goes to the cold tier."""
        return self._cold_key(key) is not None

    def newest(self, key: str, *, is_cold: bool, more: int = 1) -> TierCluster:
        """The cluster of a key and tier with room for `more` members; a new one if there is none."""
        some = self._of[is_cold].get(key)
        if some is None or some[-1].members + more > LARGEST:
            newest = TierCluster(self._next, key, is_cold=is_cold)
            self.add(newest)
            return newest
        return some[-1]

    def add(self, cluster: TierCluster) -> None:
        """Add a cluster that is new or stored; of one without members only its number counts."""
        self._next = max(self._next, cluster.number + 1)
        if cluster.members or cluster.is_new:
            self.members += cluster.members
            self._by_number[cluster.number] = cluster
            self._list(cluster)

    def forget(self, cluster: TierCluster) -> None:
        """Remove a cluster and its members."""
        self.members -= cluster.members
        del self._by_number[cluster.number]
        self._unlist(cluster)

    def go(self, cluster: TierCluster, *, is_cold: bool) -> None:
        """Change the tier of a cluster."""
        self._unlist(cluster)
        cluster.go(is_cold=is_cold)
        self._list(cluster)

    def count(self, cluster: TierCluster, change: int) -> None:
        """Add `change` to the members of a cluster, and remove it when none is left."""
        cluster.members += change
        self.members += change
        if change < 0 and not cluster.members:
            self.forget(cluster)

    def fold(self, cluster: TierCluster) -> TierCluster:
        """Fold a small cold cluster into a wider one; return that one."""
        into = self.newest(wider_keys(cluster.key)[0], is_cold=True, more=cluster.members)
        self.forget(cluster)
        self.count(into, cluster.members)
        into.absorb(cluster)
        return into

    def smallest(self, most: int, *, depth: int) -> list[TierCluster]:
        """The smallest cold clusters that may be folded, at most `most`, among those with `depth` wider keys."""
        small = [
            each
            for each in self
            if each.is_cold and each.members < LARGEST // 2 and len(wider_keys(each.key)) == depth
        ]
        return sorted(small, key=lambda each: (each.members, each.number))[:most]

    def _cold_key(self, key: str) -> str | None:
        """The key of the cold cluster for new members of a key; None if they go to memory."""
        keys = [key] if key in self._of[False] else [key, *wider_keys(key)]
        return next((each for each in keys if each in self._of[True]), None)

    def _list(self, cluster: TierCluster) -> None:
        self._of[cluster.is_cold].setdefault(cluster.key, []).append(cluster)
        self.cold += cluster.is_cold

    def _unlist(self, cluster: TierCluster) -> None:
        some = self._of[cluster.is_cold][cluster.key]
        some.remove(cluster)
        if not some:
            del self._of[cluster.is_cold][cluster.key]
        self.cold -= cluster.is_cold

    def by_priority(self, *, is_cold: bool) -> list[TierCluster]:
        """Clusters of one tier that have members, the lowest priority first."""
        some = [each for each in self if each.is_cold == is_cold and each.members]
        return sorted(some, key=lambda each: (-each.record().weighted, each.number))

    def nbytes(self) -> int:
        """Bytes of all of them."""
        return sum(each.nbytes() for each in self)
