"""Events on their way to the shards that may want them, and how hot shards are spread over several tasks.

A **slot** is a task's share of the work: one shard, and of the events that visit it all or a part. A shard that many
events visit has several slots, each with a copy of its index; which of them an event takes is decided by a hash of the
event, so that it takes the same one if its task has to run again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.pipeline.adapter import parallelism
from thatch.pipeline.failures import failures_told
from thatch.pipeline.indexes import Index
from thatch.pipeline.schemas import EVENT, EVENTS, PLACE
from thatch.pipeline.transforms.events import Reading
from thatch.pipeline.transforms.partitioned.shards import SHARD, Shards

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SLOT", "Slots", "quoted", "routed", "slots_of", "spread"]

SLOT = "thatch slot"
_SALT = "thatch salt"
_SAMPLE = 200_000  # events by which shards are found to be hot
_FEWEST, _MOST = 50_000, 2_000_000  # visits that are worth a slot of their own, and that one slot should have
_MOST_SLOTS = 20_000
_ROWS = 1 << 15  # of a batch that goes back to Spark

Batches = Iterator[pa.RecordBatch]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of each shard: the first, and how many."""

    first: Numbers
    count: Numbers

    @property
    def total(self) -> int:
        return int(self.count.sum())

    def pairs(self) -> list[tuple[int, int]]:
        """Each slot with its shard."""
        shards = np.repeat(np.arange(len(self.count)), self.count)
        return list(zip(shards.tolist(), range(self.total), strict=True))


def slots_of(log: DataFrame, shards: Shards, reading: Reading) -> Slots:
    """How many slots each shard should have, by a sample of the events.

    Parameters
    ----------
    log : events as `prepared` gives them
    """
    from pyspark.sql import functions as f

    with failures_told("counting the events"):
        events = log.count()
        share = min(1.0, _SAMPLE / max(events, 1))
        sample = log if share == 1 else log.sample(fraction=share, seed=1)
        visits = sample.mapInArrow(_Visits(shards.summaries, reading), f"`{SHARD}` int, {EVENTS} bigint")
        told = visits.groupBy(f"`{SHARD}`").agg(f.sum(EVENTS)).collect()
    by_shard = np.zeros(shards.count)
    for shard, count in told:
        by_shard[shard] = count / share
    return spread(by_shard, parallelism(log.sparkSession))


def spread(visits: npt.NDArray[np.float64], tasks: int) -> Slots:
    """Slots for shards that get so many visits, when so many tasks run at once."""
    total = float(visits.sum())
    each = min(max(total / (2 * tasks), _FEWEST), _MOST)
    each = max(each, total / _MOST_SLOTS)
    count = np.maximum(1, np.ceil(visits / each)).astype(np.int64)
    return Slots(np.cumsum(count) - count, count)


def routed(log: DataFrame, shards: Shards, slots: Slots, reading: Reading) -> DataFrame:
    """Events once for each shard that may want them: `SLOT` and the columns of the log."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import IntegerType, StructField, StructType

    salted = log.select(f.xxhash64(*(f.col(quoted(name)) for name in log.columns)).alias(_SALT), "*")
    schema = StructType([StructField(SLOT, IntegerType()), *log.schema.fields])
    return salted.mapInArrow(_Route(shards.summaries, slots, reading), schema)


def quoted(name: str) -> str:
    """A column's name as Spark takes any."""
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class _Visits:
    """How many events visit each shard."""

    summaries: Index
    reading: Reading

    def __call__(self, batches: Batches) -> Batches:
        engine = self.summaries.open()
        shards = engine.ids().cast(pa.int32())
        total = np.zeros(len(shards), np.int64)
        for batch in batches:
            total += self.reading.counts(engine, batch, None)
        yield pa.RecordBatch.from_arrays([shards, pa.array(total)], [SHARD, EVENTS])


@dataclass(frozen=True, slots=True)
class _Route:
    """Each event with the slots that it visits."""

    summaries: Index
    slots: Slots
    reading: Reading

    def __call__(self, batches: Batches) -> Batches:
        engine = self.summaries.open()
        shards = engine.ids().cast(pa.int64()).to_numpy()
        first, count = self.slots.first[shards], self.slots.count[shards]
        for batch in batches:
            salt = batch.column(_SALT).to_numpy()
            rows = batch.drop_columns([_SALT])
            for piece in self.reading.pieces(engine, rows, None):
                for start in range(0, piece.num_rows, _ROWS):
                    part = piece.slice(start, _ROWS)
                    event, place = (part.column(name).to_numpy() for name in (EVENT, PLACE))
                    slot = first[place] + salt[event] % count[place]
                    columns = [pa.array(slot.astype(np.int32)), *rows.take(part.column(EVENT)).columns]
                    yield pa.RecordBatch.from_arrays(columns, [SLOT, *rows.schema.names])
