"""Counts by place, of many tasks, brought together.

A task that saw some thousand events has counts for most of a million places. As a row each they would cost more than
the matching did; so a row is the counts of a block of places, as two arrays in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.pipeline.indexes import Index
from thatch.pipeline.schemas import EVENTS, SUBSCRIPTION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BLOCKS", "blocks_of", "named_counts"]

_SIZE = 1 << 14  # places of a block
BLOCKS = "block int, places binary, counts binary"

Counts = npt.NDArray[np.int64]
Batches = Iterator[pa.RecordBatch]


def blocks_of(counts: Counts) -> Batches:
    """The counts of one task as rows of `BLOCKS`; what is 0 is not told."""
    for block, start in enumerate(range(0, len(counts), _SIZE)):
        some = counts[start : start + _SIZE]
        places = np.flatnonzero(some)
        if len(places):
            yield _row(block, places.astype(np.uint16).tobytes(), some[places].astype(np.int64).tobytes())


def _row(block: int, places: bytes, counts: bytes) -> pa.RecordBatch:
    columns = [
        pa.array([block], pa.int32()),
        pa.array([places], pa.binary()),
        pa.array([counts], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, ["block", "places", "counts"])


def named_counts(counted: DataFrame, index: Index) -> DataFrame:
    """The sums of rows of `BLOCKS` over all places of an index: `subscription`, `events`."""
    from pyspark.sql import functions as f

    every = counted.sparkSession.range(-(-index.places // _SIZE)).select(
        f.col("id").cast("int").alias("block"),
        f.lit(b"").alias("places"),
        f.lit(b"").alias("counts"),
    )
    together = counted.union(every).repartition("block").sortWithinPartitions("block")
    return together.mapInArrow(_Sums(index), f"{SUBSCRIPTION} string, {EVENTS} bigint")


@dataclass(frozen=True, slots=True)
class _Sums:
    """Adds up blocks, which come one after the other."""

    index: Index

    def __call__(self, batches: Batches) -> Batches:
        ids = self.index.open().ids()
        current, total = -1, np.zeros(_SIZE, np.int64)
        for batch in batches:
            for block, places, counts in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if block != current:
                    yield from _told(ids, current, total)
                    current, total = block, np.zeros(_SIZE, np.int64)
                total[np.frombuffer(places, np.uint16)] += np.frombuffer(counts, np.int64)
        yield from _told(ids, current, total)


def _told(ids: pa.Array, block: int, total: Counts) -> Batches:
    if block < 0:
        return
    names = ids.slice(block * _SIZE, _SIZE)
    named = pa.RecordBatch.from_arrays(
        [names.cast(pa.string()), pa.array(total[: len(names)])], [SUBSCRIPTION, EVENTS]
    )
    yield named.filter(names.is_valid())  # a place may be given up
