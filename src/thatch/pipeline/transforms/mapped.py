"""Plan (a): one index, built once and mapped by every worker; events are partitioned.

Each function gives a DataFrame whose work is done by tasks that keep no more than one piece of matches at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.pipeline.indexes import Index
from thatch.pipeline.schemas import EVENT, EVENTS, HOUR, PLACE, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.deliveries import Deliveries
from thatch.pipeline.transforms.events import HOURS, KEY, Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["counts", "hours", "numbered_pairs", "pairs"]

_ROWS = 1 << 16  # of a batch that goes back to Spark

Batches = Iterator[pa.RecordBatch]


def pairs(events: DataFrame, index: Index, reading: Reading, now: float | None = None) -> DataFrame:
    """Who wants which event: `event`, `subscription`."""
    schema = f"`{EVENT}` {dict(events.dtypes)[KEY]}, {SUBSCRIPTION} string"
    return events.mapInArrow(_Pairs(index, reading, now, is_named=True), schema)


def numbered_pairs(events: DataFrame, index: Index, reading: Reading, now: float | None = None) -> DataFrame:
    """The same with the number of a subscription in the index: `event`, `place`."""
    schema = f"`{EVENT}` {dict(events.dtypes)[KEY]}, {PLACE} int"
    return events.mapInArrow(_Pairs(index, reading, now, is_named=False), schema)


def counts(events: DataFrame, index: Index, reading: Reading, now: float | None = None) -> DataFrame:
    """How many events each subscription gets, also none: `subscription`, `events`."""
    from pyspark.sql import functions as f

    counted = events.mapInArrow(_Counts(index, reading, now), f"{PLACE} int, {EVENTS} bigint")
    none = events.sparkSession.range(index.places).select(
        f.col("id").cast("int").alias(PLACE), f.lit(0).cast("bigint").alias(EVENTS)
    )
    return (
        counted.union(none)
        .groupBy(PLACE)
        .agg(f.sum(EVENTS).alias(EVENTS))
        .mapInArrow(_Names(index), f"{SUBSCRIPTION} string, {EVENTS} bigint")
    )


def hours(events: DataFrame, index: Index, reading: Reading, now: float | None = None) -> DataFrame:
    """How many events each subscriber gets in each hour: `subscriber`, `hour`, `events`."""
    from pyspark.sql import functions as f

    schema = f"{SUBSCRIBER} string, {HOUR} int, {EVENTS} bigint"
    counted = events.mapInArrow(_Hours(index, reading, now), schema)
    hour = f.timestamp_seconds(f.col(HOUR).cast("bigint") * 3_600).alias(HOUR)
    return counted.groupBy(SUBSCRIBER, HOUR).agg(f.sum(EVENTS).alias(EVENTS)).select(SUBSCRIBER, hour, EVENTS)


@dataclass(frozen=True, slots=True)
class _Pairs:
    index: Index
    reading: Reading
    now: float | None
    is_named: bool

    def __call__(self, batches: Batches) -> Batches:
        engine = self.index.open()
        ids = engine.ids() if self.is_named else None
        read = self.reading
        for batch in batches:
            keys = batch.column(KEY)
            found = engine.match_pieces(
                read.attributes(batch),
                nulls=read.nulls,
                json=read.json,
                now=self.now,
                reject=read.refuse(keys),
            )
            for piece in found:
                for start in range(0, piece.num_rows, _ROWS):
                    part = piece.slice(start, _ROWS)
                    who = part.column(PLACE) if ids is None else ids.take(part.column(PLACE))
                    yield pa.RecordBatch.from_arrays(
                        [keys.take(part.column(EVENT)), who], [EVENT, PLACE if ids is None else SUBSCRIPTION]
                    )


@dataclass(frozen=True, slots=True)
class _Counts:
    index: Index
    reading: Reading
    now: float | None

    def __call__(self, batches: Batches) -> Batches:
        engine = self.index.open()
        read = self.reading
        total = np.zeros(self.index.places, np.int64)
        for batch in batches:
            refuse = read.refuse(batch.column(KEY))
            total += engine.count_batch(
                read.attributes(batch), nulls=read.nulls, json=read.json, now=self.now, reject=refuse
            )
        places = np.flatnonzero(total)
        for start in range(0, len(places), _ROWS):
            some = places[start : start + _ROWS]
            yield pa.RecordBatch.from_arrays(
                [pa.array(some, pa.int32()), pa.array(total[some])], [PLACE, EVENTS]
            )


@dataclass(frozen=True, slots=True)
class _Names:
    index: Index

    def __call__(self, batches: Batches) -> Batches:
        ids = self.index.open().ids()
        for batch in batches:
            named = pa.RecordBatch.from_arrays(
                [ids.take(batch.column(PLACE)), batch.column(EVENTS)], [SUBSCRIPTION, EVENTS]
            )
            yield named.filter(named.column(SUBSCRIPTION).is_valid())  # a place may be given up


@dataclass(frozen=True, slots=True)
class _Hours:
    index: Index
    reading: Reading
    now: float | None

    def __call__(self, batches: Batches) -> Batches:
        engine = self.index.open()
        read = self.reading
        names, who = _subscribers(engine.ids(), engine.subscribers())
        deliveries = Deliveries(who, len(names))
        for batch in batches:
            keys, hour = batch.column(KEY), batch.column(HOURS)
            table = read.attributes(batch)

            def pieces(start: int, count: int) -> Batches:
                refuse = read.refuse(keys.slice(start, count))  # noqa: B023 - used before the next batch
                return engine.match_pieces(
                    table.slice(start, count),  # noqa: B023
                    nulls=read.nulls,
                    json=read.json,
                    now=self.now,
                    reject=refuse,
                )

            deliveries.add(hour, pieces)
            if deliveries.is_large:
                yield from _told(names, deliveries)
        yield from _told(names, deliveries)


def _told(names: pa.Array, deliveries: Deliveries) -> Batches:
    who, hour, events = deliveries.taken()
    for start in range(0, len(who), _ROWS):
        end = start + _ROWS
        yield pa.RecordBatch.from_arrays(
            [names.take(who[start:end]), hour[start:end], events[start:end]], [SUBSCRIBER, HOUR, EVENTS]
        )


def _subscribers(ids: pa.Array, subscribers: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """All who get events, and the number of each place's: its subscriber, or its id where there is none."""
    named = pc.coalesce(subscribers.cast(pa.string()), ids.cast(pa.string()))
    encoded = named.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary, encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
