"""Subscriptions as they come in, one by one or as a table: read and checked, but not in the set yet."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from thatch.engine.holding import Made
from thatch.engine.moments import moment
from thatch.engine.register import NEVER
from thatch.engine.tables import arrow_table, text_column
from thatch.errors import FilterError, SubscriptionError, ThatchError, shown
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.values import is_text

__all__ = ["REJECTS", "Intake", "read_subscription", "read_subscriptions"]

REJECTS = pa.schema(
    [pa.field("row", pa.int64()), pa.field("subscription", pa.string()), pa.field("reason", pa.string())]
)


class Intake(NamedTuple):
    """The subscriptions of a table and their filters as given, both by id, and the rows refused."""

    accepted: dict[str, Made]
    texts: dict[str, str]
    rejects: list[dict[str, Any]]


def read_subscription(
    identity: Any, source: Any, subscriber: Any, expires: Any, schema: Schema | None
) -> Made:
    """The checked parts of a subscription."""
    if not isinstance(identity, str) or not is_text(identity):
        raise SubscriptionError("a text as id", f"{shown(identity)} of type {type(identity).__name__}")
    if subscriber is not None and (not isinstance(subscriber, str) or not is_text(subscriber)):
        raise SubscriptionError("a text as subscriber", shown(subscriber), shown(identity))
    filter = parse(source, schema)
    return identity, filter, subscriber, NEVER if expires is None else moment(expires, "expires")


def read_subscriptions(table: Any, schema: Schema | None) -> Intake:
    """The subscriptions of a table; see `Engine.subscribe_many`."""
    source = arrow_table(table, "subscriptions")
    ids = text_column(source, "subscription", "subscriptions")
    filters = text_column(source, "filter", "subscriptions")
    nothing: list[Any] = [None] * len(ids)
    has = set(source.column_names)
    subscribers = text_column(source, "subscriber", "subscriptions") if "subscriber" in has else nothing
    expiries = source.column("expires").to_pylist() if "expires" in has else nothing
    intake = Intake({}, {}, [])
    for row, (identity, text, subscriber, expires) in enumerate(
        zip(ids, filters, subscribers, expiries, strict=True)
    ):
        try:
            if identity in intake.accepted:
                raise SubscriptionError("each id once in the table", f"{shown(identity)} again")
            if text is None:
                raise FilterError("filter text", "null")
            made = read_subscription(identity, text, subscriber, expires, schema)
            intake.accepted[made[0]] = made
            intake.texts[made[0]] = text
        except ThatchError as error:
            intake.rejects.append({"row": row, "subscription": identity, "reason": str(error)})
    return intake
