"""Subscriptions on their way into an engine and out of it: read and checked one by one or as a table, and listed."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isinf
from typing import Any, NamedTuple

import pyarrow as pa

from thatch.engine.ids import NEVER, Ids
from thatch.engine.tables import arrow_table, text_column
from thatch.errors import FilterError, SubscriptionError, ThatchError, shown
from thatch.matching.growing import GrowingIndex
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.values import check_id, finite

__all__ = [
    "REJECTS", "SUBSCRIPTIONS", "CheckedSubscription", "CheckedTable", "Moment", "read_subscription",
    "read_subscriptions", "seconds", "subscriptions_table", "tallies_table",
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


class CheckedSubscription(NamedTuple):
    """A subscription whose parts are known to be good; `expires` is in seconds, infinity for never."""

    identity: str
    filter: Filter
    subscriber: str | None
    expires: float


class CheckedTable(NamedTuple):
    """The good subscriptions of a table and their filters as given, both by id, and the rows that were refused."""

    accepted: dict[str, CheckedSubscription]
    texts: dict[str, str]
    rejects: list[dict[str, Any]]


def seconds(value: Moment, what: str) -> float:
    """Seconds since 1970 of a number or a datetime (naive = UTC)."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if finite(value) is None and not (isinstance(value, float) and isinf(value)):
        raise SubscriptionError("seconds since 1970 or a datetime", shown(value), what)
    return float(value)


def read_subscription(
    identity: Any, source: Any, subscriber: Any, expires: Any, schema: Schema | None
) -> CheckedSubscription:
    """A subscription as a caller gave it, checked."""
    check_id(identity)
    if subscriber is not None:
        check_id(subscriber, "subscriber", shown(identity))
    filter = parse(source, schema)
    until = NEVER if expires is None else seconds(expires, "expires")
    return CheckedSubscription(identity, filter, subscriber, until)


def read_subscriptions(table: Any, schema: Schema | None) -> CheckedTable:
    """The subscriptions of a table; see `Engine.subscribe_many`."""
    source = arrow_table(table, "subscriptions")
    ids = text_column(source, "subscription", "subscriptions")
    filters = text_column(source, "filter", "subscriptions")
    nothing: list[Any] = [None] * len(ids)
    has = set(source.column_names)
    subscribers = text_column(source, "subscriber", "subscriptions") if "subscriber" in has else nothing
    expiries = source.column("expires").to_pylist() if "expires" in has else nothing
    checked = CheckedTable({}, {}, [])
    rows = zip(ids, filters, subscribers, expiries, strict=True)
    for row, (identity, text, subscriber, expires) in enumerate(rows):
        try:
            if identity in checked.accepted:
                raise SubscriptionError("each id once in the table", f"{shown(identity)} again")
            if text is None:
                raise FilterError("filter text", "null")
            good = read_subscription(identity, text, subscriber, expires, schema)
            checked.accepted[good.identity] = good
            checked.texts[good.identity] = text
        except ThatchError as error:
            checked.rejects.append({"row": row, "subscription": identity, "reason": str(error)})
    return checked


def subscriptions_table(index: GrowingIndex, ids: Ids) -> pa.Table:
    """All subscriptions in order; the caller holds the lock."""
    slots = ids.taken()
    expiry = ids.expiry(slots)
    columns = [
        pa.array(ids.names(slots), pa.string()),
        pa.array(ids.subscribers(slots), pa.string()),
        pa.array([str(index.current.filter(slot)) for slot in slots.tolist()], pa.string()),
        pa.array(expiry, pa.float64(), mask=expiry == NEVER),
    ]
    return pa.Table.from_arrays(columns, schema=SUBSCRIPTIONS)


def tallies_table(index: GrowingIndex, ids: Ids) -> pa.Table:
    """Candidates and matches of each subscription in order; the caller holds the lock."""
    slots = ids.taken()
    counts = index.current.tallies()[slots]
    names = pa.array(ids.names(slots), pa.string())
    return pa.Table.from_arrays([names, pa.array(counts[:, 0]), pa.array(counts[:, 1])], schema=_TALLIES)
