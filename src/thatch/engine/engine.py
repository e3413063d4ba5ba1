"""`thatch.Engine`: standing queries in one process, without a server."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import pyarrow as pa

from thatch.engine import container
from thatch.engine.bulk import BoundsTable
from thatch.engine.files import pack_engine, read_engine, unpack_engine, write_engine
from thatch.engine.hints import chosen_hints
from thatch.engine.ids import Ids
from thatch.engine.reader import EngineReader
from thatch.engine.subscriptions import (
    REJECTS,
    Clock,
    Moment,
    read_subscription,
    read_subscriptions,
    uncollected,
)
from thatch.errors import IndexFileError, ReadOnlyError, SchemaError, SubscriptionError, shown
from thatch.matching.growing import GrowingIndex
from thatch.matching.problem import AccessHints
from thatch.model.filters import Filter
from thatch.model.language import FilterSource
from thatch.model.profile import Profile
from thatch.model.schema import Schema

__all__ = ["Engine"]


class Engine(EngineReader):
    """A set of subscriptions that finds, for every event, those that match it.

    Safe to use from several threads. A call that raises, whatever the reason, has changed nothing.

    Parameters
    ----------
    schema : declared types of attributes; values outside them count as missing
    background : merge in a thread; otherwise every change does its share of merging
    profile : what events look like; it makes matching quicker and changes no answer
    hints : from `thatch.planning.access_hints`, instead of a profile
    clock : gives the moment by which expiry is judged, in seconds since 1970; the time of the machine if not given

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
        clock: Clock | None = None,
    ) -> None:
        if schema is not None and not isinstance(schema, Schema):
            raise SchemaError("a thatch.Schema", shown(schema))
        hints = chosen_hints(profile, hints)
        self._set_up(GrowingIndex(background=background, schema=schema, hints=hints), Ids(), schema, clock)

    def _set_up(
        self, index: GrowingIndex, ids: Ids, schema: Schema | None, clock: Clock | None = None
    ) -> None:
        super().__init__(index, ids, schema, clock)
        self._path: Path | None = None
        self._is_read_only = False

    @classmethod
    def _of(cls, index: GrowingIndex, ids: Ids, schema: Schema | None, clock: Clock | None = None) -> Self:
        """An engine of these parts."""
        engine = cls.__new__(cls)
        engine._set_up(index, ids, schema, clock)  # noqa: SLF001 - its own kind
        return engine

    # --- changing the set ----------------------------------------------------------------------------------------

    def subscribe(
        self,
        subscription: str,
        filter: FilterSource,
        *,
        subscriber: str | None = None,
        expires: Moment | None = None,
        payload: Any = None,
        tags: Iterable[str] | None = None,
    ) -> None:
        """Add a subscription, or replace the one with its id, which keeps its position in answers.

        Parameters
        ----------
        subscription : its id
        filter : text, a JSON pattern, a Python expression or a `thatch.Filter`
        subscriber : who wants the events; answers by subscriber use the id where none is given
        expires : from this moment on it matches nothing (seconds since 1970, or a datetime with a time zone)
        payload : JSON-like; `match(event, by="payload")` and `subscription` give it back
        tags : texts by which `subscriptions` finds it
        """
        self._check_writable()
        checked = read_subscription(
            subscription, filter, subscriber, expires, self.schema, payload=payload, tags=tags
        )
        with self._state.writing:
            self._state.put(checked)

    def subscribe_many(self, table: Any, *, filters: Sequence[Filter] | None = None) -> pa.Table:
        """Add the subscriptions of a table; return the rows that were refused, with the reason.

        Parameters
        ----------
        table : columns `subscription` and `filter`, optionally `subscriber`, `expires`, `payload` (JSON text), `tags`
            (lists of texts) and `enabled`
        filters : the filters of the rows where they are parsed already, as from another language; then there need be no
            column `filter`

        Returns
        -------
        A table with columns `row`, `subscription` and `reason`. A second row with the same id is refused too.
        """
        self._check_writable()
        with uncollected():
            checked = read_subscriptions(table, self.schema, filters)
            with self._state.writing:
                self._state.put_all(checked.accepted.values(), checked.texts)
        return pa.Table.from_pylist(checked.rejects, schema=REJECTS)

    @classmethod
    def from_table(cls, table: Any, *, schema: Schema | None = None, clock: Clock | None = None) -> Engine:
        """An engine with the subscriptions of a table, all of them or none.

        Parameters
        ----------
        table : as for `subscribe_many`

        Raises
        ------
        SubscriptionError
            If a row is refused; the message names the first and counts them.
        """
        engine = cls(schema, clock=clock)
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
        offsets : where the sides of each subscription begin, and the end of the last
        attribute : the number of each side's attribute
        subscribers : who wants the events, a list of texts and None

        Examples
        --------
        >>> import thatch
        >>> boxes = thatch.Engine.from_columns(["a", "b"], ["x", "y"], [[0, 0], [5, 5]], [[9, 9], [6, 6]])
        >>> boxes.match({"x": 5, "y": 7})
        ['a']
        """
        bounds = BoundsTable.of(subscriptions, attributes, low, high, offsets, attribute, subscribers)
        return cls._of(*bounds.build(GrowingIndex(background=True)), None)

    def unsubscribe(self, subscription: str) -> None:
        """Remove a subscription; raises `UnknownSubscriptionError` if there is none of that id."""
        self._check_writable()
        with self._state.writing:
            self._state.drop([self._slot(subscription)])

    def disable(self, subscription: str) -> None:
        """Let a subscription match nothing until `enable`; all else about it stays, also in files."""
        self._check_writable()
        with self._state.writing:
            slot = self._slot(subscription)
            if self._state.ids.detail(slot).parked is None:
                self._state.disable(slot)

    def enable(self, subscription: str) -> None:
        """Let a subscription match again that was disabled."""
        self._check_writable()
        with self._state.writing:
            slot = self._slot(subscription)
            if self._state.ids.detail(slot).parked is not None:
                self._state.enable(slot, self._filter_at(slot))

    def expire(self, now: Moment | None = None) -> list[str]:
        """Remove what has expired, by the clock or by `now`; return the ids in order."""
        self._check_writable()
        when = self._moment(now)
        with self._state.writing:
            ids = self._state.ids
            slots = ids.taken()
            gone = slots[ids.expiry(slots) <= when]
            names = ids.names(gone)
            if names:
                self._state.drop(gone.tolist())
                ids.look_for_soonest()
            return names

    def compact(self) -> None:
        """Merge everything and free what is no longer used, now; matching is quickest afterwards."""
        self._check_writable()
        with self._state.writing:
            self._state.merger.wait()
            self._state.renumber()

    def tally(self, *, on: bool = True) -> None:
        """Count candidates and matches of every subscription from now on, or stop and forget the counts."""
        with self._state.writing:
            self._state.tally(on=on)

    # --- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> None:
        """Write the engine to a file; without a path, to the one it was opened from with mode="a".

        Raises `OutputError` if there is a file already, unless asked to `overwrite` it, or if it cannot be written.
        """
        if path is None and self._path is None:
            raise IndexFileError("No path to save to: the engine was not opened from a file")
        if path is None:
            self._check_writable()
        target = Path(path) if path is not None else self._path
        assert target is not None
        with self._state.writing:
            overwrite = overwrite or path is None
            write_engine(target, self._state.index, self._state.ids, self.schema, overwrite=overwrite)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        mode: Literal["r", "a"] = "r",
        *,
        clock: Clock | None = None,
    ) -> Engine:
        """Open a saved engine. Its file is mapped into memory, which processes that open it share.

        Parameters
        ----------
        mode : "r" refuses changes, "a" takes them and `save()` writes them back
        """
        if mode not in ("r", "a"):
            raise IndexFileError('mode "r" or "a"', shown(mode))
        where = Path(path)
        engine = cls._of(*read_engine(where, writable=mode == "a", background=True), clock)
        engine._path, engine._is_read_only = where, mode == "r"  # noqa: SLF001 - its own kind
        return engine

    def __reduce__(self) -> tuple[Any, ...]:
        with self._state.writing:
            content = container.dumps(*pack_engine(self._state.index, self._state.ids, self.schema))
        return (_unpickle, (content, self._state.index.background))

    def _check_writable(self) -> None:
        if self._is_read_only:
            raise ReadOnlyError('The engine is read-only: open it with mode="a"', where=str(self._path))


def _unpickle(content: bytes, background: bool) -> Engine:  # noqa: FBT001 - the other half of __reduce__
    arrays = container.loads(content, writable=True)
    return Engine._of(*unpack_engine(arrays, "a pickle", background=background))  # noqa: SLF001 - its other half
