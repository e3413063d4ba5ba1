"""`TieredEngine`: subscriptions in memory as far as a budget allows, the others in a database.

Deviations from commonality, section 5.2: an event is matched in both tiers, since it may match in both (the paper sends
a message to one, by its class); and a subscription is written to the database when it arrives, not when it moves, so
that none is lost with the process. The database decides what is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from thatch.engine.subscriptions import REJECTS, Moment, read_subscription, read_subscriptions, seconds
from thatch.engine.tables import arrow_table
from thatch.errors import StoreError, SubscriptionError, UnknownSubscriptionError, shown
from thatch.model.events import read_event
from thatch.model.explanation import Explanation
from thatch.model.filters import Filter
from thatch.model.language import FilterSource
from thatch.model.schema import Schema
from thatch.model.selectivity import Selectivity
from thatch.tiering.access import AccessKeys
from thatch.tiering.budget import Budget, allocate_large_apart
from thatch.tiering.clusters import Clusters, TierCluster, predicates_of
from thatch.tiering.fast import SegmentTier
from thatch.tiering.migration import Migration
from thatch.tiering.problem import (
    Answer,
    By,
    ClusterRecord,
    ColdTier,
    FastTier,
    Found,
    Home,
    StoredSubscription,
)

__all__ = ["TieredEngine"]

_BATCH = 1_000  # subscriptions of a table that are written together
_COUNTED = 4_096  # bytes of the budget for each equality that is counted


class TieredEngine:
    """A set of subscriptions, for every event those that match it, within a budget of memory.

    One thread at a time may change it; with segments as the fast tier, any thread may ask. A call that raises has changed
    nothing. If a connection was lost, the next call asks the database what became of the change.

    Parameters
    ----------
    cold : the database, with what it has stored
    budget : bytes, or a `Budget` with its marks
    fast : the tier in memory, empty; segments if not given
    schema : declared types of attributes
    selectivity : what is known of events; clusters are formed by it
    moved : called with every cluster that moves; `is_cold` says where to

    Raises
    ------
    ParameterError
        If the budget is too small for anything.
    StoreError
        If the database cannot be read.

    Examples
    --------
    >>> from thatch.tiering import PlainColdTier, TieredEngine
    >>> engine = TieredEngine(PlainColdTier(), budget=8_000_000)
    >>> engine.subscribe("cheap-ibm", "symbol = 'IBM' and price < 150")
    >>> answer = engine.answer({"symbol": "IBM", "price": 120})
    >>> answer.fast, answer.slow()
    (['cheap-ibm'], [])
    """

    def __init__(
        self,
        cold: ColdTier,
        *,
        budget: int | Budget,
        fast: FastTier | None = None,
        schema: Schema | None = None,
        selectivity: Selectivity | None = None,
        moved: Callable[[ClusterRecord], None] | None = None,
    ) -> None:
        allocate_large_apart()
        self.schema = schema
        self.budget = budget if isinstance(budget, Budget) else Budget(size=budget)
        self._cold = cold
        self._fast: FastTier = SegmentTier(schema) if fast is None else fast
        self._clusters = Clusters()
        self._keys = AccessKeys(max(256, self.budget.size // _COUNTED), selectivity)
        room = self.budget.deduct(cold.nbytes() + self._fast.nbytes())
        self._migration = Migration(self._fast, cold, self._clusters, self._keys, room, moved)
        # Nobody knows whether these are stored: the database must be asked.
        self._uncertain: frozenset[str] = frozenset()
        self._load()

    def _load(self) -> None:
        """Load what the database has stored; what no longer fits moves out again."""
        for record in self._cold.clusters():
            self._clusters.add(TierCluster.of(record))
        for some in self._cold.fast():
            for each, home in some:
                cluster = self._clusters[home.cluster]
                if cluster.is_cold:  # added during a move whose end nobody saw
                    self._cold.move(cluster.record(), [each])
                else:
                    cluster.learn(predicates_of(each.filter))
            self._fast.put([each for each, home in some if not self._clusters[home.cluster].is_cold])
            self._migration.make_room(0)

    # --- changing the set --------------------------------------------------------------------------------------------

    def subscribe(
        self,
        subscription: str,
        filter: FilterSource,
        *,
        subscriber: str | None = None,
        expires: Moment | None = None,
    ) -> None:
        """Add a subscription, or replace the one with its id; raises `StoreError` if the database cannot store it.

        Parameters as for `thatch.Engine.subscribe`.
        """
        checked = read_subscription(subscription, filter, subscriber, expires, self.schema)
        self._cold.check(checked.identity)
        text = filter if isinstance(filter, str) else str(checked.filter)
        self._put(
            [StoredSubscription(checked.identity, checked.filter, text, checked.subscriber, checked.expires)]
        )

    def subscribe_many(self, table: Any) -> pa.Table:
        """Add the subscriptions of a table; return the rows that were refused, with the reason.

        Rows after a failure of the database are refused. Parameters as for `thatch.Engine.subscribe_many`.
        """
        checked = read_subscriptions(table, self.schema)
        refused: dict[str, str] = {}
        many = []
        for identity, each in checked.accepted.items():
            try:
                self._cold.check(identity)
            except SubscriptionError as error:
                refused[identity] = str(error)
                continue
            many.append(
                StoredSubscription(
                    identity, each.filter, checked.texts[identity], each.subscriber, each.expires
                )
            )
        for start in range(0, len(many), _BATCH):
            try:
                self._put(many[start : start + _BATCH])
            except StoreError as error:
                refused |= {each.identity: str(error) for each in many[start:]}
                break
        rejects = list(checked.rejects)
        if refused:
            ids = arrow_table(table, "subscriptions").column("subscription").to_pylist()
            row_of = {identity: row for row, identity in reversed(list(enumerate(ids)))}
            rejects += [
                {"row": row_of[identity], "subscription": identity, "reason": reason}
                for identity, reason in refused.items()
            ]
        return pa.Table.from_pylist(sorted(rejects, key=lambda each: each["row"]), schema=REJECTS)

    def unsubscribe(self, subscription: str) -> None:
        """Remove a subscription; raises `UnknownSubscriptionError` if there is none of that id."""
        if not isinstance(subscription, str) or not self._drop([subscription]):
            raise UnknownSubscriptionError(subscription)

    def expire(self, now: Moment) -> list[str]:
        """Remove what has expired by `now`; return the ids.

        If the database fails after some were removed, those are returned, and the next call returns the others.
        """
        gone = self._cold.find_expired(seconds(now, "now"))
        for start in range(0, len(gone), _BATCH):
            try:
                self._drop(gone[start : start + _BATCH])
            except StoreError:
                if not start:
                    raise
                return gone[:start]
        return gone

    def rebalance(self) -> None:
        """Move clusters back as far as there is room, or out if there is none; also happens by itself now and then."""
        with self._cold.lock():
            self._settle()
            self._migration.make_room(0)
            self._migration.fill()

    # --- asking --------------------------------------------------------------------------------------------------------

    def answer(
        self, event: Mapping[str, Any], *, by: By = "subscription", now: Moment | None = None
    ) -> Answer:
        """The subscriptions that match an event, in two parts: the fast tier answers at once.

        Parameters
        ----------
        by : "subscriber" gives each subscriber once
        now : leave out what has expired by this moment
        """
        if by not in ("subscription", "subscriber"):
            raise SubscriptionError("by='subscription' or by='subscriber'", shown(by))
        when = None if now is None else seconds(now, "now")
        arrivals = self._migration.arrivals

        def ask() -> list[str]:
            self._settle()
            found = self._slow(event, by, when)
            before = arrivals
            # What moved from the database to memory in between was in neither part: ask both again.
            while self._uncertain or before != self._migration.arrivals:
                self._settle()
                before = self._migration.arrivals
                found += self._fast.match(event, by, when) + self._slow(event, by, when)
            return found

        return Answer(self._fast.match(event, by, when), ask)

    def _slow(self, event: Mapping[str, Any], by: By, when: float | None) -> list[str]:
        """The subscriptions in the database that match an event."""
        return [
            each.subscriber if by == "subscriber" and each.subscriber is not None else each.identity
            for each in self._cold.match(read_event(event, self.schema), when)
        ]

    def match(
        self, event: Mapping[str, Any], *, by: By = "subscription", now: Moment | None = None
    ) -> list[str]:
        """The subscriptions of both tiers that match an event: first the fast tier's, each in order of arrival there.

        Raises `StoreError` if the database is away; `answer` still gives what is in memory, except subscriptions whose
        last change may or may not have been stored.
        """
        return list(self.answer(event, by=by, now=now))

    def any(self, event: Mapping[str, Any], *, now: Moment | None = None) -> bool:
        """Whether some subscription matches an event; the database is asked only if none in memory does."""
        return next(iter(self.answer(event, now=now)), None) is not None

    def count(self, event: Mapping[str, Any], *, now: Moment | None = None) -> int:
        """How many subscriptions match an event."""
        return len(self.match(event, now=now))

    def filter(self, subscription: str) -> Filter:
        """The filter of a subscription."""
        found = self._cold.find([subscription]) if isinstance(subscription, str) else {}
        if not found:
            raise UnknownSubscriptionError(subscription)
        return found[subscription].subscription.filter

    def explain(self, subscription: str, event: Mapping[str, Any]) -> Explanation:
        """Why a subscription does or does not match an event; print the answer."""
        return self.filter(subscription).explain(event)

    def clusters(self) -> list[ClusterRecord]:
        """All clusters that have members, with their tier, node count and predicates."""
        return [each.record() for each in self._clusters if each.members]

    def nbytes(self) -> int:
        """Bytes that all of it takes in memory, by its own account."""
        return self._migration.nbytes() + self._cold.nbytes()

    def stats(self) -> dict[str, int]:
        """Sizes and counts by name."""
        return {
            "subscriptions": len(self),
            "fast": len(self._fast),
            "clusters": len(self._clusters),
            "cold_clusters": sum(each.is_cold for each in self._clusters),
            "moves_out": self._migration.departures,
            "moves_back": self._migration.returns,
            "bytes": self.nbytes(),
            "bytes_fast": self._fast.nbytes(),
            "budget": self.budget.size,
        }

    def close(self) -> None:
        """Close the database."""
        self._cold.close()

    def __len__(self) -> int:
        return self._clusters.members

    def __contains__(self, subscription: object) -> bool:
        return isinstance(subscription, str) and bool(self._cold.find([subscription]))

    def __iter__(self) -> Iterator[str]:
        return self._cold.identities()

    def __repr__(self) -> str:
        return f"<thatch.TieredEngine with {len(self):,} subscriptions, {len(self._fast):,} in memory>"

    # --- inside ----------------------------------------------------------------------------------------------------------

    def _put(self, many: Sequence[StoredSubscription]) -> None:
        """Write subscriptions to the database, then those that belong there to memory."""
        with self._cold.lock():
            self._settle()
            keys = [self._keys.key(each.filter) for each in many]
            self._migration.make_room(sum(not self._clusters.is_cold(key) for key in keys))
            known = self._cold.find([each.identity for each in many])
            clusters: list[TierCluster] = []
            for key in keys:
                clusters.append(self._clusters.home(key))
                self._clusters.count(clusters[-1], 1)
            placed = list(zip(many, clusters, strict=True))
            try:
                self._write(placed, known)
            except BaseException:
                for cluster in clusters:
                    self._clusters.count(cluster, -1)
                raise
            for each, home in known.values():
                self._leave(each, self._clusters[home.cluster])
            for each, cluster in placed:
                cluster.is_new = False
                cluster.learn(predicates_of(each.filter))

    def _write(
        self, placed: Sequence[tuple[StoredSubscription, TierCluster]], known: Mapping[str, Found]
    ) -> None:
        """Write subscriptions to both tiers, in place of the known ones."""
        unwritten = {cluster.number: cluster for _, cluster in placed if cluster.is_cold or cluster.is_new}
        fast = {each.identity: each for each, cluster in placed if not cluster.is_cold}
        # Between the two writes these are in neither tier: who asks meanwhile must wait.
        self._uncertain = frozenset(each for each in fast if each in known and known[each].home.is_cold)
        try:
            self._cold.put(
                [(each, Home(cluster.number, cluster.is_cold)) for each, cluster in placed],
                [cluster.record() for cluster in unwritten.values()],
            )
        except BaseException:
            self._mark_uncertain([each.identity for each, _ in placed])
            raise
        self._fast.put(list(fast.values()))
        self._fast.remove([identity for identity in known if identity not in fast])
        self._clear_uncertain()

    def _drop(self, identities: Sequence[str]) -> bool:
        """Remove subscriptions; whether there were any."""
        with self._cold.lock():
            self._settle()
            known = self._cold.find(identities)
            if not known:
                return False
            try:
                self._cold.remove(list(known))
            except BaseException:
                self._mark_uncertain(list(known))
                raise
            self._fast.remove(list(known))
            for each, home in known.values():
                self._leave(each, self._clusters[home.cluster])
            self._migration.count_removed(len(known))
            return True

    def _leave(self, subscription: StoredSubscription, cluster: TierCluster) -> None:
        self._clusters.count(cluster, -1)
        cluster.unlearn(predicates_of(subscription.filter))

    def _mark_uncertain(self, identities: Sequence[str]) -> None:
        """Remember that a change of these may or may not be stored, and drop them from memory until that is known."""
        self._uncertain = frozenset(identities)
        self._fast.remove(identities)

    def _clear_uncertain(self) -> None:
        """Memory is right again; who asked it before sees the count of arrivals change."""
        if self._uncertain:
            self._migration.arrivals += 1
            self._uncertain = frozenset()

    def _settle(self) -> None:
        """After a lost connection, look up what became of the change; raises `StoreError` if it is still lost."""
        if not self._uncertain and self._migration.is_folded:
            return
        with self._cold.lock():  # readers come here, too; a change under way ends first
            if not self._uncertain and self._migration.is_folded:
                return
            found = self._cold.find(sorted(self._uncertain))
            counted = {each.number: each for each in self._cold.clusters()}
            for cluster in list(self._clusters):
                members = counted[cluster.number].members if cluster.number in counted else 0
                self._clusters.count(cluster, members - cluster.members)
            for record in counted.values():
                if record.number not in self._clusters:
                    self._clusters.add(TierCluster.of(record))
            self._migration.is_folded = True
            self._fast.put([each for each, home in found.values() if not home.is_cold])
            self._clear_uncertain()
