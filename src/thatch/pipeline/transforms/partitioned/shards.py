"""Partition subscriptions into shards, each with an index of its own, as rows of bytes, and a summary.

::

    subscriptions -- sample --> driver: splitting            (a tree)
    subscriptions -- assign --> (shard, subscription, subscriber, filter, expires)
                  -- shuffle by shard, build --> (shard, part, bytes) ..., (shard, summary)
    summaries -- collect --> driver: an index of summaries, shared with all workers

Indexes travel as rows, so that no shared file system is needed, and what an executor loses is built again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thatch.engine import Engine
from thatch.errors import SubscriptionError
from thatch.matching.growing import FEW
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.pipeline.adapter import parallelism, translate_spark_errors
from thatch.pipeline.columns import EXPIRES, FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION, DataFrame, f
from thatch.pipeline.forms import FORM
from thatch.pipeline.indexes import SharedIndex, bad_row, build_index, input_table, parse_row
from thatch.pipeline.tasks import Batches
from thatch.pipeline.transforms.partitioned.splitting import Splitting, Summary, filter_of, grow_splitting

__all__ = ["BYTES", "MOST_SHARDS", "PART", "SHARD", "Shards", "build_router", "build_shards", "task_folder"]

SHARD = "thatch shard"  # with a blank, so that a filter can name such a column only in quotes
PART = "thatch part"  # the number of a part of an index
BYTES = "thatch bytes"
_SUMMARY = "summary"
_NAMES = "names"  # the attributes that the filters of a shard read

MOST_SHARDS = 4_096
_SHARE = 250_000  # subscriptions of a shard
_SAMPLE = 20_000  # subscriptions that the driver looks at
_LEAVES = 4  # of a shard, about; its summary has a box for each
_AT_ONCE = 50_000  # subscriptions that are Python objects at the same time
_PART_BYTES = 1 << 20
_INTERVALS = 2_000_000  # of all summaries together, about
_MOST, _LEAST = 512, 16  # of one attribute in one box


@dataclass(frozen=True, slots=True)
class Shards:
    """Partitioned subscriptions."""

    # The indexes: `SHARD`, `PART`, `BYTES`; they stay on the disks of the workers until `forget`.
    rows: DataFrame
    summaries: SharedIndex  # the index of the summaries, whose ids are the numbers of shards
    count: int  # how many shards there are; some may be empty
    subscriptions: int  # how many subscriptions there are
    attributes: frozenset[str]  # that their filters read
    _kept: DataFrame

    def forget(self) -> None:
        """Free the disks of the workers; later use builds the indexes again."""
        self._kept.unpersist()


def build_shards(subscriptions: DataFrame, schema: Schema | None = None, shards: int | None = None) -> Shards:
    """Partition subscriptions into shards.

    Parameters
    ----------
    subscriptions : a table with `subscription`, `filter` and perhaps `subscriber` and `expires`; every row must be
        a subscription
    shards : how many, about; by default one for 250,000 subscriptions, and at least one for each core

    Raises
    ------
    SubscriptionError
        If a row is not a subscription, or an id occurs twice.
    """
    from pyspark.storagelevel import StorageLevel

    table = input_table(subscriptions).drop(ROW, REASON)
    spark = table.sparkSession
    with translate_spark_errors("splitting the subscriptions"):
        total = _count_ids(table)
        count = (
            _shard_count(total, parallelism(spark)) if shards is None else max(1, min(shards, MOST_SHARDS))
        )
        splitting = grow_splitting(_sample(table, total, schema), count, _LEAVES)
        most = max(_LEAST, min(_MOST, _INTERVALS // (splitting.shards * _LEAVES)))
        kept = (
            table.mapInArrow(partial(_assign, splitting, schema), f"`{SHARD}` int, {_COLUMNS}")
            .repartitionById(splitting.shards, f.col(f"`{SHARD}`"))
            .sortWithinPartitions(f"`{SHARD}`")
            .mapInArrow(
                partial(_build, splitting, schema, most),
                f"{_ROWS}, {_SUMMARY} array<string>, {_NAMES} array<string>",
            )
            .persist(StorageLevel.DISK_ONLY)  # summaries and indexes are used at different times
        )
        summaries = kept.where(f.col(_SUMMARY).isNotNull()).select(f"`{SHARD}`", _SUMMARY, _NAMES).toArrow()
    rows = kept.where(f.col(f"`{BYTES}`").isNotNull()).drop(_SUMMARY, _NAMES)
    index = build_index(spark, build_router(summaries.drop_columns([_NAMES]), schema))
    names = frozenset(pc.list_flatten(summaries.column(_NAMES)).to_pylist())
    return Shards(rows, index, splitting.shards, total, names, kept)


_COLUMNS = f"{SUBSCRIPTION} string, {SUBSCRIBER} string, {FILTER} string, {EXPIRES} double, `{FORM}` binary"
_ROWS = f"`{SHARD}` int, `{PART}` int, `{BYTES}` binary"


def _count_ids(table: DataFrame) -> int:
    """How many subscriptions there are; refuses an id that occurs twice."""
    by_id = table.groupBy(SUBSCRIPTION).count()
    sums = by_id.agg(f.sum("count"), f.max("count"), f.max_by(SUBSCRIPTION, "count")).first()
    total, most, often = sums if sums is not None else (0, 0, None)
    if most is not None and most > 1 and often is not None:
        raise SubscriptionError("each id once", f"{often!r} {most} times")
    return int(total or 0)


def _shard_count(subscriptions: int, cores: int) -> int:
    return min(MOST_SHARDS, max(cores, -(-subscriptions // _SHARE)))


def _sample(table: DataFrame, total: int, schema: Schema | None) -> list[Any]:
    """The first conjunctions of some subscriptions."""
    chosen = table
    if total > _SAMPLE:
        chosen = table.sample(fraction=_SAMPLE / total, seed=1).limit(2 * _SAMPLE)
    rows = chosen.select(SUBSCRIPTION, FILTER, FORM).toArrow()
    return [filter.outer_conjunctions[0] for filter in _filters(rows, schema)]


def _filters(rows: pa.Table | pa.RecordBatch, schema: Schema | None) -> Iterator[Filter]:
    """The filters of subscriptions; an error names the row."""
    columns = (rows.column(name).to_pylist() for name in (SUBSCRIPTION, FILTER, FORM))
    for identity, text, form in zip(*columns, strict=True):
        yield parse_row(schema, None, identity, text, form=form)


def _assign(splitting: Splitting, schema: Schema | None, batches: Batches) -> Batches:
    """Add the numbers of their shards to subscriptions, in a worker."""
    for batch in batches:
        filters = zip(batch.column(SUBSCRIPTION).to_pylist(), _filters(batch, schema), strict=True)
        shards = [splitting.shard(filter.outer_conjunctions[0], identity) for identity, filter in filters]
        columns = [pa.array(shards, pa.int32()), *batch.columns]
        yield pa.RecordBatch.from_arrays(columns, [SHARD, *batch.schema.names])


def _build(splitting: Splitting, schema: Schema | None, most: int, batches: Batches) -> Batches:
    """Build the index and the summary of each shard from subscriptions in the order of their shards, in a worker."""
    for shard, parts in groupby(_pieces(batches), key=lambda each: each[0]):
        engine = Engine(schema, background=False)
        summary = Summary(shard, splitting, schema, most)
        for _, part in parts:
            for start in range(0, part.num_rows, _AT_ONCE):
                _fill(engine, summary, part.slice(start, _AT_ONCE), schema)
        engine.compact()
        names = sorted(engine.attributes())
        with task_folder() as folder:
            path = folder / "shard.thatch"
            engine.save(path)
            del engine  # before its bytes are read again
            with path.open("rb") as file:
                for number, content in enumerate(iter(partial(file.read, _PART_BYTES), b"")):
                    yield _row(shard, number, content)
        yield _row(shard, None, None, summary.boxes(), names)


def _fill(engine: Engine, summary: Summary, part: pa.Table, schema: Schema | None) -> None:
    filters = list(_filters(part, schema))
    rejects = engine.subscribe_many(part, filters=filters)
    if rejects.num_rows:
        first = rejects.slice(0, 1).to_pylist()[0]
        raise bad_row(first["reason"], None, first["subscription"])
    for each in filters:
        summary.add(each)


@contextmanager
def task_folder() -> Iterator[Path]:
    """Make a folder for one task, where Spark cleans up when an executor ends."""
    among = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    with TemporaryDirectory(
        prefix="thatch-", dir=among if among and Path(among).is_dir() else None
    ) as folder:
        yield Path(folder)


def _pieces(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    """Cut batches where the shard changes."""
    for batch in batches:
        shards = batch.column(SHARD).to_numpy()
        table = pa.Table.from_batches([batch]).drop_columns([SHARD])
        edges = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)]
        for start, end in pairwise(edges):
            if end > start:
                yield int(shards[start]), table.slice(start, end - start)


_ARROW_ROW = pa.schema(
    [
        (SHARD, pa.int32()),
        (PART, pa.int32()),
        (BYTES, pa.binary()),
        (_SUMMARY, pa.list_(pa.string())),
        (_NAMES, pa.list_(pa.string())),
    ]
)


def _row(
    shard: int,
    part: int | None,
    content: bytes | None,
    summary: list[str] | None = None,
    names: list[str] | None = None,
) -> pa.RecordBatch:
    fields = {SHARD: shard, PART: part, BYTES: content, _SUMMARY: summary, _NAMES: names}
    return pa.RecordBatch.from_pylist([fields], schema=_ARROW_ROW)


def build_router(summaries: pa.Table, schema: Schema | None) -> Engine:
    """Build an engine of summaries, padded: a few filters alone would be matched in plain Python."""
    engine = Engine(schema)
    for shard, boxes in zip(*(summaries.column(name).to_pylist() for name in (SHARD, _SUMMARY)), strict=True):
        engine.subscribe(str(shard), filter_of(boxes, schema))
    padding = [f"padding {number}" for number in range(FEW)]
    engine.subscribe_many(pa.table({SUBSCRIPTION: padding, FILTER: ["exists(padding)"] * FEW}))
    for each in padding:
        engine.unsubscribe(each)
    engine.compact()
    return engine
