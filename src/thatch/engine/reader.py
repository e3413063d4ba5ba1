"""What can be asked of an engine. Nothing here changes the set, and nothing waits for whoever does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import forks
from thatch.engine.batches import Batch, Pieces, count_matches, matches_table
from thatch.engine.details import SubscriptionDetails
from thatch.engine.ids import NEVER, Ids
from thatch.engine.pruning import prune_table
from thatch.engine.state import EngineState, Snapshot
from thatch.engine.subscriptions import (
    SYSTEM_CLOCK,
    Clock,
    Moment,
    seconds,
    subscriptions_table,
    tallies_table,
)
from thatch.engine.tables import Reject, arrow_table, is_event_type
from thatch.errors import SubscriptionError, UnknownSubscriptionError, shown
from thatch.matching.growing import GrowingIndex
from thatch.matching.problem import Slots
from thatch.model.events import Record, read_event
from thatch.model.explanation import Explanation
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.values import is_text

__all__ = ["EngineReader"]

By = Literal["subscription", "subscriber", "payload"]
Nulls = Literal["missing", "null"]


class EngineReader:
    """A set of subscriptions that finds, for every event, those that match it; see `Engine`."""

    def __init__(
        self, index: GrowingIndex, ids: Ids, schema: Schema | None, clock: Clock | None = None
    ) -> None:
        if clock is not None and not callable(clock):
            raise SubscriptionError("a function that returns seconds since 1970", shown(clock), "clock")
        self.schema = schema
        self._clock = SYSTEM_CLOCK if clock is None else clock
        self._misfits = 0
        self._state = EngineState(index, ids)
        forks.watch(self._state)

    # --- one event -----------------------------------------------------------------------------------------------

    @overload
    def match(
        self,
        event: Mapping[str, Any],
        *,
        by: Literal["subscription", "subscriber"] = "subscription",
        limit: int | None = None,
        now: Moment | None = None,
    ) -> list[str]: ...

    @overload
    def match(
        self,
        event: Mapping[str, Any],
        *,
        by: Literal["payload"],
        limit: int | None = None,
        now: Moment | None = None,
    ) -> list[tuple[str, Any]]: ...

    def match(
        self,
        event: Mapping[str, Any],
        *,
        by: By = "subscription",
        limit: int | None = None,
        now: Moment | None = None,
    ) -> list[Any]:
        """The ids of all subscriptions that match an event, in subscription order.

        Parameters
        ----------
        by : "subscriber" gives each subscriber once, in the order of its first match; "payload" gives pairs of an id and
            its payload, None where there is none
        limit : at most this many
        now : judge expiry by this moment instead of the clock
        """
        view, ids = self._state.published
        never = now is None and ids.soonest == NEVER  # the usual case: nothing expires
        is_plain = by == "subscription" and (never or self._is_all_live(ids, now))
        if is_plain and limit is None and self.schema is None and type(event) is dict:
            quick = view.match_plain(event, ids.names)
            if quick is not None:
                return quick
        if not isinstance(by, str) or by not in _NAMES:
            raise SubscriptionError("by='subscription', by='subscriber' or by='payload'", shown(by))
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
            raise SubscriptionError("a limit of 0 or more", shown(limit))
        record = self._read(event)
        if is_plain:
            names = ids.names(view.match(record))
        else:
            names = self._state.answer(record, self._moment(now), _NAMES[by])
        return names if limit is None else names[:limit]

    def any(self, event: Mapping[str, Any], *, now: Moment | None = None) -> bool:
        """Whether some subscription matches an event."""
        if self._is_all_live(self._state.published[1], now):
            return self._count(event, stop=True) > 0
        return self.count(event, now=now) > 0

    def count(self, event: Mapping[str, Any], *, now: Moment | None = None) -> int:
        """How many subscriptions match an event."""
        if self._is_all_live(self._state.published[1], now):
            return self._count(event, stop=False)
        return self._state.answer(self._read(event), self._moment(now), lambda _, slots: len(slots))

    def _count(self, event: Mapping[str, Any], *, stop: bool) -> int:
        """How many subscriptions match, expired ones too; with `stop`, some if any does."""
        view, _ = self._state.published
        if self.schema is None and type(event) is dict:
            found = view.match_plain(event, len, stop=stop)
            if found is not None:
                return found
        record = self._read(event)
        return view.any(record) if stop else len(view.match(record))

    # --- tables of events ----------------------------------------------------------------------------------------

    def match_batch(
        self,
        table: Any,
        *,
        ordered: bool = False,
        nulls: Nulls = "missing",
        json: str | None = None,
        now: Moment | None = None,
    ) -> pa.Table:
        """Match each row of a table of events.

        Parameters
        ----------
        table : pyarrow, pandas or polars; a column per attribute, or one column of JSON texts
        ordered : give the matches of one event in subscription order
        nulls : whether null in a column means that the attribute is missing, or null
        json : the name of a column that holds each event as JSON text, which keeps null and missing apart
        now : judge expiry by this moment instead of the clock

        Returns
        -------
        A table with columns `event` (the row's number) and `subscription`; rows of one event stand together.
        """
        batch, snapshot = self._batch(table, nulls, json, now, None)
        counts, slots = batch.match(snapshot.view)
        self._add_misfits(batch.misfits)
        return matches_table(counts, slots, snapshot, ordered=ordered)

    def match_pieces(
        self,
        table: Any,
        *,
        nulls: Nulls = "missing",
        json: str | None = None,
        now: Moment | None = None,
        reject: Reject | None = None,
        grouped: bool = False,
    ) -> Pieces:
        """As `match_batch`, but a few million matches at a time, with slots instead of ids.

        Parameters
        ----------
        table, nulls, json, now : as for `match_batch`
        reject : called with row number and reason for each row that is not an event, which is then left out
        grouped : give a row per event, with the list `slots`; an event may still have several rows

        Returns
        -------
        An iterator of record batches with columns `event` (the row's number) and `slot`; an event may be in several.
        Its `ids()` are the ids by slot. It describes the set as it is now, whatever changes while it is read.
        """
        batch, snapshot = self._batch(table, nulls, json, now, reject)
        return Pieces(batch, snapshot, self._add_misfits, is_grouped=grouped)

    def count_batch(
        self,
        table: Any,
        *,
        nulls: Nulls = "missing",
        json: str | None = None,
        now: Moment | None = None,
        reject: Reject | None = None,
    ) -> npt.NDArray[np.int64]:
        """How many rows of a table of events each slot matches; parameters as for `match_pieces`."""
        batch, snapshot = self._batch(table, nulls, json, now, reject)
        counts = count_matches(batch, snapshot)
        self._add_misfits(batch.misfits)
        return counts

    # --- the subscriptions ---------------------------------------------------------------------------------------

    def ids(self) -> pa.Array:
        """The id in each slot, null where it is no longer taken.

        Slots are valid until `compact`, or until so many are free that a change renumbers them.
        """
        with self._state.writing:
            return self._state.ids.id_column()

    def subscribers(self) -> pa.Array:
        """The subscriber in each slot, as a dictionary array; null where there is none."""
        with self._state.writing:
            return self._state.ids.subscriber_column()

    def explain(
        self, subscription: str, event: Mapping[str, Any], *, now: Moment | None = None
    ) -> Explanation:
        """Why a subscription does or does not match an event; print the answer."""
        when = self._moment(now)
        with self._state.writing:
            ids, slot = self._state.ids, self._slot(subscription)
            has_expired = ids.expiry(np.array([slot]))[0] <= when
            is_disabled = ids.detail(slot).parked is not None
            found = self._filter_at(slot)
        explained = found.explain(event)
        if is_disabled:
            return explained.overruled("it is disabled")
        return explained.overruled("it has expired") if has_expired else explained

    def filter(self, subscription: str) -> Filter:
        """The filter of a subscription."""
        with self._state.writing:
            return self._filter_at(self._slot(subscription))

    def subscription(self, subscription: str) -> SubscriptionDetails:
        """All that is known of a subscription."""
        with self._state.writing:
            ids, slot = self._state.ids, self._slot(subscription)
            row = np.array([slot])
            detail, until = ids.detail(slot), float(ids.expiry(row)[0])
            return SubscriptionDetails(
                subscription=subscription,
                filter=self._filter_at(slot),
                subscriber=ids.subscribers(row)[0],
                expires=None if until == NEVER else until,
                payload=detail.value(),
                tags=detail.tags,
                is_enabled=detail.parked is None,
            )

    def subscriptions(self, *, subscriber: str | None = None, tag: str | None = None) -> pa.Table:
        """The subscriptions in order, all or those of a subscriber or with a tag.

        Columns: `subscription`, `subscriber`, `filter` (canonical text), `expires`; and `payload` (JSON text), `tags` and
        `enabled`, if some subscription has a payload or tags or is disabled.
        """
        with self._state.writing:
            return subscriptions_table(self._state.index, self._state.ids, subscriber, tag)

    def attributes(self) -> frozenset[str]:
        """The names of the attributes that subscriptions read, and perhaps of some that removed ones read."""
        with self._state.writing:
            return self._state.index.attributes()

    def stats(self) -> dict[str, int]:
        """Sizes, bytes by part and work counters by name; `misfits` counts values outside their declared type."""
        with self._state.writing:
            return {
                "subscriptions": len(self),
                "disabled": sum(each.parked is not None for each in self._state.ids.details.values()),
                "misfits": self._misfits,
                "build_ms": self._state.build_ms,
                **self._state.index.stats(),
                **{f"bytes_{part}": size for part, size in self._state.ids.sizes().items()},
            }

    def tallies(self) -> pa.Table:
        """How often each subscription was a candidate, and how often it matched, since `tally`."""
        with self._state.writing:
            return tallies_table(self._state.index, self._state.ids)

    def __len__(self) -> int:
        return len(self._state.ids)

    def __contains__(self, subscription: object) -> bool:
        with self._state.writing:
            if not isinstance(subscription, str) or not is_text(subscription):
                return False
            return self._state.ids.find(subscription) >= 0

    def __iter__(self) -> Iterator[str]:
        with self._state.writing:
            return iter(self._state.ids.names(self._state.ids.taken()))

    def __repr__(self) -> str:
        return f"<thatch.Engine with {len(self):,} subscriptions>"

    # --- inside --------------------------------------------------------------------------------------------------

    def _read(self, event: Mapping[str, Any]) -> Record:
        record = read_event(event, self.schema)
        self._add_misfits(record.misfits)
        return record

    def _add_misfits(self, count: int) -> None:
        if count:
            with self._state.changing:
                self._misfits += count

    def _batch(
        self, table: Any, nulls: str, json: str | None, now: Moment | None, reject: Reject | None
    ) -> tuple[Batch, Snapshot]:
        """A table of events, and the subscriptions to match them against."""
        source = arrow_table(table, "events")
        if json is None and not all(is_event_type(field.type) for field in source.schema):
            source = prune_table(source, self.attributes())
        batch = Batch(source, nulls=nulls, json=json, schema=self.schema, reject=reject)
        return batch, self._state.snapshot(self._moment(now), source.num_rows)

    def _filter_at(self, slot: int) -> Filter:
        """The filter of a subscription, which the index does not have while it is disabled."""
        parked = self._state.ids.detail(slot).parked
        return self._state.index.current.filter(slot) if parked is None else parse(parked, self.schema)

    def _moment(self, now: Moment | None) -> float:
        """The moment by which expiry is judged."""
        return self._clock() if now is None else seconds(now, "now")

    def _is_all_live(self, ids: Ids, now: Moment | None) -> bool:
        """Whether nothing has expired by a moment, without asking for the time if nothing ever expires."""
        return (ids.soonest == NEVER and now is None) or self._moment(now) < ids.soonest

    def _slot(self, subscription: object) -> int:
        if subscription not in self:
            raise UnknownSubscriptionError(subscription)
        assert isinstance(subscription, str)
        return self._state.ids.find(subscription)


def _subscribers(ids: Ids, slots: Slots) -> list[str]:
    """Each subscriber once, in the order of its first match; the id where there is none."""
    pairs = zip(ids.subscribers(slots), ids.names(slots), strict=True)
    return list(dict.fromkeys(name if subscriber is None else subscriber for subscriber, name in pairs))


def _payloads(ids: Ids, slots: Slots) -> list[tuple[str, Any]]:
    """Each id with its payload."""
    pairs = zip(ids.names(slots), slots.tolist(), strict=True)
    return [(name, ids.detail(slot).value()) for name, slot in pairs]


_NAMES: dict[str, Callable[[Ids, Slots], list[Any]]] = {
    "subscription": Ids.names,
    "subscriber": _subscribers,
    "payload": _payloads,
}
