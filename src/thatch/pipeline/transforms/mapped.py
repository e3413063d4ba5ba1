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
from thatch.pipeline.schemas import EVENT, EVENTS, HOUR, PLACE, PLACES, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.counting import BLOCKS, blocks_of, named_counts
from thatch.pipeline.transforms.deliveries import Deliveries
from thatch.pipeline.transforms.events import HOURS, KEY, Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["counts", "hours", "pairs", "places"]

_ROWS = 1 << 16  # of a batch that goes back to Spark

Batches = Iterator[pa.RecordBatch]


def pairs(events: DataFrame, index: Index, reading: Reading, now: float | None = None) -> DataFrame:
    """Who wants which event: `event`, `subscription`."""
    schema = f"`{EVENT}` {dict(events.dtypes)[KEY]}, {SUBSCRIPTION} string"
    return events.mapInArrow(_Pairs(index, reading, now), schema)


def places(events: DataFrame, index: Index, reading: Reading, now: float | None = None) -> DataFrame:
    """The numbers in the index of those who want an event: `event`, `places`.

    An event has several rows where it has many places, or where they are found in several parts of the index. Lists cost
    much less than a row per pair on its way through Spark.
    """
    schema = f"`{EVENT}` {dict(events.dtypes)[KEY]}, {PLACES} array<int>"
    return events.mapInArrow(_Places(index, reading, now), schema)


def counts(events: DataFrame, index: Index, reading: Reading, now: float | None = None) -> DataFrame:
    """How many events each subscription gets, also none: `subscription`, `events`."""
    counted = events.mapInArrow(_Counts(index, reading, now), BLOCKS)
    return named_counts(counted, index)


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

    def __call__(self, batches: Batches) -> Batches:
        engine = self.index.open()
        ids = engine.ids()
        for batch in batches:
            keys = batch.column(KEY)
            for piece in self.reading.pieces(engine, batch, self.now):
                for start in range(0, piece.num_rows, _ROWS):
                    part = piece.slice(start, _ROWS)
                    columns = [keys.take(part.column(EVENT)), ids.take(part.column(PLACE))]
                    yield pa.RecordBatch.from_arrays(columns, [EVENT, SUBSCRIPTION])


@dataclass(frozen=True, slots=True)
class _Places:
    index: Index
    reading: Reading
    now: float | None

    def __call__(self, batches: Batches) -> Batches:
        engine = self.index.open()
        for batch in batches:
            keys = batch.column(KEY)
            for piece in self.reading.pieces(engine, batch, self.now, grouped=True):
                # Spark takes a row as a whole, so that no list may be long.
                yield from _split(keys.take(piece.column(EVENT)), piece.column("slots"))


def _split(keys: pa.Array, lists: pa.ListArray) -> Batches:
    """Rows of lists that are not longer than `_ROWS`, in batches of about as many places."""
    offsets = lists.offsets.to_numpy()
    sizes = np.diff(offsets)
    if len(sizes) and sizes.max() > _ROWS:
        parts = -(-sizes // _ROWS)
        keys = keys.take(pa.array(np.repeat(np.arange(len(sizes)), parts)))
        inside = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        offsets = np.append(np.repeat(offsets[:-1], parts) + inside * _ROWS, offsets[-1])
    lists = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), lists.values)
    start = 0
    while start < len(lists):
        end = max(start + 1, int(np.searchsorted(offsets, offsets[start] + _ROWS, side="right")) - 1)
        end = min(end, len(lists))
        yield pa.RecordBatch.from_arrays(
            [keys.slice(start, end - start), lists.slice(start, end - start)], [EVENT, PLACES]
        )
        start = end


@dataclass(frozen=True, slots=True)
class _Counts:
    index: Index
    reading: Reading
    now: float | None

    def __call__(self, batches: Batches) -> Batches:
        engine = self.index.open()
        total = np.zeros(self.index.places, np.int64)
        for batch in batches:
            total += self.reading.counts(engine, batch, self.now)
        yield from blocks_of(total)


@dataclass(frozen=True, slots=True)
class _Hours:
    index: Index
    reading: Reading
    now: float | None

    def __call__(self, batches: Batches) -> Batches:
        engine = self.index.open()
        names, who = _subscribers(engine.ids(), engine.subscribers())
        deliveries = Deliveries(who, len(names))
        for batch in batches:

            def pieces(start: int, count: int) -> Batches:
                some = batch.slice(start, count)  # noqa: B023 - used before the next batch
                return self.reading.pieces(engine, some, self.now)

            deliveries.add(batch.column(HOURS), pieces)
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
