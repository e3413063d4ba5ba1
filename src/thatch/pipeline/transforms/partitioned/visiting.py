"""Match events in the shards that they visit.

A task gets the rows of a replica in order: the bytes of its index, then its events. It holds one index and one piece of
matches at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import Engine
from thatch.errors import SparkError
from thatch.pipeline.columns import EVENT, EVENTS, HOUR, SLOT, SUBSCRIBER, SUBSCRIPTION, DataFrame, f, quote
from thatch.pipeline.tasks import Batches
from thatch.pipeline.transforms.events import HOURS, KEY, EventReader
from thatch.pipeline.transforms.mapped import hour_start
from thatch.pipeline.transforms.partitioned.routing import REPLICA, Replicas, estimate_replicas, route_events
from thatch.pipeline.transforms.partitioned.shards import BYTES, PART, SHARD, Shards, task_folder

__all__ = ["match_counts", "match_hours", "match_pairs"]

_ROWS = 1 << 16  # of a batch that goes back to Spark
_AFTER = 2**31 - 1  # sorts events after all parts of the index


def match_pairs(log: DataFrame, shards: Shards, reader: EventReader) -> DataFrame:
    """Who wants which event: `event`, `subscription`."""
    return _pairs_with_subscribers(log, shards, reader).select(EVENT, SUBSCRIPTION)


def match_counts(log: DataFrame, shards: Shards, reader: EventReader) -> DataFrame:
    """How many events each subscription gets, zero included: `subscription`, `events`."""
    replicas = estimate_replicas(log, shards, reader)
    task = partial(_count, reader, frozenset(replicas.first.tolist()))
    schema = f"{SUBSCRIPTION} string, {EVENTS} bigint"
    counted = _indexes_then_events(log, shards, replicas, reader).mapInArrow(task, schema)
    return counted.groupBy(SUBSCRIPTION).agg(f.sum(EVENTS).alias(EVENTS))


def match_hours(log: DataFrame, shards: Shards, reader: EventReader) -> DataFrame:
    """How many events each subscriber gets in each hour: `subscriber`, `hour`, `events`.

    An event that a subscriber wants for subscriptions in several shards is one delivery, so pairs are shuffled.
    """
    key = f.struct(f.col(f"`{KEY}`").alias(EVENT), f.col(f"`{HOURS}`").alias(HOUR))
    found = _pairs_with_subscribers(log.withColumn(KEY, key).drop(HOURS), shards, reader)
    who = f.coalesce(SUBSCRIBER, SUBSCRIPTION).alias(SUBSCRIBER)
    deliveries = found.select(who, f"{EVENT}.{EVENT}", f"{EVENT}.{HOUR}").dropDuplicates()
    counted = deliveries.groupBy(SUBSCRIBER, HOUR).agg(f.count("*").alias(EVENTS))
    return counted.select(SUBSCRIBER, hour_start(), EVENTS)


def _pairs_with_subscribers(log: DataFrame, shards: Shards, reader: EventReader) -> DataFrame:
    from pyspark.sql.types import StringType, StructField, StructType

    names = (StructField(SUBSCRIPTION, StringType()), StructField(SUBSCRIBER, StringType()))
    schema = StructType([StructField(EVENT, log.schema[KEY].dataType), *names])
    replicas = estimate_replicas(log, shards, reader)
    together = _indexes_then_events(log, shards, replicas, reader)
    return together.mapInArrow(partial(_find_pairs, reader), schema)


def _indexes_then_events(
    log: DataFrame, shards: Shards, replicas: Replicas, reader: EventReader
) -> DataFrame:
    """Bring the rows of each replica to one task, the bytes of its index before its events."""
    names = log.sparkSession.createDataFrame(replicas.pairs(), f"`{SHARD}` int, `{REPLICA}` int")
    nothing = (f.lit(None).cast(field.dataType).alias(field.name) for field in log.schema.fields)
    indexes = shards.rows.join(f.broadcast(names), SHARD).select(
        f"`{REPLICA}`", f"`{PART}`", f"`{BYTES}`", *nothing
    )
    events = route_events(log, shards, replicas, reader).select(
        f"`{REPLICA}`",
        f.lit(_AFTER).alias(PART),
        f.lit(None).cast("binary").alias(BYTES),
        *map(quote, log.columns),
    )
    together = indexes.union(events).repartitionById(replicas.total, f.col(f"`{REPLICA}`"))
    return together.sortWithinPartitions(f"`{REPLICA}`", f"`{PART}`")


# --- in workers ------------------------------------------------------------------------------------------------------


class _Visit:
    """One replica: its index as it arrives, then its engine."""

    def __init__(self, replica: int, folder: Path) -> None:
        self.replica = replica
        self._path = folder / f"{replica}.thatch"
        self._engine: Engine | None = None
        self._names: tuple[pa.Array, pa.Array] | None = None
        self._parts = 0

    def take(self, parts: pa.Array, numbers: npt.NDArray[np.int32]) -> None:
        """Write the next parts of the index."""
        if not np.array_equal(numbers, np.arange(self._parts, self._parts + len(numbers))):
            raise SparkError(f"part {self._parts} of an index", f"parts {numbers[:3].tolist()}")
        self._parts += len(numbers)
        with self._path.open("ab") as file:
            for part in parts:
                file.write(part.as_buffer())

    def engine(self) -> Engine:
        """The engine of the shard, mapped; all parts must have arrived."""
        if self._engine is None:
            self._engine = Engine.open(self._path)
        return self._engine

    def names(self) -> tuple[pa.Array, pa.Array]:
        """The ids and the subscribers of all slots."""
        if self._names is None:
            self._names = self.engine().ids(), self.engine().subscribers()
        return self._names

    def close(self) -> None:
        self._engine = self._names = None
        self._path.unlink(missing_ok=True)


def _visits(batches: Batches) -> Iterator[tuple[_Visit, pa.RecordBatch | None]]:
    """Each replica with its events, batch by batch, and with None at its end."""
    with task_folder() as folder:
        visit: _Visit | None = None
        for batch in batches:
            replicas, parts = (batch.column(name).to_numpy() for name in (REPLICA, PART))
            is_event = parts == _AFTER
            changes = np.flatnonzero((np.diff(replicas) != 0) | np.diff(is_event)) + 1
            for start, end in pairwise([0, *changes.tolist(), len(replicas)]):
                if start == end:
                    continue
                if visit is None or visit.replica != replicas[start]:
                    if visit is not None:
                        yield visit, None
                        visit.close()
                    visit = _Visit(int(replicas[start]), folder)
                piece = batch.slice(start, end - start)
                if is_event[start]:
                    yield visit, piece.drop_columns([REPLICA, PART, BYTES])
                else:
                    visit.take(piece.column(BYTES), parts[start:end])
        if visit is not None:
            yield visit, None
            visit.close()


def _find_pairs(reader: EventReader, batches: Batches) -> Batches:
    for visit, batch in _visits(batches):
        if batch is None:
            continue
        keys = batch.column(KEY)
        ids, subscribers = visit.names()
        for piece in reader.pieces(visit.engine(), batch):
            for start in range(0, piece.num_rows, _ROWS):
                part = piece.slice(start, _ROWS)
                slots = part.column(SLOT)
                who = subscribers.take(slots).cast(pa.string())
                columns = [keys.take(part.column(EVENT)), ids.take(slots), who]
                yield pa.RecordBatch.from_arrays(columns, [EVENT, SUBSCRIPTION, SUBSCRIBER])


def _count(reader: EventReader, first: frozenset[int], batches: Batches) -> Batches:
    """Count events by subscription; the replicas `first`, one of each shard, also list those that got none."""
    total = np.zeros(0, np.int64)
    for visit, batch in _visits(batches):
        engine = visit.engine()
        if not len(total):
            total = np.zeros(len(engine.ids()), np.int64)
        if batch is not None:
            total += reader.counts(engine, batch)
            continue
        slots = np.arange(len(total)) if visit.replica in first else np.flatnonzero(total)
        for start in range(0, len(slots), _ROWS):
            some = slots[start : start + _ROWS]
            columns = [engine.ids().take(pa.array(some)), pa.array(total[some])]
            yield pa.RecordBatch.from_arrays(columns, [SUBSCRIPTION, EVENTS])
        total = np.zeros(0, np.int64)
