"""Moving clusters between the tiers, so that memory stays within its budget.

Out: copied and marked in the database by one transaction, then removed from memory. Back: put in memory, then marked in the
database. In between both tiers answer for a cluster, never neither; whoever asks both drops what comes twice. When
the process ends in between, the marks alone count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from thatch.errors import StoreError
from thatch.tiering.access import AccessKeys
from thatch.tiering.budget import Budget
from thatch.tiering.clusters import CLUSTER_BYTES, Cluster, Clusters, predicates_of
from thatch.tiering.memory import give_back
from thatch.tiering.problem import ColdTier, FastTier

__all__ = ["Migration", "Moved"]

_GUESS = 1_024  # bytes a subscription, before any is in memory
_FEW = 1_024  # subscriptions
_SHARE = 8  # an eighth of the low mark is for cold clusters
_OFTEN = 8  # memory is looked at whenever an eighth of the subscriptions in it are new, or gone


@dataclass(frozen=True, slots=True)
class Moved:
    """A cluster that has moved: what it was like (paper C, figure 6), and where to."""

    number: int
    key: str
    members: int
    nodes: int
    predicates: int
    ratio: float
    weighted: float
    is_cold: bool


class Migration:
    """Looks after one engine's memory.

    Parameters
    ----------
    fast, cold, clusters, keys : all that the engine has
    budget : what subscriptions may take
    moved : is told of every move
    """

    def __init__(
        self,
        fast: FastTier,
        cold: ColdTier,
        clusters: Clusters,
        keys: AccessKeys,
        budget: Budget,
        moved: Callable[[Moved], None] | None,
    ) -> None:
        self._fast, self._cold, self._clusters, self._keys = fast, cold, clusters, keys
        self._budget = budget
        self._moved = moved
        self._credit = 0.0  # bytes that may be added before memory is looked at
        self._each = float(_GUESS)  # bytes a subscription
        self._gone = 0  # removed since the fast tier was compacted
        self._unseen = 0  # removed since clusters were last brought back
        self._folded = 0  # cold clusters that folding left
        self.is_folded = True  # as memory has it; if not, clusters must be read anew
        self.departures = self.returns = 0
        self.arrivals = 0  # times that subscriptions came to memory from the database

    def nbytes(self) -> int:
        """Bytes of the fast tier and of clusters."""
        return self._fast.nbytes() + self._clusters.nbytes() + self._keys.nbytes()

    def make_room(self, more: int) -> None:
        """See to it that there is room for so many subscriptions more; clusters move out if there is not.

        Cold clusters may have become part of others afterwards: homes that were known before are not right any more.
        """
        self._fold_small()
        self._credit -= 2 * self._each * max(more, 1)
        if self._credit > 0:
            return
        taken = self._looked_at()
        if taken + more * self._each > self._budget.high_mark:
            self._move_out(more)
            taken = self._looked_at()
        room = self._budget.high_mark - taken - more * self._each
        self._credit = min(room, len(self._fast) / _OFTEN * self._each)

    def left(self, count: int) -> None:
        """So many subscriptions are gone; now and then that is room for clusters to come back.

        They are gone even if the database goes away now: then clusters come back after the next change.
        """
        self._gone += count
        self._unseen += count
        if self._unseen * _OFTEN >= max(len(self._fast), _FEW):
            with suppress(StoreError):
                self.fill()

    def fill(self) -> None:
        """Bring back clusters, the highest priority first, as long as all stays below the low mark."""
        waiting = self._clusters.by_priority(is_cold=True)
        if waiting:
            self._bring_back_some(waiting)
        self._unseen = 0

    # --- inside --------------------------------------------------------------------------------------------------------

    def _bring_back_some(self, waiting: Sequence[Cluster]) -> None:
        if self._gone * _OFTEN >= max(len(self._fast), 1):
            self._compact()
        room = float(self._budget.low_mark - self._looked_at())
        for cluster in reversed(waiting):
            room -= cluster.members * self._each
            if room < 0:
                break
            self._bring_back(cluster)

    def _looked_at(self) -> int:
        """Bytes that are taken; how many a subscription takes is learned by the way."""
        give_back()
        taken = self.nbytes()
        count = len(self._fast)
        if count:
            self._each = max((self._fast.nbytes() + self._clusters.nbytes()) / count, 64.0)
        return taken

    def _move_out(self, more: int) -> None:
        """Move clusters of the lowest priority until the low mark is reached, or none is left."""
        if self._gone * _OFTEN >= max(len(self._fast), 1):
            self._compact()
        while (excess := self._looked_at() + more * self._each - self._budget.low_mark) > 0:
            waiting = self._clusters.by_priority(is_cold=False)
            if not waiting:
                return
            for cluster in waiting:
                excess -= cluster.members * self._each
                self._move(cluster)
                if excess <= 0:
                    break
            self._compact()
            self._fold_small()

    def _move(self, cluster: Cluster) -> None:
        """Copy, switch, delete."""
        members = [each for each, _ in self._cold.members(cluster.number)]
        told = _told(cluster, is_cold=True)
        self._cold.move(cluster.record(is_cold=True), members)
        self._clusters.go(cluster, is_cold=True)
        self._fast.remove([each.identity for each in members])
        self.departures += 1
        if self._moved is not None:
            self._moved(told)

    def _bring_back(self, cluster: Cluster) -> None:
        """Copy, switch; what is in the database stays there."""
        members = [each for each, _ in self._cold.members(cluster.number)]
        self._fast.put(members)
        # Whoever asked memory before sees the count after the database, which answers for them until the move.
        self.arrivals += 1
        self._cold.move(cluster.record(is_cold=False), members)
        self.returns += 1
        self._clusters.go(cluster, is_cold=False)
        for each in members:
            cluster.learn(predicates_of(each.filter))
        if self._moved is not None:
            self._moved(_told(cluster, is_cold=False))

    def _fold_small(self) -> None:
        """Cold clusters take memory, too: if there are too many, the smallest become part of wider ones."""
        self._folded = min(self._folded, self._clusters.cold)
        most = max(self._budget.low_mark // (_SHARE * CLUSTER_BYTES), self._folded * 5 // 4)
        if self._clusters.cold <= most:
            return
        for depth in (2, 1):  # any value of an attribute; anything, if that is not enough
            if self._clusters.cold > most:
                self._fold(self._clusters.smallest(self._clusters.cold - most // 2, depth=depth))
        self._folded = self._clusters.cold

    def _fold(self, some: Sequence[Cluster]) -> None:
        """Changes memory first: if the database fails, its clusters must be read anew."""
        parts: dict[int, list[int]] = {}
        self.is_folded = False
        for each in some:
            parts.setdefault(self._clusters.fold(each).number, []).append(each.number)
        wider = [self._clusters[number] for number in parts]
        self._cold.fold([(each.record(is_cold=True), parts[each.number]) for each in wider])
        self.is_folded = True
        for each in wider:
            each.is_new = False

    def _compact(self) -> None:
        self._gone = 0
        self._fast.compact()


def _told(cluster: Cluster, *, is_cold: bool) -> Moved:
    return Moved(
        cluster.number,
        cluster.key,
        cluster.members,
        cluster.nodes,
        cluster.predicates,
        cluster.ratio,
        cluster.weighted,
        is_cold,
    )
