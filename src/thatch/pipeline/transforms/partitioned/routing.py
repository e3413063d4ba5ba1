"""Route events to the shards that may want them, and spread busy shards over several tasks.

A shard that many events visit has several **replicas**, each a task with a copy of its index; a hash of the event decides
which of them it visits, so that it visits the same one if its task has to run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.pipeline.adapter import parallelism, translate_spark_errors
from thatch.pipeline.columns import EVENT, EVENTS, SLOT, DataFrame, f, quote
from thatch.pipeline.indexes import SharedIndex
from thatch.pipeline.tasks import Batches
from thatch.pipeline.transforms.events import EventReader
from thatch.pipeline.transforms.partitioned.shards import SHARD, Shards

__all__ = ["REPLICA", "Replicas", "choose_replicas", "estimate_replicas", "route_events"]

REPLICA = "thatch replica"
_SALT = "thatch salt"
_SAMPLE = 2_048  # events of each batch by which busy shards are found
_FEWEST, _MOST = 50_000, 2_000_000  # visits that are worth a replica, and that one replica should have
_MOST_REPLICAS = 20_000
_ROWS = 1 << 15  # of a batch that goes back to Spark

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Replicas:
    """The replicas of each shard: the number of the first, and how many."""

    first: Numbers
    count: Numbers

    @property
    def total(self) -> int:
        return int(self.count.sum())

    def pairs(self) -> list[tuple[int, int]]:
        """Each replica with its shard."""
        shards = np.repeat(np.arange(len(self.count)), self.count)
        return list(zip(shards.tolist(), range(self.total), strict=True))


def estimate_replicas(log: DataFrame, shards: Shards, reader: EventReader) -> Replicas:
    """Estimate from a sample of every batch how many replicas each shard should have; reads the log once."""
    with translate_spark_errors("counting the events"):
        task = partial(_count_visits, shards.summaries, reader)
        visits = log.mapInArrow(task, f"`{SHARD}` int, {EVENTS} double")
        sums = visits.groupBy(f"`{SHARD}`").agg(f.sum(EVENTS)).collect()
    by_shard = np.zeros(shards.count)
    for shard, count in sums:
        by_shard[shard] = count
    return choose_replicas(by_shard, parallelism(log.sparkSession))


def choose_replicas(visits: npt.NDArray[np.float64], tasks: int) -> Replicas:
    """Choose the number of replicas of shards by their visits and the number of tasks that run at once."""
    total = float(visits.sum())
    each = min(max(total / (2 * tasks), _FEWEST), _MOST)
    each = max(each, total / _MOST_REPLICAS)
    count = np.maximum(1, np.ceil(visits / each)).astype(np.int64)
    return Replicas(np.cumsum(count) - count, count)


def route_events(log: DataFrame, shards: Shards, replicas: Replicas, reader: EventReader) -> DataFrame:
    """Repeat each event for every shard that may want it: `REPLICA` and the columns of the log."""
    from pyspark.sql.types import IntegerType, StructField, StructType

    # Spark has no hashes of maps.
    hashed = [
        f.to_json(f.struct(quote(name))) if "map<" in kind else f.col(quote(name))
        for name, kind in log.dtypes
    ]
    salted = log.select(f.xxhash64(*hashed).alias(_SALT), "*")
    schema = StructType([StructField(REPLICA, IntegerType()), *log.schema.fields])
    return salted.mapInArrow(partial(_route, shards.summaries, replicas, reader), schema)


def _count_visits(summaries: SharedIndex, reader: EventReader, batches: Batches) -> Batches:
    """Estimate how many events visit each shard, in a worker."""
    engine = summaries.open()
    shards = engine.ids().cast(pa.int32())
    total = np.zeros(len(shards), np.float64)
    for batch in batches:
        step = max(1, -(-len(batch) // _SAMPLE))
        some = batch.take(pa.array(np.arange(0, len(batch), step)))
        total += reader.counts(engine, some) * (len(batch) / max(len(some), 1))
    yield pa.RecordBatch.from_arrays([shards, pa.array(total)], [SHARD, EVENTS])


def _route(summaries: SharedIndex, replicas: Replicas, reader: EventReader, batches: Batches) -> Batches:
    """Find the replicas that each event visits, in a worker."""
    engine = summaries.open()
    shards = engine.ids().cast(pa.int64()).to_numpy()
    first, count = replicas.first[shards], replicas.count[shards]
    for batch in batches:
        salt = batch.column(_SALT).to_numpy()
        rows = batch.drop_columns([_SALT])
        for piece in reader.pieces(engine, rows):
            for start in range(0, piece.num_rows, _ROWS):
                part = piece.slice(start, _ROWS)
                event, slot = (part.column(name).to_numpy() for name in (EVENT, SLOT))
                replica = first[slot] + salt[event] % count[slot]
                columns = [pa.array(replica.astype(np.int32)), *rows.take(part.column(EVENT)).columns]
                yield pa.RecordBatch.from_arrays(columns, [REPLICA, *rows.schema.names])
