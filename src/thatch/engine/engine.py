"""`thatch.Engine`: standing queries in one process, without a server."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.files import SUBSCRIPTIONS, read_engine, write_engine
from thatch.engine.tables import arrow_table, event_rows, text_column
from thatch.errors import (
    EventError,
    FilterError,
    IndexFileError,
    ReadOnlyError,
    SchemaError,
    SubscriptionError,
    TableError,
    ThatchError,
    UnknownSubscriptionError,
    shown,
)
from thatch.matching.growing import GrowingIndex
from thatch.model.events import read_event
from thatch.model.explanation import Explanation
from thatch.model.filters import Filter
from thatch.model.language import FilterSource, parse
from thatch.model.schema import Schema
from thatch.model.values import is_text

__all__ = ["REJECTS", "Engine"]

Moment = float | datetime
By = Literal["subscription", "subscriber"]

REJECTS = pa.schema(
    [pa.field("row", pa.int64()), pa.field("subscription", pa.string()), pa.field("reason", pa.string())]
)
_MATCHES = pa.schema(
    [pa.field("event", pa.int64()), pa.field("subscription", pa.dictionary(pa.int32(), pa.string()))]
)
_NEVER = float("inf")
_SPARSE = 4  # places taken per subscription that is left, from which on they are numbered anew


@dataclass(frozen=True, slots=True)
class _Subscription:
    """What the engine knows of one subscription; `place` gives its turn in answers."""

    id: str
    place: int
    filter: Filter
    subscriber: str | None
    expires: float


class Engine:
    """A set of subscriptions that tells, for every event, who wants it.

    Safe to use from several threads. A call that raises has changed nothing.

    Parameters
    ----------
    schema : declared types of attributes; values outside them count as missing

    Examples
    --------
    >>> import thatch
    >>> engine = thatch.Engine()
    >>> engine.subscribe("cheap-ibm", "symbol = 'IBM' and price < 150", subscriber="desk-7")
    >>> engine.subscribe("dear-any", {"price": [{"numeric": [">", 100]}]})
    >>> engine.match({"symbol": "IBM", "price": 120})
    ['cheap-ibm', 'dear-any']
    """

    def __init__(self, schema: Schema | None = None) -> None:
        if schema is not None and not isinstance(schema, Schema):
            raise SchemaError("a thatch.Schema", shown(schema))
        self.schema = schema
        self._lock = RLock()
        self._index = GrowingIndex()
        self._by_id: dict[str, _Subscription] = {}
        self._by_place: dict[int, _Subscription] = {}
        self._names = np.empty(1_024, object)  # the id at every place, for quick answers
        self._next_place = 0
        self._misfits = 0
        self._path: Path | None = None
        self._read_only = False

    # --- changing the set ----------------------------------------------------------------------------------------

    def subscribe(
        self,
        subscription: str,
        filter: FilterSource,
        *,
        subscriber: str | None = None,
        expires: Moment | None = None,
    ) -> None:
        """Add a subscription; a known id is replaced and keeps its place in answers.

        Parameters
        ----------
        subscription : its id
        filter : text, a JSON pattern, a Python expression or a `thatch.Filter`
        subscriber : who wants the events; answers by subscriber use the id where it is not given
        expires : from this moment on it matches no more (seconds since 1970, or a datetime)
        """
        self._check_writable()
        made = self._subscription(subscription, filter, subscriber, expires)
        with self._lock:
            self._put(*made)

    def subscribe_many(self, table: Any) -> pa.Table:
        """Add the subscriptions of a table; return the rows that were refused, with the reason.

        Parameters
        ----------
        table : columns `subscription` and `filter`, and if there are any `subscriber` and `expires`

        Returns
        -------
        A table with columns `row`, `subscription` and `reason`. A second row with the same id is refused too.
        """
        self._check_writable()
        source = arrow_table(table, "subscriptions")
        ids = text_column(source, "subscription", "subscriptions")
        filters = text_column(source, "filter", "subscriptions")
        count = len(ids)
        subscribers = (
            text_column(source, "subscriber", "subscriptions")
            if _has(source, "subscriber")
            else [None] * count
        )
        expiries = source.column("expires").to_pylist() if _has(source, "expires") else [None] * count
        accepted: dict[str, tuple[str, Filter, str | None, float]] = {}
        rejects = []
        for row, (identity, text, subscriber, expires) in enumerate(
            zip(ids, filters, subscribers, expiries, strict=True)
        ):
            try:
                if identity in accepted:
                    raise SubscriptionError("each id once in the table", f"{shown(identity)} again")
                if text is None:
                    raise FilterError("filter text", "null")
                made = self._subscription(identity, text, subscriber, expires)
                accepted[made[0]] = made
            except ThatchError as error:
                rejects.append({"row": row, "subscription": identity, "reason": str(error)})
        with self._lock:
            self._put_all(accepted.values())
        return pa.Table.from_pylist(rejects, schema=REJECTS)

    def unsubscribe(self, subscription: str) -> None:
        """Forget a subscription.

        Raises
        ------
        UnknownSubscriptionError
            If there is none of that id.
        """
        self._check_writable()
        with self._lock:
            known = self._known(subscription)
            self._index.remove(known.place)
            del self._by_id[known.id]
            del self._by_place[known.place]
            self._names[known.place] = None

    def expire(self, now: Moment) -> list[str]:
        """Forget what has expired by `now`; return the ids in order."""
        self._check_writable()
        moment = _moment(now, "now")
        with self._lock:
            gone = [each for each in self._in_order() if each.expires <= moment]
            for each in gone:
                self.unsubscribe(each.id)
        return [each.id for each in gone]

    # --- asking --------------------------------------------------------------------------------------------------

    def match(
        self,
        event: Mapping[str, Any],
        *,
        by: By = "subscription",
        limit: int | None = None,
        now: Moment | None = None,
    ) -> list[str]:
        """The ids of all subscriptions that want an event, in subscription order.

        Parameters
        ----------
        by : "subscriber" gives each subscriber once, in the order of its first match
        limit : at most this many
        now : leave out what has expired by this moment
        """
        if by not in ("subscription", "subscriber"):
            raise SubscriptionError("by='subscription' or by='subscriber'", shown(by))
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
            raise SubscriptionError("a limit of 0 or more", shown(limit))
        if type(event) is dict and now is None and by == "subscription" and self.schema is None:
            quick = self._match_plain(event)
            if quick is not None:
                return quick if limit is None else quick[:limit]
        found = self._matching(event, now)
        names = [each.id for each in found]
        if by == "subscriber":
            names = list(dict.fromkeys(each.subscriber or each.id for each in found))
        return names if limit is None else names[:limit]

    def any(self, event: Mapping[str, Any], *, now: Moment | None = None) -> bool:
        """Whether somebody wants an event."""
        if now is not None:
            return bool(self._matching(event, now))
        record = read_event(event, self.schema)
        with self._lock:
            self._misfits += record.misfits
            return self._index.any(record)

    def count(self, event: Mapping[str, Any], *, now: Moment | None = None) -> int:
        """How many subscriptions want an event."""
        return len(self._matching(event, now))

    def match_batch(
        self,
        table: Any,
        *,
        ordered: bool = False,  # noqa: ARG002 - this form of the engine always answers in order
        nulls: Literal["missing", "null"] = "missing",
        json: str | None = None,
        now: Moment | None = None,
    ) -> pa.Table:
        """Who wants each row of a table of events.

        Parameters
        ----------
        table : pyarrow, pandas or polars; a column per attribute, or one column of JSON texts
        ordered : give the matches of one event in subscription order
        nulls : whether null in a column means that the attribute is missing, or null
        json : the name of a column that holds each event as JSON text, which keeps null and missing apart
        now : leave out what has expired by this moment

        Returns
        -------
        A table with columns `event` (the row's number) and `subscription`; rows of one event stand together.
        """
        source = arrow_table(table, "events")
        counts: list[int] = []
        places: list[npt.NDArray[np.int64]] = []
        with self._lock:
            for row, event in enumerate(event_rows(source, nulls=nulls, json_column=json)):
                try:
                    found = self._places(event, now)
                except EventError as error:
                    raise TableError(error.expected, error.got, f"row {row}, {error.where}") from error
                counts.append(len(found))
                places.append(found)
            together = np.concatenate([np.zeros(0, np.int64), *places])
            used, codes = np.unique(together, return_inverse=True)
            names = self._names.take(used)
        column = pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int32)), pa.array(names, pa.string())
        )
        events = np.repeat(np.arange(len(counts)), counts)
        return pa.Table.from_arrays([pa.array(events, pa.int64()), column], schema=_MATCHES)

    def explain(self, subscription: str, event: Mapping[str, Any]) -> Explanation:
        """Why a subscription does or does not want an event; print the answer."""
        with self._lock:
            known = self._known(subscription)
        return known.filter.explain(event)

    def filter(self, subscription: str) -> Filter:
        """The filter of a subscription."""
        with self._lock:
            return self._known(subscription).filter

    def subscriptions(self) -> pa.Table:
        """All subscriptions in order: `subscription`, `subscriber`, `filter` (canonical text), `expires`."""
        with self._lock:
            known = list(self._in_order())
        columns = [
            pa.array([each.id for each in known], pa.string()),
            pa.array([each.subscriber for each in known], pa.string()),
            pa.array([str(each.filter) for each in known], pa.string()),
            pa.array([None if each.expires == _NEVER else each.expires for each in known], pa.float64()),
        ]
        return pa.Table.from_arrays(columns, schema=SUBSCRIPTIONS)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name; `misfits` counts values outside their declared type."""
        with self._lock:
            return {"subscriptions": len(self._by_id), "misfits": self._misfits, **self._index.stats()}

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._by_id

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter([each.id for each in self._in_order()])

    def __repr__(self) -> str:
        return f"<thatch.Engine with {len(self):,} subscriptions>"

    # --- at rest -------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str] | None = None) -> None:
        """Write the engine to a file; without a path, to the one it was opened from with mode="a"."""
        if path is None and self._path is None:
            raise IndexFileError("a path", "none, and the engine was not opened from a file")
        if path is None:
            self._check_writable()
        target = Path(path) if path is not None else self._path
        assert target is not None
        with self._lock:
            write_engine(target, self.subscriptions(), self.schema)

    @classmethod
    def open(cls, path: str | os.PathLike[str], mode: Literal["r", "a"] = "r") -> Engine:
        """A saved engine: mode "r" refuses changes, mode "a" takes them and `save()` writes them back."""
        if mode not in ("r", "a"):
            raise IndexFileError('mode "r" or "a"', shown(mode))
        where = Path(path)
        table, schema = read_engine(where)
        engine = cls._restored(table, schema, str(where))
        engine._path, engine._read_only = where, mode == "r"  # noqa: SLF001 - its own kind
        return engine

    @classmethod
    def _restored(cls, table: pa.Table, schema: Schema | None, where: str) -> Engine:
        engine = cls(schema)
        rejects = engine.subscribe_many(table)
        if rejects.num_rows:
            raise IndexFileError("a saved engine", f"a damaged one ({rejects.column('reason')[0]})", where)
        return engine

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickled, (self.subscriptions(), self.schema))

    # --- inside --------------------------------------------------------------------------------------------------

    def _match_plain(self, event: dict[str, Any]) -> list[str] | None:
        """The ids for a flat event of plain values, straight from the index; None if it has to be read first."""
        with self._lock:
            places = self._index.match_plain(event)
            if places is None:
                return None
            names: list[str] = self._names.take(places).tolist()
            return names

    def _places(self, event: dict[str, Any], now: Moment | None) -> npt.NDArray[np.int64]:
        """The places of all subscriptions that want an event, in order."""
        if now is None and self.schema is None:
            places = self._index.match_plain(event)
            if places is not None:
                return places.copy()
        return np.array([each.place for each in self._matching(event, now)], np.int64)

    def _matching(self, event: Mapping[str, Any], now: Moment | None) -> list[_Subscription]:
        record = read_event(event, self.schema)
        moment = None if now is None else _moment(now, "now")
        with self._lock:
            self._misfits += record.misfits
            found = [self._by_place[place] for place in self._index.match(record)]
        return found if moment is None else [each for each in found if each.expires > moment]

    def _subscription(
        self,
        identity: Any,
        source: Any,
        subscriber: Any,
        expires: Any,
    ) -> tuple[str, Filter, str | None, float]:
        """The checked parts of a subscription that is not in the set yet."""
        if not isinstance(identity, str) or not is_text(identity):
            raise SubscriptionError("a text as id", f"{shown(identity)} of type {type(identity).__name__}")
        if subscriber is not None and (not isinstance(subscriber, str) or not is_text(subscriber)):
            raise SubscriptionError("a text as subscriber", shown(subscriber), shown(identity))
        return (
            identity,
            parse(source, self.schema),
            subscriber,
            _NEVER if expires is None else _moment(expires, "expires"),
        )

    def _put(self, identity: str, filter: Filter, subscriber: str | None, expires: float) -> None:
        known = self._by_id.get(identity)
        if known is None and self._next_place >= _SPARSE * max(len(self._by_id), 1_024):
            self._compact()
        place = known.place if known else self._next_place
        if known:
            self._index.remove(place)
        else:
            self._take_place(identity)
        self._index.add(place, filter)
        self._by_id[identity] = self._by_place[place] = _Subscription(
            identity, place, filter, subscriber, expires
        )

    def _put_all(self, many: Iterable[tuple[str, Filter, str | None, float]]) -> None:
        """Add many subscriptions; those that are new go to the index in one piece."""
        fresh: dict[int, Filter] = {}
        for identity, filter, subscriber, expires in many:
            if identity in self._by_id:
                self._put(identity, filter, subscriber, expires)
                continue
            place = self._take_place(identity)
            fresh[place] = filter
            self._by_id[identity] = self._by_place[place] = _Subscription(
                identity, place, filter, subscriber, expires
            )
        self._index.extend(fresh)

    def _compact(self) -> None:
        """Number the subscriptions anew, so that those long gone cost nothing. Rare enough to cost little an insert."""
        known = self._in_order()
        self._index = GrowingIndex()
        self._by_id, self._by_place = {}, {}
        self._names = np.empty(1_024, object)
        self._next_place = 0
        self._put_all((each.id, each.filter, each.subscriber, each.expires) for each in known)

    def _take_place(self, identity: str) -> int:
        """The next place, now that of a new subscription."""
        place = self._next_place
        self._next_place += 1
        if place == len(self._names):
            self._names = np.concatenate([self._names, np.empty(len(self._names), object)])
        self._names[place] = identity
        return place

    def _known(self, subscription: object) -> _Subscription:
        known = self._by_id.get(subscription) if isinstance(subscription, str) else None
        if known is None:
            raise UnknownSubscriptionError(subscription)
        return known

    def _in_order(self) -> list[_Subscription]:
        # A replaced subscription keeps its entry in both dictionaries, so insertion order is place order.
        return list(self._by_place.values())

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError('an engine opened with mode="a"', 'one opened with mode="r"', str(self._path))


def _unpickled(table: pa.Table, schema: Schema | None) -> Engine:
    return Engine._restored(table, schema, "a pickle")  # noqa: SLF001 - the other half of __reduce__


def _has(table: pa.Table, column: str) -> bool:
    return column in table.column_names


def _moment(value: Any, what: str) -> float:
    """Seconds since 1970 of a number or a datetime (naive = UTC)."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or isnan(value):
        raise SubscriptionError("seconds since 1970 or a datetime", shown(value), what)
    return float(value)
