"""`thatch.Engine`: standing queries in one process, without a server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import container, forks
from thatch.engine.batches import Batch, Pieces, count_matches, matches_table
from thatch.engine.bulk import Bounds
from thatch.engine.files import packed, read_engine, unpacked, write_engine
from thatch.engine.hints import chosen_hints
from thatch.engine.ids import Ids
from thatch.engine.state import EngineState, Snapshot
from thatch.engine.subscriptions import (
    REJECTS,
    Moment,
    read_subscription,
    read_subscriptions,
    seconds,
    subscriptions_table,
    tallies_table,
)
from thatch.engine.tables import Reject, arrow_table
from thatch.errors import (
    IndexFileError,
    ReadOnlyError,
    SchemaError,
    SubscriptionError,
    UnknownSubscriptionError,
    shown,
)
from thatch.matching.growing import GrowingIndex
from thatch.matching.problem import AccessHints, Slots
from thatch.model.events import Record, read_event
from thatch.model.explanation import Explanation
from thatch.model.filters import Filter
from thatch.model.language import FilterSource
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.model.values import is_text

__all__ = ["Engine"]

By = Literal["subscription", "subscriber"]
Nulls = Literal["missing", "null"]


class Engine:
    """A set of subscriptions that finds, for every event, those that match it.

    Safe to use from several threads. A call that raises has changed nothing.

    Parameters
    ----------
    schema : declared types of attributes; values outside them count as missing
    background : merge in a thread; otherwise every change does its share of merging
    profile : what events look like; it makes matching quicker and changes no answer
    hints : from `thatch.planning.access_hints`, instead of a profile

    Examples
    --------
    >>> import thatch
    >>> engine = thatch.Engine()
    >>> engine.subscribe("cheap-ibm", "symbol = 'IBM' and price < 150", subscriber="desk-7")
    >>> engine.subscribe("dear-any", {"price": [{"numeric": [">", 100]}]})
    >>> engine.match({"symbol": "IBM", "price": 120})
    ['cheap-ibm', 'dear-any']
    """

    def __init__(
        self,
        schema: Schema | None = None,
        *,
        background: bool = True,
        profile: Profile | None = None,
        hints: AccessHints | None = None,
    ) -> None:
        if schema is not None and not isinstance(schema, Schema):
            raise SchemaError("a thatch.Schema", shown(schema))
        hints = chosen_hints(profile, hints)
        index = GrowingIndex(background=background, schema=schema, hints=hints)
        self._set_up(index, Ids(), schema, background=background)

    def _set_up(
        self, index: GrowingIndex, ids: Ids, schema: Schema | None, *, background: bool = True
    ) -> None:
        self.schema = schema
        self._background = background
        self._path: Path | None = None
        self._read_only = False
        self._misfits = 0
        self._state = EngineState(index, ids)
        forks.watch(self._state)

    @classmethod
    def _of(cls, index: GrowingIndex, ids: Ids, schema: Schema | None, *, background: bool = True) -> Engine:
        engine = cls.__new__(cls)
        engine._set_up(index, ids, schema, background=background)  # noqa: SLF001 - its own kind
        return engine

    # --- changing the set ----------------------------------------------------------------------------------------

    def subscribe(
        self,
        subscription: str,
        filter: FilterSource,
        *,
        subscriber: str | None = None,
        expires: Moment | None = None,
    ) -> None:
        """Add a subscription, or replace the one with its id, which keeps its position in answers.

        Parameters
        ----------
        subscription : its id
        filter : text, a JSON pattern, a Python expression or a `thatch.Filter`
        subscriber : who wants the events; answers by subscriber use the id where none is given
        expires : from this moment on it matches nothing (seconds since 1970, or a datetime)
        """
        self._check_writable()
        checked = read_subscription(subscription, filter, subscriber, expires, self.schema)
        with self._state.writing:
            self._state.put(checked)

    def subscribe_many(self, table: Any) -> pa.Table:
        """Add the subscriptions of a table; return the rows that were refused, with the reason.

        Parameters
        ----------
        table : columns `subscription` and `filter`, optionally `subscriber` and `expires`

        Returns
        -------
        A table with columns `row`, `subscription` and `reason`. A second row with the same id is refused too.
        """
        self._check_writable()
        checked = read_subscriptions(table, self.schema)
        with self._state.writing:
            self._state.put_all(checked.accepted.values(), checked.texts)
        return pa.Table.from_pylist(checked.rejects, schema=REJECTS)

    @classmethod
    def from_table(cls, table: Any, *, schema: Schema | None = None) -> Engine:
        """An engine with the subscriptions of a table, all of them or none.

        Parameters
        ----------
        table : as for `subscribe_many`

        Raises
        ------
        SubscriptionError
            If a row is refused; the message names the first and counts them.
        """
        engine = cls(schema)
        rejects = engine.subscribe_many(table)
        if rejects.num_rows:
            first = rejects.slice(0, 1).to_pylist()[0]
            got = f"{rejects.num_rows:,} refused; the first: {first['reason']}"
            raise SubscriptionError("a subscription in every row", got, f"row {first['row']}")
        return engine

    @classmethod
    def from_columns(
        cls,
        subscriptions: Any,
        attributes: Any,
        low: Any,
        high: Any,
        *,
        offsets: Any = None,
        attribute: Any = None,
        subscribers: Any = None,
    ) -> Engine:
        """An engine of boxes given as arrays of closed bounds.

        Parameters
        ----------
        subscriptions : their ids, a list of texts or an Arrow array
        attributes : names, by number
        low, high : with a row per subscription and a column per attribute, where NaN in both means that the
            attribute is not constrained; or, with `offsets` and `attribute`, an entry per side. Infinity is no bound
        offsets : where the sides of each subscription begin, and where the last end
        attribute : the number of each side's attribute
        subscribers : who wants the events, a list of texts and None

        Examples
        --------
        >>> import thatch
        >>> boxes = thatch.Engine.from_columns(["a", "b"], ["x", "y"], [[0, 0], [5, 5]], [[9, 9], [6, 6]])
        >>> boxes.match({"x": 5, "y": 7})
        ['a']
        """
        bounds = Bounds.of(subscriptions, attributes, low, high, offsets, attribute, subscribers)
        return cls._of(*bounds.built(GrowingIndex(background=True)), None)

    def unsubscribe(self, subscription: str) -> None:
        """Remove a subscription; raises `UnknownSubscriptionError` if there is none of that id."""
        self._check_writable()
        with self._state.writing:
            self._state.drop([self._slot(subscription)])

    def expire(self, now: Moment) -> list[str]:
        """Remove what has expired by `now`; return the ids in order."""
        self._check_writable()
        when = seconds(now, "now")
        with self._state.writing:
            ids = self._state.ids
            slots = ids.taken()
            gone = slots[ids.expiry(slots) <= when]
            names = ids.names(gone)
            if names:
                self._state.drop(gone.tolist())
            return names

    def compact(self) -> None:
        """Merge everything and free what is no longer used, now; matching is quickest afterwards."""
        self._check_writable()
        with self._state.writing:
            self._state.merger.wait()
            self._state.renumber()

    # --- asking --------------------------------------------------------------------------------------------------

    def match(
        self,
        event: Mapping[str, Any],
        *,
        by: By = "subscription",
        limit: int | None = None,
        now: Moment | None = None,
    ) -> list[str]:
        """The ids of all subscriptions that match an event, in subscription order.

        Parameters
        ----------
        by : "subscriber" gives each subscriber once, in the order of its first match
        limit : at most this many
        now : leave out what has expired by this moment
        """
        view, ids = self._state.published
        is_plain = by == "subscription" and now is None
        if is_plain and limit is None and self.schema is None and type(event) is dict:
            quick = view.match_plain(event, ids.names)
            if quick is not None:
                return quick
        if by not in ("subscription", "subscriber"):
            raise SubscriptionError("by='subscription' or by='subscriber'", shown(by))
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
            raise SubscriptionError("a limit of 0 or more", shown(limit))
        when = None if now is None else seconds(now, "now")
        record = self._read(event)
        if is_plain:
            names = ids.names(view.match(record))
        else:
            names = self._state.answer(record, when, _subscribers if by == "subscriber" else Ids.names)
        return names if limit is None else names[:limit]

    def any(self, event: Mapping[str, Any], *, now: Moment | None = None) -> bool:
        """Whether some subscription matches an event."""
        return self._count(event, stop=True) > 0 if now is None else self.count(event, now=now) > 0

    def count(self, event: Mapping[str, Any], *, now: Moment | None = None) -> int:
        """How many subscriptions match an event."""
        if now is None:
            return self._count(event, stop=False)
        when = seconds(now, "now")
        return self._state.answer(self._read(event), when, lambda _, slots: len(slots))

    def _count(self, event: Mapping[str, Any], *, stop: bool) -> int:
        """How many subscriptions match, expired ones too; with `stop`, some if any does."""
        view, _ = self._state.published
        if self.schema is None and type(event) is dict:
            found = view.match_plain(event, len, stop=stop)
            if found is not None:
                return found
        record = self._read(event)
        return view.any(record) if stop else len(view.match(record))

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
        now : leave out what has expired by this moment

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

    def explain(self, subscription: str, event: Mapping[str, Any]) -> Explanation:
        """Why a subscription does or does not match an event; print the answer."""
        return self.filter(subscription).explain(event)

    def filter(self, subscription: str) -> Filter:
        """The filter of a subscription."""
        with self._state.writing:
            return self._state.index.current.filter(self._slot(subscription))

    def subscriptions(self) -> pa.Table:
        """All subscriptions in order: `subscription`, `subscriber`, `filter` (canonical text), `expires`."""
        with self._state.writing:
            return subscriptions_table(self._state.index, self._state.ids)

    def stats(self) -> dict[str, int]:
        """Sizes, bytes by part and work counters by name; `misfits` counts values outside their declared type."""
        with self._state.writing:
            return {
                "subscriptions": len(self),
                "misfits": self._misfits,
                **self._state.index.stats(),
                **{f"bytes_{part}": size for part, size in self._state.ids.sizes().items()},
            }

    def tally(self, *, on: bool = True) -> None:
        """Count candidates and matches of every subscription from now on, or stop and forget the counts."""
        with self._state.writing:
            self._state.tally(on=on)

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

    # --- at rest -------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str] | None = None) -> None:
        """Write the engine to a file; without a path, to the one it was opened from with mode="a"."""
        if path is None and self._path is None:
            raise IndexFileError("a path", "none, and the engine was not opened from a file")
        if path is None:
            self._check_writable()
        target = Path(path) if path is not None else self._path
        assert target is not None
        with self._state.writing:
            write_engine(target, self._state.index, self._state.ids, self.schema)

    @classmethod
    def open(cls, path: str | os.PathLike[str], mode: Literal["r", "a"] = "r") -> Engine:
        """A saved engine, mapped into memory, which processes share that open the same file.

        Parameters
        ----------
        mode : "r" refuses changes, "a" takes them and `save()` writes them back
        """
        if mode not in ("r", "a"):
            raise IndexFileError('mode "r" or "a"', shown(mode))
        where = Path(path)
        engine = cls._of(*read_engine(where, writable=mode == "a", background=True))
        engine._path, engine._read_only = where, mode == "r"  # noqa: SLF001 - its own kind
        return engine

    def __reduce__(self) -> tuple[Any, ...]:
        with self._state.writing:
            content = container.dumps(*packed(self._state.index, self._state.ids, self.schema))
        return (_unpickled, (content, self._background))

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
        batch = Batch(source, nulls=nulls, json=json, schema=self.schema, reject=reject)
        return batch, self._state.snapshot(None if now is None else seconds(now, "now"), source.num_rows)

    def _slot(self, subscription: object) -> int:
        if subscription not in self:
            raise UnknownSubscriptionError(subscription)
        assert isinstance(subscription, str)
        return self._state.ids.find(subscription)

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError('an engine opened with mode="a"', 'one opened with mode="r"', str(self._path))


def _subscribers(ids: Ids, slots: Slots) -> list[str]:
    """Each subscriber once, in the order of its first match; the id where there is none."""
    pairs = zip(ids.subscribers(slots), ids.names(slots), strict=True)
    return list(dict.fromkeys(name if subscriber is None else subscriber for subscriber, name in pairs))


def _unpickled(content: bytes, background: bool) -> Engine:  # noqa: FBT001 - the other half of __reduce__
    parts = unpacked(container.loads(content, writable=True), "a pickle", background=background)
    return Engine._of(*parts, background=background)  # noqa: SLF001
