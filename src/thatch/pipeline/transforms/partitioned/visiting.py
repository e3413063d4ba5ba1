"""A slot's work: open the index that came as rows of bytes, and match the events that came after it.

Tasks get the rows of a slot in this order, bytes first, and keep one index and one piece of matches at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine import Engine
from thatch.errors import SparkError
from thatch.pipeline.schemas import EVENT, EVENTS, PLACE, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.events import KEY, Reading
from thatch.pipeline.transforms.partitioned.routing import SLOT, Slots, quoted, routed
from thatch.pipeline.transforms.partitioned.shards import BYTES, PART, SHARD, Shards, scratch

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["visited_counts", "visited_pairs"]

_ROWS = 1 << 16  # of a batch that goes back to Spark
_AFTER = 2**31 - 1  # the part of an event: after all parts of the index

Batches = Iterator[pa.RecordBatch]


def visited_pairs(
    log: DataFrame, shards: Shards, slots: Slots, reading: Reading, now: float | None = None
) -> DataFrame:
    """Who wants which event: `event`, `subscription`, `subscriber`."""
    from pyspark.sql.types import StringType, StructField, StructType

    names = (StructField(SUBSCRIPTION, StringType()), StructField(SUBSCRIBER, StringType()))
    schema = StructType([StructField(EVENT, log.schema[KEY].dataType), *names])
    return _together(log, shards, slots, reading).mapInArrow(_Pairs(reading, now), schema)


def visited_counts(
    log: DataFrame, shards: Shards, slots: Slots, reading: Reading, now: float | None = None
) -> DataFrame:
    """How many events each subscription gets, also none: `subscription`, `events`."""
    from pyspark.sql import functions as f

    counted = _together(log, shards, slots, reading).mapInArrow(
        _Counts(reading, now, frozenset(slots.first.tolist())), f"{SUBSCRIPTION} string, {EVENTS} bigint"
    )
    return counted.groupBy(SUBSCRIPTION).agg(f.sum(EVENTS).alias(EVENTS))


def _together(log: DataFrame, shards: Shards, slots: Slots, reading: Reading) -> DataFrame:
    """The rows of each slot in one task, the bytes of its index before its events."""
    from pyspark.sql import functions as f

    names = log.sparkSession.createDataFrame(slots.pairs(), f"`{SHARD}` int, `{SLOT}` int")
    nothing = (f.lit(None).cast(field.dataType).alias(field.name) for field in log.schema.fields)
    indexes = shards.rows.join(f.broadcast(names), SHARD).select(
        f"`{SLOT}`", f"`{PART}`", f"`{BYTES}`", *nothing
    )
    events = routed(log, shards, slots, reading).select(
        f"`{SLOT}`", f.lit(_AFTER).alias(PART), f.lit(None).cast("binary").alias(BYTES), *_columns(log)
    )
    return (
        indexes.union(events)
        .repartitionById(slots.total, f.col(f"`{SLOT}`"))
        .sortWithinPartitions(f"`{SLOT}`", f"`{PART}`")
    )


class _Visit:
    """One slot: its index as it arrives, then its engine."""

    def __init__(self, slot: int, folder: Path) -> None:
        self.slot = slot
        self._path = folder / f"{slot}.thatch"
        self._engine: Engine | None = None
        self._names: tuple[pa.Array, pa.Array] | None = None
        self._parts = 0

    def take(self, parts: pa.Array, numbers: npt.NDArray[np.int32]) -> None:
        """The next parts of the index."""
        if not np.array_equal(numbers, np.arange(self._parts, self._parts + len(numbers))):
            raise SparkError(f"part {self._parts} of an index", f"parts {numbers[:3].tolist()}")
        self._parts += len(numbers)
        with self._path.open("ab") as file:
            for part in parts:
                file.write(part.as_buffer())

    def engine(self) -> Engine:
        """The engine of the shard, mapped; all parts must have come."""
        if self._engine is None:
            self._engine = Engine.open(self._path)
        return self._engine

    def names(self) -> tuple[pa.Array, pa.Array]:
        """The ids and the subscribers of all places."""
        if self._names is None:
            self._names = self.engine().ids(), self.engine().subscribers()
        return self._names

    def close(self) -> None:
        self._engine = self._names = None
        self._path.unlink(missing_ok=True)


def _visits(batches: Batches) -> Iterator[tuple[_Visit, pa.RecordBatch | None]]:
    """Each slot with its events, batch by batch, and with None at its end."""
    with scratch() as folder:
        visit: _Visit | None = None
        for batch in batches:
            slots, parts = (batch.column(name).to_numpy() for name in (SLOT, PART))
            is_event = parts == _AFTER
            changes = np.flatnonzero((np.diff(slots) != 0) | np.diff(is_event)) + 1
            for start, end in pairwise([0, *changes.tolist(), len(slots)]):
                if start == end:
                    continue
                if visit is None or visit.slot != slots[start]:
                    if visit is not None:
                        yield visit, None
                        visit.close()
                    visit = _Visit(int(slots[start]), folder)
                piece = batch.slice(start, end - start)
                if is_event[start]:
                    yield visit, piece.drop_columns([SLOT, PART, BYTES])
                else:
                    visit.take(piece.column(BYTES), parts[start:end])
        if visit is not None:
            yield visit, None
            visit.close()


@dataclass(frozen=True, slots=True)
class _Pairs:
    reading: Reading
    now: float | None

    def __call__(self, batches: Batches) -> Batches:
        for visit, batch in _visits(batches):
            if batch is None:
                continue
            engine, keys = visit.engine(), batch.column(KEY)
            ids, subscribers = visit.names()
            for piece in self.reading.pieces(engine, batch, self.now):
                for start in range(0, piece.num_rows, _ROWS):
                    part = piece.slice(start, _ROWS)
                    places = part.column(PLACE)
                    who = subscribers.take(places).cast(pa.string())
                    columns = [keys.take(part.column(EVENT)), ids.take(places), who]
                    yield pa.RecordBatch.from_arrays(columns, [EVENT, SUBSCRIPTION, SUBSCRIBER])


@dataclass(frozen=True, slots=True)
class _Counts:
    reading: Reading
    now: float | None
    first: frozenset[int]  # one slot of each shard, which also tells who got nothing

    def __call__(self, batches: Batches) -> Batches:
        total = np.zeros(0, np.int64)
        for visit, batch in _visits(batches):
            engine = visit.engine()
            if not len(total):
                total = np.zeros(len(engine.ids()), np.int64)
            if batch is not None:
                total += self.reading.counts(engine, batch, self.now)
                continue
            yield from self._told(engine.ids(), total, is_first=visit.slot in self.first)
            total = np.zeros(0, np.int64)

    @staticmethod
    def _told(ids: pa.Array, total: npt.NDArray[np.int64], *, is_first: bool) -> Batches:
        places = np.arange(len(total)) if is_first else np.flatnonzero(total)
        for start in range(0, len(places), _ROWS):
            some = places[start : start + _ROWS]
            yield pa.RecordBatch.from_arrays(
                [ids.take(pa.array(some)), pa.array(total[some])], [SUBSCRIPTION, EVENTS]
            )


def _columns(log: DataFrame) -> list[Column]:
    from pyspark.sql import functions as f

    return [f.col(quoted(name)) for name in log.columns]
