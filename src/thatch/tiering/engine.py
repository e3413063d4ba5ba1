"""`TieredEngine`: subscriptions in memory as far as a budget allows, all others in a database (paper C, section 5.2).

Deviations from the paper: an event is asked of both tiers, as it may match in both (the paper sends a message to one, by its
class); and all subscriptions are written to the database when they come, not when they move, so that none is lost
with the process. What is in memory is what the database says should be there.
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
from thatch.tiering.access import AccessKeys, Selectivity
from thatch.tiering.answers import Answer
from thatch.tiering.budget import Budget
from thatch.tiering.clusters import Cluster, Clusters, predicates_of
from thatch.tiering.fast import SegmentTier
from thatch.tiering.memory import keep_large_apart
from thatch.tiering.migration import Migration, Moved
from thatch.tiering.problem import By, ClusterRecord, ColdTier, FastTier, Found, Home, Subscription

__all__ = ["TieredEngine"]

_BATCH = 1_000  # subscriptions of a table that are written together
_COUNTED = 4_096  # bytes of the budget for each equality that is counted


class TieredEngine:
    """A set of subscriptions that tells, for every event, who wants it, and never takes more memory than it may.

    One thread at a time may change it; with segments as the fast tier answers may be asked from any. A call that raises has changed nothing, as
    far as the database can be asked: after a lost connection it is asked again what it has of the subscriptions at hand.

    Parameters
    ----------
    cold : the database, with all that it remembers
    budget : bytes, or a `Budget` with water marks
    fast : the tier in memory, empty; segments if there is none
    schema : declared types of attributes
    selectivity : what is known of events, by which clusters are formed
    moved : is told of every cluster that has moved

    Raises
    ------
    ParameterError
        If the budget is too small to hold anything.
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
        moved: Callable[[Moved], None] | None = None,
    ) -> None:
        keep_large_apart()
        self.schema = schema
        self.budget = budget if isinstance(budget, Budget) else Budget(size=budget)
        self._cold = cold
        self._fast: FastTier = SegmentTier(schema) if fast is None else fast
        self._clusters = Clusters()
        self._keys = AccessKeys(max(256, self.budget.size // _COUNTED), selectivity)
        room = self.budget.beside(cold.nbytes() + self._fast.nbytes())
        self._migration = Migration(self._fast, cold, self._clusters, self._keys, room, moved)
        # Memory says nothing of these: the database must be asked.
        self._doubtful: frozenset[str] = frozenset()
        self._load()

    def _load(self) -> None:
        """Take in what the database remembers; what has no room any more moves out again."""
        for record in self._cold.clusters():
            self._clusters.keep(Cluster.of(record))
        for some in self._cold.fast():
            for each, home in some:
                cluster = self._clusters[home.cluster]
                if cluster.is_cold:  # it came while a move was under way that nobody saw end
                    self._cold.move(cluster.record(is_cold=True), [each])
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
        """Add a subscription; a known id is replaced. Parameters as for `thatch.Engine.subscribe`.

        Raises
        ------
        StoreError
            If the database cannot take it.
        """
        identity, made, whose, when = read_subscription(
            subscription, filter, subscriber, expires, self.schema
        )
        self._cold.check(identity)
        text = filter if isinstance(filter, str) else str(made)
        self._put([Subscription(identity, made, text, whose, when)])

    def subscribe_many(self, table: Any) -> pa.Table:
        """Add the subscriptions of a table; return the rows that were refused, with the reason.

        Rows that come after a failure of the database are among those refused. Parameters as for
        `thatch.Engine.subscribe_many`.
        """
        intake = read_subscriptions(table, self.schema)
        refused: dict[str, str] = {}
        many = []
        for identity, filter, subscriber, expires in intake.accepted.values():
            try:
                self._cold.check(identity)
            except SubscriptionError as error:
                refused[identity] = str(error)
                continue
            many.append(Subscription(identity, filter, intake.texts[identity], subscriber, expires))
        for start in range(0, len(many), _BATCH):
            try:
                self._put(many[start : start + _BATCH])
            except StoreError as error:
                refused |= {each.identity: str(error) for each in many[start:]}
                break
        rejects = list(intake.rejects)
        if refused:
            ids = arrow_table(table, "subscriptions").column("subscription").to_pylist()
            row_of = {identity: row for row, identity in reversed(list(enumerate(ids)))}
            rejects += [
                {"row": row_of[identity], "subscription": identity, "reason": reason}
                for identity, reason in refused.items()
            ]
        return pa.Table.from_pylist(sorted(rejects, key=lambda each: each["row"]), schema=REJECTS)

    def unsubscribe(self, subscription: str) -> None:
        """Remove a subscription.

        Raises
        ------
        UnknownSubscriptionError
            If there is none of that id.
        """
        if not isinstance(subscription, str) or not self._drop([subscription]):
            raise UnknownSubscriptionError(subscription)

    def expire(self, now: Moment) -> list[str]:
        """Forget what has expired by `now`; return the ids.

        If the database goes away when some are gone, those are returned; the next call has the others.
        """
        gone = self._cold.expired(seconds(now, "now"))
        for start in range(0, len(gone), _BATCH):
            try:
                self._drop(gone[start : start + _BATCH])
            except StoreError:
                if not start:
                    raise
                return gone[:start]
        return gone

    def rebalance(self) -> None:
        """Bring clusters back as far as there is room, or move some out; done now and then by itself."""
        with self._cold.alone():
            self._settle()
            self._migration.make_room(0)
            self._migration.fill()

    # --- asking --------------------------------------------------------------------------------------------------------

    def answer(
        self, event: Mapping[str, Any], *, by: By = "subscription", now: Moment | None = None
    ) -> Answer:
        """Who wants an event, in two parts: the fast tier's is there at once.

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
            # What came to memory from the database in between was in neither part: then both are asked again.
            while self._doubtful or before != self._migration.arrivals:
                self._settle()
                before = self._migration.arrivals
                found += self._fast.match(event, by, when) + self._slow(event, by, when)
            return found

        return Answer(self._fast.match(event, by, when), ask)

    def _slow(self, event: Mapping[str, Any], by: By, when: float | None) -> list[str]:
        """Who of those that the database answers for wants an event."""
        return [
            each.subscriber if by == "subscriber" and each.subscriber is not None else each.identity
            for each in self._cold.match(read_event(event, self.schema), when)
        ]

    def match(
        self, event: Mapping[str, Any], *, by: By = "subscription", now: Moment | None = None
    ) -> list[str]:
        """Who wants an event, of both tiers: the fast tier's first, each in the order in which they came there.

        Raises
        ------
        StoreError
            If the database is away; `answer` still gives what is in memory, but nothing of subscriptions whose
            change nobody saw end.
        """
        return list(self.answer(event, by=by, now=now))

    def any(self, event: Mapping[str, Any], *, now: Moment | None = None) -> bool:
        """Whether somebody wants an event; the database is asked only if nobody in memory does."""
        return next(iter(self.answer(event, now=now)), None) is not None

    def count(self, event: Mapping[str, Any], *, now: Moment | None = None) -> int:
        """How many subscriptions want an event."""
        return len(self.match(event, now=now))

    def filter(self, subscription: str) -> Filter:
        """The filter of a subscription."""
        found = self._cold.find([subscription]) if isinstance(subscription, str) else {}
        if not found:
            raise UnknownSubscriptionError(subscription)
        return found[subscription].subscription.filter

    def explain(self, subscription: str, event: Mapping[str, Any]) -> Explanation:
        """Why a subscription does or does not want an event; print the answer."""
        return self.filter(subscription).explain(event)

    def clusters(self) -> list[ClusterRecord]:
        """All clusters that have members, with their tier, node count and predicates."""
        return [each.record(is_cold=each.is_cold) for each in self._clusters if each.members]

    def nbytes(self) -> int:
        """Bytes that all of it takes in memory, as accounted."""
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
        """Let go of the database."""
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

    def _put(self, many: Sequence[Subscription]) -> None:
        """Write subscriptions to the database, then to memory what belongs there."""
        with self._cold.alone():
            self._settle()
            keys = [self._keys.key(each.filter) for each in many]
            self._migration.make_room(sum(not self._clusters.is_cold(key) for key in keys))
            known = self._cold.find([each.identity for each in many])
            clusters: list[Cluster] = []
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

    def _write(self, placed: Sequence[tuple[Subscription, Cluster]], known: Mapping[str, Found]) -> None:
        """Write subscriptions to both tiers, in place of those that are known."""
        unwritten = {cluster.number: cluster for _, cluster in placed if cluster.is_cold or cluster.is_new}
        fast = {each.identity: each for each, cluster in placed if not cluster.is_cold}
        # Between the two these are in neither tier, so that who asks meanwhile must wait.
        self._doubtful = frozenset(each for each in fast if each in known and known[each].home.is_cold)
        try:
            self._cold.put(
                [(each, Home(cluster.number, cluster.is_cold)) for each, cluster in placed],
                [cluster.record(is_cold=cluster.is_cold) for cluster in unwritten.values()],
            )
        except BaseException:
            self._doubt([each.identity for each, _ in placed])
            raise
        self._fast.put(list(fast.values()))
        self._fast.remove([identity for identity in known if identity not in fast])
        self._sure()

    def _drop(self, identities: Sequence[str]) -> bool:
        """Forget subscriptions; whether there were any."""
        with self._cold.alone():
            self._settle()
            known = self._cold.find(identities)
            if not known:
                return False
            try:
                self._cold.remove(list(known))
            except BaseException:
                self._doubt(list(known))
                raise
            self._fast.remove(list(known))
            for each, home in known.values():
                self._leave(each, self._clusters[home.cluster])
            self._migration.left(len(known))
            return True

    def _leave(self, subscription: Subscription, cluster: Cluster) -> None:
        self._clusters.count(cluster, -1)
        cluster.unlearn(predicates_of(subscription.filter))

    def _doubt(self, identities: Sequence[str]) -> None:
        """Nobody saw whether a change of these was made: until that is known memory tells nothing of them."""
        self._doubtful = frozenset(identities)
        self._fast.remove(identities)

    def _sure(self) -> None:
        """Memory has what it should; who asked it before and sees no doubt after that must see the count."""
        if self._doubtful:
            self._migration.arrivals += 1
            self._doubtful = frozenset()

    def _settle(self) -> None:
        """After a lost connection: see what the database has of the subscriptions that were under way.

        Raises
        ------
        StoreError
            If it is still away.
        """
        if not self._doubtful and self._migration.is_folded:
            return
        with self._cold.alone():  # answers, too, come here; a change that is under way ends first
            if not self._doubtful and self._migration.is_folded:
                return
            found = self._cold.find(sorted(self._doubtful))
            counted = {each.number: each for each in self._cold.clusters()}
            for cluster in list(self._clusters):
                members = counted[cluster.number].members if cluster.number in counted else 0
                self._clusters.count(cluster, members - cluster.members)
            for record in counted.values():
                if record.number not in self._clusters:
                    self._clusters.keep(Cluster.of(record))
            self._migration.is_folded = True
            self._fast.put([each for each, home in found.values() if not home.is_cold])
            self._sure()
