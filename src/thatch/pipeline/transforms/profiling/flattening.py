"""Flatten events into long rows, one a value, for Spark's sketches.

======== ============ ======== ====== ======== ======= ======
kind     key          weight   rank   number   whole   text
======== ============ ======== ====== ======== ======= ======
VALUE    attribute    events   1 … 6  if 5     see     if 6
SET      attributes   events
EVENTS                events
REJECTED reason       rows
MISFITS               values
======== ============ ======== ====== ======== ======= ======

The `weight` of a value is 0, except in one row of each attribute and batch, which has the number of events that have the
attribute; `rank` is that of the line; `whole` is the number itself if no double equals it. Plain columns are flattened
column by column; other events are read one by one, as in the rest of Thatch.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pyarrow as pa

from thatch.engine.tables import check_table, numbered_rows
from thatch.errors import EventError
from thatch.model.events import read_event
from thatch.model.lines import RANK_NUMBER, RANK_TEXT, Cut
from thatch.model.profile.counting import REASON, REASONS, values_in
from thatch.model.schema import Schema
from thatch.pipeline.tasks import Batches
from thatch.pipeline.transforms.events import EventReader
from thatch.pipeline.transforms.profiling.columns import ValueColumn, count_sets, number_columns, read_columns

__all__ = ["EVENTS", "LONG", "MISFITS", "REJECTED", "SET", "VALUE", "flatten", "flatten_batches"]

VALUE, SET, EVENTS, REJECTED, MISFITS = range(5)

LONG = pa.schema(
    [
        ("kind", pa.int8()),
        ("key", pa.string()),
        ("weight", pa.int64()),
        ("rank", pa.int8()),
        ("number", pa.float64()),
        ("whole", pa.int64()),
        ("text", pa.string()),
    ]
)
_EVENTS_AT_ONCE = 8_192  # that are Python objects at the same time


def flatten_batches(reader: EventReader, schema: Schema | None, batches: Batches) -> Batches:
    """Flatten batches of events, in a worker."""
    reasons: list[str] = []
    for batch in batches:
        yield from flatten(reader.attributes(batch), reader, schema, reasons)


def flatten(table: pa.Table, reader: EventReader, schema: Schema | None, reasons: list[str]) -> Batches:
    """Flatten a table of events into long rows; `reasons`, why rows were refused so far, grows."""
    columns = read_columns(table, reader.nulls) if reader.json is None and schema is None else None
    if columns is not None:
        for column in columns:
            if len(column.rank):
                yield _value_rows(column)
        sets, events = count_sets(columns, table.num_rows), table.num_rows
        yield _other_rows([(SET, _set_key(keys), count) for keys, count in sets] + [(EVENTS, "", events)])
        return
    check_table(table, reader.nulls, reader.json)
    for start in range(0, table.num_rows, _EVENTS_AT_ONCE):
        yield from _flatten_one_by_one(table.slice(start, _EVENTS_AT_ONCE), reader, schema, reasons)


def _flatten_one_by_one(
    table: pa.Table, reader: EventReader, schema: Schema | None, reasons: list[str]
) -> Batches:
    values: dict[str, list[Cut]] = {}
    sets: Counter[tuple[str, ...]] = Counter()
    refused: Counter[str] = Counter()
    misfits = 0
    reject = _count_reasons(refused, reasons)
    for row, event in numbered_rows(table, nulls=reader.nulls, json_column=reader.json, reject=reject):
        try:
            record = read_event(event, schema)
        except EventError as error:
            reject(row, str(error))
            continue
        misfits += record.misfits
        keys = set()
        for key, value in values_in(record):
            values.setdefault(key, []).append(value)
            keys.add(key)
        sets[tuple(sorted(keys))] += 1
    present: Counter[str] = Counter()
    for each, count in sets.items():
        present.update(dict.fromkeys(each, count))
    rows = [_value_rows(_column(key, found, present[key])) for key, found in values.items()]
    if rows:
        yield from pa.Table.from_batches(rows).combine_chunks().to_batches()
    yield _other_rows(
        [(SET, _set_key(keys), count) for keys, count in sets.items()]
        + [(REJECTED, reason, count) for reason, count in refused.items()]
        + [(EVENTS, "", sets.total()), (MISFITS, "", misfits)]
    )


def _count_reasons(refused: Counter[str], reasons: list[str]) -> Callable[[int, str], None]:
    """Count refused rows by reason; reasons beyond the first few are counted as the empty one."""

    def reject(_: int, reason: str) -> None:
        reason = reason[:REASON]
        if reason not in reasons and len(reasons) < REASONS:
            reasons.append(reason)
        refused[reason if reason in reasons else ""] += 1

    return reject


def _column(key: str, values: list[Cut], events: int) -> ValueColumn:
    """The values of one attribute that were read one by one."""
    ranks = pa.array([value[0] for value in values], pa.int8())
    numbers = [value[1] if value[0] == RANK_NUMBER else None for value in values]
    texts = [value[1] if value[0] == RANK_TEXT else None for value in values]
    return ValueColumn(key, events, ranks, *number_columns(numbers), pa.array(texts, pa.string()))


def _value_rows(column: ValueColumn) -> pa.RecordBatch:
    size = len(column.rank)
    weights = pa.array([column.events] + [0] * (size - 1), pa.int64())
    kinds, keys = pa.repeat(pa.scalar(VALUE, pa.int8()), size), pa.repeat(column.key, size)
    return pa.RecordBatch.from_arrays(
        [kinds, keys, weights, column.rank, column.number, column.whole, column.text], schema=LONG
    )


def _other_rows(rows: list[tuple[int, str, int]]) -> pa.RecordBatch:
    nothing = [pa.nulls(len(rows), field.type) for field in list(LONG)[3:]]
    kinds, keys, weights = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(kinds, pa.int8()), pa.array(keys, pa.string()), pa.array(weights, pa.int64()), *nothing],
        schema=LONG,
    )


def _set_key(keys: tuple[str, ...]) -> str:
    return json.dumps(keys, ensure_ascii=False)
