"""`TieredEngine`: subscriptions in memory as far as a budget allows, the others in a database.

Deviations from commonality, section 5.2: an event is matched in both tiers, since it may match in both (the paper sends
a message to one, by its class); and a subscription is written to the database when it arrives, not when it moves, so
that none is lost with the process. The database decides what is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import pyarrow as pa

from thatch.engine.subscriptions import REJECTS, Clock, Moment, read_subscription, read_subscriptions
from thatch.engine.tables import arrow_table
from thatch.errors import StoreError, SubscriptionError, UnknownSubscriptionError
from thatch.model.language import FilterSource
from thatch.model.schema import Schema
from thatch.model.selectivity import Selectivity
from thatch.model.values import is_text
from thatch.tiering.access import AccessKeys
from thatch.tiering.budget import Budget, allocate_large_apart
from thatch.tiering.clusters import Clusters, TierCluster, predicates_of
from thatch.tiering.fast import SegmentTier
from thatch.tiering.migration import Migration
from thatch.tiering.problem import ClusterRecord, ColdTier, FastTier, Found, Home, StoredSubscription
from thatch.tiering.reader import TieredReader

__all__ = ["TieredEngine"]

_BATCH = 1_000  # subscriptions of a table that are written together
_COUNTED = 4_096  # bytes of the budget for each equality that is counted


class TieredEngine(TieredReader):
    """A set of subscriptions, for every event those that match it, within a budget of memory.

    With segments in memory and a store in a database, any thread may make any call, but `close`, which comes last.
    Changes, `stats`, `clusters`, `subscriptions` and `subscribers` wait for each other. Who asks waits for no change, only
    for those who ask the database at the same moment. With diagrams or a `PlainColdTier` there are no locks: one thread.

    A call that raises has changed nothing. If a connection was lost, the next call asks the database what became of the
    change. At the end of a `with` block the engine is closed.

    Parameters
    ----------
    cold : the database, with what it has stored
    budget : bytes, or a `Budget` with its marks
    fast : the tier in memory, empty; segments if not given
    schema : declared types of attributes
    selectivity : what is known of events; clusters are formed by it
    moved : called with every cluster that moves; `is_cold` says where to
    clock : gives the moment by which expiry is judged, in seconds since 1970; the time of the machine if not given

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
        clock: Clock | None = None,
    ) -> None:
        allocate_large_apart()
        budget = budget if isinstance(budget, Budget) else Budget(size=budget)
        memory: FastTier = SegmentTier(schema) if fast is None else fast
        clusters = Clusters()
        self._keys = AccessKeys(max(256, budget.size // _COUNTED), selectivity)
        room = budget.deduct(cold.nbytes() + memory.nbytes())
        migration = Migration(memory, cold, clusters, self._keys, room, moved)
        super().__init__(cold, memory, clusters, migration, budget, schema, clock)
        self._load()

    def _load(self) -> None:
        """Load what the database has stored; what no longer fits moves out again."""
        for record in self._cold.clusters():
            self._clusters.add(TierCluster.of(record))
        for some in self._cold.fast():
            staying = []
            for each, home in some:
                cluster = self._clusters[home.cluster]
                if not cluster.is_cold:
                    cluster.learn(predicates_of(each.filter))
                elif self._migration.store_cold(cluster.record(), [each]):
                    continue  # it was added during a move whose end nobody saw
                staying.append(each)
            self._fast.put(staying)
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

        Rows after a failure of the database are refused, and those that it refuses by themselves. Parameters as for
        `thatch.Engine.subscribe_many`.
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
            reasons = self._put_if_taken(many[start : start + _BATCH])
            refused |= reasons
            if reasons and not self._answers():
                refused |= {each.identity: next(iter(reasons.values())) for each in many[start + _BATCH :]}
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
        is_id = isinstance(subscription, str) and is_text(subscription)
        if not is_id or not self._drop([subscription]):
            raise UnknownSubscriptionError(subscription)

    def expire(self, now: Moment | None = None) -> list[str]:
        """Remove what has expired, by the clock or by `now`; return the ids.

        If the database fails after some were removed, those are returned, and the next call returns the others.
        """
        with self._cold.lock():
            gone = self._cold.find_expired(self._moment(now))
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

    def close(self) -> None:
        """Close the database."""
        self._cold.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

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

    def _put_if_taken(self, many: Sequence[StoredSubscription]) -> dict[str, str]:
        """Write subscriptions; the reasons for those that the database refuses, by id."""
        try:
            self._put(many)
        except StoreError as error:
            if len(many) == 1 or not self._answers():
                return {each.identity: str(error) for each in many}
            half = len(many) // 2
            return self._put_if_taken(many[:half]) | self._put_if_taken(many[half:])
        return {}

    def _answers(self) -> bool:
        """Whether the database takes changes at all."""
        try:
            self._cold.remove([])
        except StoreError:
            return False
        return True

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
