"""Events as long rows, one a value, which Spark's own sketches then take attribute by attribute.

======== ============ ======== ====== ======== ======= ======
kind     key          weight   rank   number   whole   text
======== ============ ======== ====== ======== ======= ======
VALUE    attribute    events   1 … 6  if 5     see     if 6
SET      attributes   events
EVENTS                events
REJECTED reason       rows
MISFITS               values
======== ============ ======== ====== ======== ======= ======

`weight` of a value is 0 but for one row of an attribute and batch, which has the number of events that have the
attribute; `rank` is that of the line; `whole` is the number itself if no double equals it. Plain columns are taken as
they are, column by column; other events are read as everywhere, one by one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from thatch.engine.tables import check_table, numbered_rows
from thatch.errors import EventError
from thatch.model.events import read_event
from thatch.model.lines import RANK_NUMBER, RANK_TEXT, Cut
from thatch.model.profile.counting import REASON, REASONS, values_in
from thatch.model.schema import Schema
from thatch.pipeline.transforms.events import Reading
from thatch.pipeline.transforms.profiling.columns import Column, plain_columns, present_sets

__all__ = ["EVENTS", "LONG", "MISFITS", "REJECTED", "SET", "VALUE", "Flatten", "flattened"]

VALUE, SET, EVENTS, REJECTED, MISFITS = range(5)

# As Spark and as Arrow write it.
LONG = "kind tinyint, key string, weight bigint, rank tinyint, number double, whole bigint, text string"
_LONG = pa.schema(
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
_EVENTS_AT_ONCE = 8_192  # that are read one by one and held as Python objects


@dataclass(frozen=True, slots=True)
class Flatten:
    """Batches of events to batches of long rows, for `mapInArrow`."""

    reading: Reading
    schema: Schema | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        told: list[str] = []
        for batch in batches:
            yield from flattened(self.reading.attributes(batch), self.reading, self.schema, told)


def flattened(
    table: pa.Table, reading: Reading, schema: Schema | None, told: list[str]
) -> Iterator[pa.RecordBatch]:
    """The long rows of a table of events.

    Parameters
    ----------
    told : reasons why rows were refused so far, which grows
    """
    columns = plain_columns(table, reading.nulls) if reading.json is None and schema is None else None
    if columns is not None:
        for column in columns:
            if len(column.rank):
                yield _values(column)
        sets, events = present_sets(columns, table.num_rows), table.num_rows
        yield _others([(SET, _set_key(keys), count) for keys, count in sets] + [(EVENTS, "", events)])
        return
    check_table(table, reading.nulls, reading.json)
    for start in range(0, table.num_rows, _EVENTS_AT_ONCE):
        yield from _read_one_by_one(table.slice(start, _EVENTS_AT_ONCE), reading, schema, told)


def _read_one_by_one(
    table: pa.Table, reading: Reading, schema: Schema | None, told: list[str]
) -> Iterator[pa.RecordBatch]:
    places: dict[str, list[Cut]] = {}
    sets: Counter[tuple[str, ...]] = Counter()
    refused: Counter[str] = Counter()
    misfits = 0
    refuse = _refusing(refused, told)
    for row, event in numbered_rows(table, nulls=reading.nulls, json_column=reading.json, reject=refuse):
        try:
            record = read_event(event, schema)
        except EventError as error:
            refuse(row, str(error))
            continue
        misfits += record.misfits
        keys = set()
        for key, place in values_in(record):
            known = places.get(key)
            if known is None:
                known = places[key] = []
            known.append(place)
            keys.add(key)
        sets[tuple(sorted(keys))] += 1
    present: Counter[str] = Counter()
    for each, count in sets.items():
        present.update(dict.fromkeys(each, count))
    rows = [_values(_column(key, found, present[key])) for key, found in places.items()]
    if rows:
        yield from pa.Table.from_batches(rows).combine_chunks().to_batches()
    yield _others(
        [(SET, _set_key(keys), count) for keys, count in sets.items()]
        + [(REJECTED, reason, count) for reason, count in refused.items()]
        + [(EVENTS, "", sets.total()), (MISFITS, "", misfits)]
    )


def _refusing(refused: Counter[str], told: list[str]) -> Callable[[int, str], None]:
    def refuse(_: int, reason: str) -> None:
        reason = reason[:REASON]
        if reason not in told and len(told) < REASONS:
            told.append(reason)
        refused[reason if reason in told else ""] += 1

    return refuse


def _column(key: str, places: list[Cut], events: int) -> Column:
    """The values of one attribute that was read one by one."""
    ranks = [place[0] for place in places]
    numbers = [place[1] if place[0] == RANK_NUMBER else None for place in places]
    texts = [place[1] if place[0] == RANK_TEXT else None for place in places]
    return Column(
        key,
        events,
        pa.array(ranks, pa.int8()),
        # -0.0 is 0.0
        pa.array([None if number is None else float(number) + 0.0 for number in numbers], pa.float64()),
        pa.array([number if _is_wide(number) else None for number in numbers], pa.int64()),
        pa.array(texts, pa.string()),
    )


def _is_wide(number: Any) -> bool:
    return type(number) is int and float(number) != number


def _values(column: Column) -> pa.RecordBatch:
    size = len(column.rank)
    weights = pa.array([column.events] + [0] * (size - 1), pa.int64())
    kinds, keys = pa.repeat(pa.scalar(VALUE, pa.int8()), size), pa.repeat(column.key, size)
    return pa.RecordBatch.from_arrays(
        [kinds, keys, weights, column.rank, column.number, column.whole, column.text], schema=_LONG
    )


def _others(rows: list[tuple[int, str, int]]) -> pa.RecordBatch:
    nothing = [pa.nulls(len(rows), field.type) for field in list(_LONG)[3:]]
    kinds, keys, weights = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(kinds, pa.int8()), pa.array(keys, pa.string()), pa.array(weights, pa.int64()), *nothing],
        schema=_LONG,
    )


def _set_key(keys: tuple[str, ...]) -> str:
    return json.dumps(keys, ensure_ascii=False)
