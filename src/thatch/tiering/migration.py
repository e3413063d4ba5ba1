"""Moving clusters between the tiers, so that memory stays within its budget.

Out: one transaction copies and marks them in the database, then they are removed from memory. Back: they are put in
memory, then marked in the database. In between both tiers answer for a cluster, never neither; duplicates are dropped.
If the process ends in between, the marks decide. A cluster that the database refuses stays in memory, and others go on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress

from thatch.errors import StoreError, shown
from thatch.tiering.access import AccessKeys
from thatch.tiering.budget import Budget, return_memory
from thatch.tiering.clusters import CLUSTER_BYTES, Clusters, TierCluster, predicates_of
from thatch.tiering.problem import ClusterRecord, ColdTier, FastTier, StoredSubscription

__all__ = ["Migration"]

_GUESS = 1_024  # bytes per subscription, before any is in memory
_FEW = 1_024  # subscriptions
_SHARE = 8  # an eighth of the low mark is for records of cold clusters
_OFTEN = 8  # memory is measured whenever an eighth of the subscriptions in it were added or removed


class Migration:
    """Keeps the memory of one engine within its budget.

    Parameters
    ----------
    fast, cold, clusters, keys : those of the engine
    budget : what subscriptions may take
    moved : called with the cluster of every move, and the tier that it goes to
    """

    def __init__(
        self,
        fast: FastTier,
        cold: ColdTier,
        clusters: Clusters,
        keys: AccessKeys,
        budget: Budget,
        moved: Callable[[ClusterRecord], None] | None,
    ) -> None:
        self._fast, self._cold, self._clusters, self._keys = fast, cold, clusters, keys
        self._budget = budget
        self._moved = moved
        self._credit = 0.0  # bytes that may be added before memory is measured again
        self._each = float(_GUESS)  # bytes per subscription
        self._removed = 0  # subscriptions removed since the fast tier was compacted
        self._freed = 0  # subscriptions removed since clusters last came back
        self._refused: set[int] = set()  # clusters that the database did not take; tried again now and then
        self._folded = 0  # cold clusters left by the last folding
        self.is_folded = True  # in the database as in memory; if not, clusters must be read again
        self.departures = self.returns = 0
        self.arrivals = 0  # how often subscriptions came to memory from the database

    def nbytes(self) -> int:
        """Bytes of the fast tier and of clusters."""
        return self._fast.nbytes() + self._clusters.nbytes() + self._keys.nbytes()

    @property
    def refused(self) -> int:
        """How many clusters stay in memory because the database refused them when they were last to move out."""
        return sum(number in self._clusters for number in self._refused)

    def make_room(self, more: int) -> None:
        """Make room for `more` subscriptions, by moving clusters out if need be.

        Cold clusters may have been folded into others afterwards: homes looked up before are no longer valid.
        """
        self._fold_small()
        self._credit -= 2 * self._each * max(more, 1)
        if self._credit > 0:
            return
        taken = self._measure()
        if taken + more * self._each > self._budget.high_mark:
            self._move_out(more)
            taken = self._measure()
        room = self._budget.high_mark - taken - more * self._each
        self._credit = min(room, len(self._fast) / _OFTEN * self._each)

    def count_removed(self, count: int) -> None:
        """Take note of removed subscriptions; now and then they leave room for clusters to come back.

        If the database is away now, clusters come back after a later change.
        """
        self._removed += count
        self._freed += count
        if self._freed * _OFTEN >= max(len(self._fast), _FEW):
            with suppress(StoreError):
                self.fill()

    def fill(self) -> None:
        """Bring back clusters, the highest priority first, as long as all stays below the low mark."""
        self._refused.clear()
        waiting = self._clusters.by_priority(is_cold=True)
        if waiting:
            self._compact_if_worth()
            room = float(self._budget.low_mark - self._measure())
            while waiting and (room := room - waiting[-1].members * self._each) >= 0:
                self._bring_back(waiting.pop())
        self._freed = 0

    def store_cold(self, record: ClusterRecord, members: Sequence[StoredSubscription]) -> bool:
        """Let the cold tier answer for members of a cluster; no if the database refuses them.

        Raises `StoreError` if it refuses everything: then it is away, or in use by others.
        """
        try:
            self._cold.move(record, members)
        except StoreError as error:
            self._cold.remove([])
            if all(home.is_cold for _, home in self._cold.members(record.number)):
                return True  # it was done, only nobody saw that
            self._refused.add(record.number)
            text = f"{record.members:,} subscriptions stay in memory: the database refuses their cluster, {shown(record.key)}"
            warnings.warn(f"{text}. {error}", stacklevel=2)
            return False
        return True

    # --- inside --------------------------------------------------------------------------------------------------------

    def _measure(self) -> int:
        """Bytes in use; also learns how many a subscription takes."""
        return_memory()
        taken = self.nbytes()
        count = len(self._fast)
        if count:
            self._each = max((self._fast.nbytes() + self._clusters.nbytes()) / count, 64.0)
        return taken

    def _move_out(self, more: int) -> None:
        """Move out clusters of the lowest priority until the low mark is reached, or none is left."""
        self._compact_if_worth()
        while (excess := self._measure() + more * self._each - self._budget.low_mark) > 0:
            every = self._clusters.by_priority(is_cold=False)
            waiting = [each for each in every if each.number not in self._refused]
            if not waiting:
                return
            for cluster in waiting:
                if self._move(cluster):
                    excess -= cluster.members * self._each
                if excess <= 0:
                    break
            self._compact()
            self._fold_small()

    def _move(self, cluster: TierCluster) -> bool:
        """Move a cluster out: copy, switch, delete; no if the database refuses it."""
        members = [each for each, _ in self._cold.members(cluster.number)]
        record = cluster.record(is_cold=True)
        if not self.store_cold(record, members):
            return False
        self._clusters.go(cluster, is_cold=True)
        self._fast.remove([each.identity for each in members])
        self.departures += 1
        if self._moved is not None:
            self._moved(record)
        return True

    def _bring_back(self, cluster: TierCluster) -> None:
        """Move a cluster back: copy, switch; the database keeps its members."""
        members = [each for each, _ in self._cold.members(cluster.number)]
        self._fast.put(members)
        # The database answers for them until the move; who asked memory before that sees the count change.
        self.arrivals += 1
        self._cold.move(cluster.record(is_cold=False), members)
        self.returns += 1
        self._clusters.go(cluster, is_cold=False)
        for each in members:
            cluster.learn(predicates_of(each.filter))
        if self._moved is not None:
            self._moved(cluster.record(is_cold=False))

    def _fold_small(self) -> None:
        """Fold the smallest cold clusters into wider ones if there are too many: their records take memory, too."""
        self._folded = min(self._folded, self._clusters.cold)
        most = max(self._budget.low_mark // (_SHARE * CLUSTER_BYTES), self._folded * 5 // 4)
        if self._clusters.cold <= most:
            return
        for depth in (2, 1):  # into any value of an attribute; if that is not enough, into anything
            if self._clusters.cold > most:
                self._fold(self._clusters.smallest(self._clusters.cold - most // 2, depth=depth))
        self._folded = self._clusters.cold

    def _fold(self, some: Sequence[TierCluster]) -> None:
        """Fold clusters in memory, then in the database; if that fails, they must be read again."""
        parts: dict[int, list[int]] = {}
        self.is_folded = False
        for each in some:
            parts.setdefault(self._clusters.fold(each).number, []).append(each.number)
        wider = [self._clusters[number] for number in parts]
        self._cold.fold([(each.record(is_cold=True), parts[each.number]) for each in wider])
        self.is_folded = True
        for each in wider:
            each.is_new = False

    def _compact_if_worth(self) -> None:
        if self._removed * _OFTEN >= max(len(self._fast), 1):
            self._compact()

    def _compact(self) -> None:
        self._removed = 0
        self._fast.compact()
