"""Subscriptions on their way into an engine and out of it: read and checked one by one or as a table, and listed."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from math import isinf
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from thatch.engine.details import PLAIN, Detail, read_detail
from thatch.engine.ids import NEVER, Ids
from thatch.engine.tables import arrow_table, text_column
from thatch.errors import FilterError, SubscriptionError, TableError, ThatchError, shown
from thatch.matching.growing import GrowingIndex
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.values import check_id, finite

__all__ = [
    "REJECTS", "STOPWATCH", "SUBSCRIPTIONS", "SYSTEM_CLOCK", "CheckedSubscription", "CheckedTable", "Clock", "Moment", "read_subscription",
    "read_subscriptions", "seconds", "subscriptions_table", "tallies_table", "uncollected",
]  # fmt: skip

REJECTS = pa.schema({"row": pa.int64(), "subscription": pa.string(), "reason": pa.string()})
SUBSCRIPTIONS = pa.schema(
    [
        pa.field("subscription", pa.string(), nullable=False),
        pa.field("subscriber", pa.string()),
        pa.field("filter", pa.string(), nullable=False),
        pa.field("expires", pa.float64()),
    ]
)
_TALLIES = pa.schema({"subscription": pa.string(), "candidates": pa.int64(), "matches": pa.int64()})

Moment = float | datetime
Clock = Callable[[], float]

SYSTEM_CLOCK: Clock = time.time
STOPWATCH: Clock = time.perf_counter


class CheckedSubscription(NamedTuple):
    """A subscription whose parts are known to be good; `expires` is in seconds, infinity for never."""

    identity: str
    filter: Filter
    subscriber: str | None
    expires: float
    detail: Detail = PLAIN


class CheckedTable(NamedTuple):
    """The good subscriptions of a table and their filters as given, both by id, and the rows that were refused."""

    accepted: dict[str, CheckedSubscription]
    texts: dict[str, str]
    rejects: list[dict[str, Any]]


@contextmanager
def uncollected() -> Iterator[None]:
    """Hold back the collector of cyclic garbage: over many new objects that all stay it would take as long as making them."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def seconds(value: Moment, what: str) -> float:
    """Seconds since 1970 of a number or a datetime with a time zone: without one nobody knows which moment is meant."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            expected = "a datetime with a time zone, such as datetime.now(UTC)"
            raise SubscriptionError(expected, f"{shown(value)} without one", what)
        return value.timestamp()
    if finite(value) is None and not (isinstance(value, float) and isinf(value)):
        raise SubscriptionError("seconds since 1970 or a datetime", shown(value), what)
    return float(value)


def read_subscription(
    identity: Any,
    source: Any,
    subscriber: Any,
    expires: Any,
    schema: Schema | None,
    *,
    payload: Any = None,
    tags: Any = None,
) -> CheckedSubscription:
    """A subscription as a caller gave it, checked."""
    check_id(identity)
    if subscriber is not None:
        check_id(subscriber, "subscriber", shown(identity))
    filter = parse(source, schema)
    until = NEVER if expires is None else seconds(expires, "expires")
    is_plain = payload is None and tags is None
    detail = PLAIN if is_plain else read_detail(payload, tags, shown(identity))
    return CheckedSubscription(identity, filter, subscriber, until, detail)


def read_subscriptions(
    table: Any, schema: Schema | None, filters: Sequence[Filter] | None = None
) -> CheckedTable:
    """The subscriptions of a table; see `Engine.subscribe_many`."""
    source = arrow_table(table, "subscriptions")
    ids = text_column(source, "subscription", "subscriptions")
    sources: Sequence[Filter | str | None]
    if filters is None:
        sources = text_column(source, "filter", "subscriptions")
    elif len(filters) == len(ids):
        sources = filters
    else:
        raise TableError("a filter for each row", f"{len(filters):,} for {len(ids):,} rows", "filters")
    nothing: list[Any] = [None] * len(ids)
    has = set(source.column_names)
    subscribers = text_column(source, "subscriber", "subscriptions") if "subscriber" in has else nothing
    expiries = _moments(source.column("expires")) if "expires" in has else nothing
    details = _details(source, len(ids))
    checked = CheckedTable({}, {}, [])
    rows = zip(ids, sources, subscribers, expiries, details, strict=True)
    for row, (identity, text, subscriber, expires, detail) in enumerate(rows):
        try:
            if identity in checked.accepted:
                raise SubscriptionError("each id once in the table", f"{shown(identity)} again")
            if text is None:
                raise FilterError("filter text", "null")
            good = read_subscription(identity, text, subscriber, expires, schema)
            if detail is not None:
                good = good._replace(detail=_read_row(good, *detail))
            checked.accepted[good.identity] = good
            if isinstance(text, str):
                checked.texts[good.identity] = text
        except ThatchError as error:
            checked.rejects.append({"row": row, "subscription": identity, "reason": str(error)})
    return checked


_Detail = tuple[str | None, Any, bool | None]  # payload as JSON text, tags, whether it is enabled


def _details(table: pa.Table, rows: int) -> Sequence[_Detail | None]:
    """The columns `payload`, `tags` and `enabled`, as far as there are some."""
    names = set(table.column_names)
    if not names & {"payload", "tags", "enabled"}:
        return [None] * rows
    nothing: list[Any] = [None] * rows
    payloads = text_column(table, "payload", "subscriptions") if "payload" in names else nothing
    columns = [table.column(name).to_pylist() if name in names else nothing for name in ("tags", "enabled")]
    return list(zip(payloads, *columns, strict=True))


def _read_row(subscription: CheckedSubscription, payload: str | None, tags: Any, is_enabled: Any) -> Detail:
    where = shown(subscription.identity)
    try:
        value = None if payload is None else json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise SubscriptionError("a payload as JSON text", f"{shown(payload)} ({error})", where) from None
    if is_enabled not in (None, True, False):
        raise SubscriptionError("true or false in `enabled`", shown(is_enabled), where)
    detail = read_detail(value, tags, where)
    return detail._replace(parked=str(subscription.filter)) if is_enabled is False else detail


def _moments(column: pa.ChunkedArray) -> list[Any]:
    """A column of moments as Python values; timestamps without a zone are in UTC, as everywhere in tables."""
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
        return [None if each is None else each / 1e6 for each in micros.to_pylist()]
    return column.to_pylist()  # type: ignore[no-any-return]  # Arrow has no types


def subscriptions_table(
    index: GrowingIndex, ids: Ids, subscriber: str | None = None, tag: str | None = None
) -> pa.Table:
    """The subscriptions in order, all or those of a subscriber or with a tag; the caller holds the lock."""
    slots = ids.taken()
    if tag is not None:
        slots = np.array([slot for slot in slots.tolist() if tag in ids.detail(slot).tags], np.int64)
    if subscriber is not None:
        slots = slots[np.array([who == subscriber for who in ids.subscribers(slots)], np.bool_)]
    expiry = ids.expiry(slots)
    details = [ids.detail(slot) for slot in slots.tolist()]
    texts = [
        each.parked or str(index.current.filter(slot))
        for slot, each in zip(slots.tolist(), details, strict=True)
    ]
    columns = [
        pa.array(ids.names(slots), pa.string()),
        pa.array(ids.subscribers(slots), pa.string()),
        pa.array(texts, pa.string()),
        pa.array(expiry, pa.float64(), mask=expiry == NEVER),
    ]
    table = pa.Table.from_arrays(columns, schema=SUBSCRIPTIONS)
    if not ids.details:
        return table
    table = table.append_column("payload", pa.array([each.payload for each in details], pa.string()))
    table = table.append_column(
        "tags", pa.array([list(each.tags) for each in details], pa.list_(pa.string()))
    )
    return table.append_column("enabled", pa.array([each.parked is None for each in details], pa.bool_()))


def tallies_table(index: GrowingIndex, ids: Ids) -> pa.Table:
    """Candidates and matches of each subscription in order; the caller holds the lock."""
    slots = ids.taken()
    counts = np.zeros((ids.slots, 2), np.int64)
    known = index.current.tallies()[: ids.slots]
    counts[: len(known)] = known  # a disabled subscription may lie behind all that the index knows
    counts = counts[slots]
    names = pa.array(ids.names(slots), pa.string())
    return pa.Table.from_arrays([names, pa.array(counts[:, 0]), pa.array(counts[:, 1])], schema=_TALLIES)
