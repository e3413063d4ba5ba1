"""What can be asked of both tiers together. Nothing here changes the set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, Literal

import pyarrow as pa

from thatch.engine.batches import MATCHES
from thatch.engine.subscriptions import SUBSCRIPTIONS, SYSTEM_CLOCK, Clock, Moment, seconds
from thatch.engine.tables import arrow_table, event_rows
from thatch.errors import EventError, SubscriptionError, TableError, UnknownSubscriptionError, shown
from thatch.model.events import read_event
from thatch.model.explanation import Explanation
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.model.values import is_text
from thatch.tiering.budget import Budget
from thatch.tiering.clusters import Clusters, TierCluster
from thatch.tiering.migration import Migration
from thatch.tiering.problem import Answer, By, ClusterRecord, ColdTier, FastTier, Found

__all__ = ["TieredReader"]

_BATCH = 1_000  # subscriptions that are listed together


class TieredReader:
    """A set of subscriptions in two tiers that finds, for every event, those that match it; see `TieredEngine`."""

    def __init__(
        self,
        cold: ColdTier,
        fast: FastTier,
        clusters: Clusters,
        migration: Migration,
        budget: Budget,
        schema: Schema | None,
        clock: Clock | None = None,
    ) -> None:
        self.schema, self.budget = schema, budget
        self._clock = SYSTEM_CLOCK if clock is None else clock
        self._cold, self._fast, self._clusters, self._migration = cold, fast, clusters, migration
        # Nobody knows whether these are stored: the database must be asked.
        self._uncertain: frozenset[str] = frozenset()

    # --- asking --------------------------------------------------------------------------------------------------------

    def answer(
        self, event: Mapping[str, Any], *, by: By = "subscription", now: Moment | None = None
    ) -> Answer:
        """The subscriptions that match an event, in two parts: the fast tier answers at once.

        Parameters
        ----------
        by : "subscriber" gives each subscriber once
        now : judge expiry by this moment instead of the clock
        """
        if by not in ("subscription", "subscriber"):
            raise SubscriptionError("by='subscription' or by='subscriber'", shown(by))
        when = self._moment(now)
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
        found = self._find(subscription)
        if found is None:
            raise UnknownSubscriptionError(subscription)
        return found.subscription.filter

    def match_batch(
        self,
        table: Any,
        *,
        ordered: bool = False,
        nulls: Literal["missing", "null"] = "missing",
        json: str | None = None,
        now: Moment | None = None,
    ) -> pa.Table:
        """Match each row of a table of events, one by one; parameters and result as for `thatch.Engine.match_batch`.

        Changes made meanwhile count for the rows that follow. An event that cannot be read raises `TableError`.
        """
        when = self._moment(now)
        place = {identity: place for place, identity in enumerate(self)} if ordered else {}
        events: list[int] = []
        names: list[str] = []
        for row, event in enumerate(event_rows(arrow_table(table, "events"), nulls=nulls, json_column=json)):
            try:
                found = self.match(event, now=when)
            except EventError as error:
                raise TableError(error.expected, error.got, f"row {row}, {error.where}") from error
            if ordered:
                found.sort(key=lambda identity: place.get(identity, len(place)))
            events += [row] * len(found)
            names += found
        columns = [pa.array(events, pa.int64()), pa.array(names, pa.string()).dictionary_encode()]
        return pa.Table.from_arrays(columns, schema=MATCHES)

    def subscriptions(self) -> pa.Table:
        """All subscriptions in order: `subscription`, `subscriber`, `filter` (canonical text), `expires`.

        Changes wait until all are read from the database.
        """
        rows = []
        with self._cold.lock():
            ids = list(self)
            for start in range(0, len(ids), _BATCH):
                some = ids[start : start + _BATCH]
                found = self._cold.find(some)
                rows += [found[identity].subscription for identity in some]
        columns = {
            "subscription": [each.identity for each in rows],
            "subscriber": [each.subscriber for each in rows],
            "filter": [str(each.filter) for each in rows],
            "expires": [None if each.expires == inf else each.expires for each in rows],
        }
        return pa.table(columns, schema=SUBSCRIPTIONS)

    def subscribers(self) -> pa.Array:
        """The subscriber of each subscription, in their order, as a dictionary array; null where there is none."""
        return self.subscriptions().column("subscriber").combine_chunks().dictionary_encode()

    def explain(
        self, subscription: str, event: Mapping[str, Any], *, now: Moment | None = None
    ) -> Explanation:
        """Why a subscription does or does not match an event; print the answer."""
        found = self._find(subscription)
        if found is None:
            raise UnknownSubscriptionError(subscription)
        explained = found.subscription.filter.explain(event)
        has_expired = found.subscription.expires <= self._moment(now)
        return explained.overruled("it has expired") if has_expired else explained

    def clusters(self) -> list[ClusterRecord]:
        """All clusters that have members, with their tier, node count and predicates."""
        with self._cold.lock():
            return [each.record() for each in self._clusters if each.members]

    def nbytes(self) -> int:
        """Bytes that all of it takes in memory, by its own account."""
        with self._cold.lock():
            return self._migration.nbytes() + self._cold.nbytes()

    def stats(self) -> dict[str, int]:
        """Sizes and counts by name; `refused_clusters` stay in memory because the database does not take them."""
        with self._cold.lock():
            return {
                "subscriptions": len(self),
                "fast": len(self._fast),
                "clusters": len(self._clusters),
                "cold_clusters": self._clusters.cold,
                "refused_clusters": self._migration.refused,
                "moves_out": self._migration.departures,
                "moves_back": self._migration.returns,
                "bytes": self.nbytes(),
                "bytes_fast": self._fast.nbytes(),
                "budget": self.budget.size,
            }

    def __len__(self) -> int:
        return self._clusters.members

    def __contains__(self, subscription: object) -> bool:
        return self._find(subscription) is not None

    def __iter__(self) -> Iterator[str]:
        return self._cold.identities()

    def __repr__(self) -> str:
        return f"<thatch.TieredEngine with {len(self):,} subscriptions, {len(self._fast):,} in memory>"

    # --- inside ----------------------------------------------------------------------------------------------------------

    def _moment(self, now: Moment | None) -> float:
        """The moment by which expiry is judged, in both tiers."""
        return self._clock() if now is None else seconds(now, "now")

    def _find(self, subscription: object) -> Found | None:
        """A subscription with its home; None for what is no id of one."""
        if not isinstance(subscription, str) or not is_text(subscription):
            return None
        return self._cold.find([subscription]).get(subscription)

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
