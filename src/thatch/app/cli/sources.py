"""What several commands read: engines from files of subscriptions, schemas from JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from thatch import Engine, Filter, Schema, ThatchError
from thatch.app.cli.output import note, progress
from thatch.engine.subscriptions import read_subscription
from thatch.errors import FilterError, SchemaError, SubscriptionError, shown
from thatch.formats.loaded import is_loaded, read_loaded
from thatch.formats.subscriptions import Subscriptions, read_subscriptions

__all__ = ["load_engine", "load_filters", "load_schema"]

_AT_ONCE = 10_000
_SHOWN = 5


def load_schema(path: Path | None) -> Schema | None:
    """A schema from a JSON file such as `{"qty": {"type": "Integer", "minimum": 0}}`."""
    if path is None:
        return None
    try:
        return Schema.from_description(json.loads(path.read_text(encoding="utf-8")))
    except SchemaError as error:
        where = f"{path}, {error.where}" if error.where else str(path)
        raise SchemaError(error.expected, error.got, where) from error
    except (OSError, ValueError, RecursionError) as error:
        expected = 'a schema such as {"qty": {"type": "Integer", "minimum": 0}}'
        raise SchemaError(expected, str(error), str(path)) from error


def load_engine(path: str, schema: Schema | None) -> Engine:
    """An engine with all subscriptions of a file that can be accepted; the others are told on standard error."""
    loaded = read_subscriptions(path)
    engine = Engine(schema)
    rejects = list(loaded.rejects)
    with progress("subscriptions", loaded.table.num_rows) as meter:
        seen: set[str] = set()
        for start in range(0, loaded.table.num_rows, _AT_ONCE):
            part = loaded.table.slice(start, _AT_ONCE)
            part, doubles = _without_doubles(part, start, loaded, seen)
            rejects += doubles
            refused = engine.subscribe_many(part.drop_columns("row"))
            numbers = part.column("row").to_pylist()
            rejects += [(numbers[each["row"]], each["reason"]) for each in refused.to_pylist()]
            meter.step(part.num_rows)
    if rejects:
        note(f"{len(rejects):,} subscriptions of {path} were refused (`thatch check {path}` tells all):")
        for row, reason in sorted(rejects)[:_SHOWN]:
            note(f"  row {row}: {reason}")
    return engine


def load_filters(path: str, schema: Schema | None) -> tuple[list[tuple[str, Filter]], list[tuple[int, str]]]:
    """Each subscription of a file that can be accepted, as its subscriber and its filter; and the others, with reasons.

    The file may be a folder of `thatch load`, too. Who has no subscriber is one of its own. Of several good rows with one
    id the first is accepted.
    """
    loaded = read_loaded(path) if is_loaded(path) else read_subscriptions(path)
    accepted: list[tuple[str, Filter]] = []
    rejects = list(loaded.rejects)
    seen: set[str] = set()
    names = loaded.table.column_names
    columns = [
        loaded.table.column(name).to_pylist() if name in names else [None] * loaded.table.num_rows
        for name in ("subscription", "subscriber", "filter", "expires")
    ]
    with progress("subscriptions", loaded.table.num_rows) as meter:
        for row, identity, subscriber, text, expires in zip(loaded.rows, *columns, strict=True):
            meter.step()
            try:
                if text is None:
                    raise FilterError("filter text", "null")
                made = read_subscription(identity, text, subscriber, expires, schema)
                if identity in seen:
                    raise SubscriptionError("each id once in the table", f"{shown(identity)} again")
            except ThatchError as error:
                rejects.append((row, str(error)))
                continue
            seen.add(identity)
            accepted.append((subscriber or identity, made[1]))
    return accepted, sorted(rejects)


def _without_doubles(
    part: pa.Table, start: int, loaded: Subscriptions, seen: set[str]
) -> tuple[pa.Table, list[tuple[int, str]]]:
    """A part of the table without ids that an earlier row has, and with the row numbers of the file."""
    keep, doubles = [], []
    for index, identity in enumerate(part.column("subscription").to_pylist()):
        row = loaded.rows[start + index]
        if identity is not None and identity in seen:
            doubles.append((row, f"Expected each id once in the file, got {identity!r} again"))
        else:
            keep.append(index)
            seen.add(identity)
    numbered = part.append_column("row", pa.array(loaded.rows[start : start + part.num_rows], pa.int64()))
    return numbered.take(pa.array(keep, pa.int64())), doubles
