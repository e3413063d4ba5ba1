"""Subscriptions in shards: each with an index of its own, as rows of bytes, and a summary.

::

    subscriptions -- sample --> driver: splitting            (a tree)
    subscriptions -- assigned --> (shard, subscription, subscriber, filter, expires)
                  -- shuffled by shard, built --> (shard, part, bytes) ..., (shard, summary)
    summaries -- collected --> driver: an index of summaries, carried to all workers

Indexes travel as rows, so no file system need be shared, and what is lost with an executor is built again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from thatch.engine import Engine
from thatch.errors import FilterError, SubscriptionError, ThatchError, shown
from thatch.matching.growing import FEW
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.pipeline.adapter import parallelism
from thatch.pipeline.failures import failures_told
from thatch.pipeline.indexes import Index, indexed, subscription_columns
from thatch.pipeline.schemas import EXPIRES, FILTER, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.partitioned.splitting import Splitting, split
from thatch.pipeline.transforms.partitioned.summaries import Summary, filter_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BYTES", "MOST_SHARDS", "PART", "SHARD", "Shards", "scratch", "sharded"]

SHARD = "thatch shard"  # with blanks, as no column that filters can ask for without quotes
PART = "thatch part"  # of an index: its bytes come in parts
BYTES = "thatch bytes"
_SUMMARY = "summary"

MOST_SHARDS = 4_096
_SHARE = 250_000  # subscriptions of a shard
_SAMPLE = 20_000  # subscriptions that the driver looks at
_LEAVES = 4  # of a shard, about; its summary has a box for each
_AT_ONCE = 50_000  # subscriptions that are read at a time, so that not all are Python objects at once
_PART = 1 << 20  # bytes
_INTERVALS = 2_000_000  # of all summaries together, about
_MOST, _LEAST = 512, 16  # of one attribute in one box

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Shards:
    """Subscriptions that are partitioned.

    Parameters
    ----------
    rows : the indexes: `SHARD`, `PART`, `BYTES`. They are kept on the disks of the workers until `forget`
    summaries : the index of the summaries, whose ids are the numbers of shards
    count : how many shards there may be; some may be empty
    subscriptions : how many
    """

    rows: DataFrame
    summaries: Index
    count: int
    subscriptions: int
    _kept: DataFrame

    def forget(self) -> None:
        """Free the disks of the workers; whatever is still asked builds the indexes again."""
        self._kept.unpersist()


def sharded(subscriptions: DataFrame, schema: Schema | None = None, shards: int | None = None) -> Shards:
    """Subscriptions in shards.

    Parameters
    ----------
    subscriptions : a table with `subscription`, `filter` and perhaps `subscriber` and `expires`; every row must be good
    shards : how many, about; by default one for a quarter of a million subscriptions, at least one for each core

    Raises
    ------
    SubscriptionError
        If a row is no subscription, or an id is there twice.
    """
    from pyspark.sql import functions as f
    from pyspark.storagelevel import StorageLevel

    table = _with_all_columns(subscriptions)
    spark = table.sparkSession
    with failures_told("splitting the subscriptions"):
        total = _counted(table)
        wanted = _shards(total, parallelism(spark)) if shards is None else max(1, min(shards, MOST_SHARDS))
        splitting = split(_sample(table, total, schema), wanted, _LEAVES)
        most = max(_LEAST, min(_MOST, _INTERVALS // (splitting.shards * _LEAVES)))
        kept = (
            table.mapInArrow(_Assign(splitting, schema), f"`{SHARD}` int, {_COLUMNS}")
            .repartitionById(splitting.shards, f.col(f"`{SHARD}`"))
            .sortWithinPartitions(f"`{SHARD}`")
            .mapInArrow(_Build(splitting, schema, most), f"{_ROWS}, {_SUMMARY} array<string>")
            .persist(StorageLevel.DISK_ONLY)  # summaries and indexes are asked for at different times
        )
        told = kept.where(f.col(_SUMMARY).isNotNull()).select(f"`{SHARD}`", _SUMMARY).toArrow()
    rows = kept.where(f.col(f"`{BYTES}`").isNotNull()).drop(_SUMMARY)
    index = indexed(spark, _engine_of(told, schema))
    return Shards(rows, index, splitting.shards, total, kept)


_COLUMNS = f"{SUBSCRIPTION} string, {SUBSCRIBER} string, {FILTER} string, {EXPIRES} double"
_ROWS = f"`{SHARD}` int, `{PART}` int, `{BYTES}` binary"


def _with_all_columns(subscriptions: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    given = subscriptions.select(*subscription_columns(subscriptions))
    kinds = {SUBSCRIPTION: "string", SUBSCRIBER: "string", FILTER: "string", EXPIRES: "double"}
    return given.select(
        *(
            f.col(name) if name in given.columns else f.lit(None).cast(kind).alias(name)
            for name, kind in kinds.items()
        )
    )


def _counted(table: DataFrame) -> int:
    """How many subscriptions there are, each id once."""
    from pyspark.sql import functions as f

    by_id = table.groupBy(SUBSCRIPTION).count()
    told = by_id.agg(f.sum("count"), f.max("count"), f.max_by(SUBSCRIPTION, "count")).first()
    total, most, often = told if told is not None else (0, 0, None)
    if most is not None and most > 1 and often is not None:
        raise SubscriptionError("each id once", f"{often!r} {most} times")
    return int(total or 0)


def _shards(subscriptions: int, cores: int) -> int:
    return min(MOST_SHARDS, max(cores, -(-subscriptions // _SHARE)))


def _sample(table: DataFrame, total: int, schema: Schema | None) -> list[Any]:
    """The first conjunctions of some subscriptions."""
    chosen = table
    if total > _SAMPLE:
        chosen = table.sample(fraction=_SAMPLE / total, seed=1).limit(2 * _SAMPLE)
    rows = chosen.select(SUBSCRIPTION, FILTER).toArrow()
    ids, texts = (rows.column(name).to_pylist() for name in (SUBSCRIPTION, FILTER))
    return [_read(each, text, schema).conjunctions[0] for each, text in zip(ids, texts, strict=True)]


def _read(subscription: str | None, text: str | None, schema: Schema | None) -> Filter:
    """The filter of a row, which is named if it has none."""
    try:
        if subscription is None:
            raise SubscriptionError("a text as id", "null")
        if text is None:
            raise FilterError("filter text", "null")
        return parse(text, schema)
    except ThatchError as error:
        raise _refused(str(error), subscription, text) from error


def _refused(reason: str, subscription: str | None, text: str | None) -> SubscriptionError:
    expected = "a table in which every row is a subscription (`load` tells the others apart)"
    where = f"subscription {shown(subscription)}" if subscription is not None else f"filter {shown(text)}"
    return SubscriptionError(expected, reason, where)


@dataclass(frozen=True, slots=True)
class _Assign:
    """Subscriptions with the numbers of their shards."""

    splitting: Splitting
    schema: Schema | None

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            ids, texts = (batch.column(name).to_pylist() for name in (SUBSCRIPTION, FILTER))
            shards = [
                self.splitting.shard(_read(each, text, self.schema).conjunctions[0], each)
                for each, text in zip(ids, texts, strict=True)
            ]
            columns = [pa.array(shards, pa.int32()), *batch.columns]
            yield pa.RecordBatch.from_arrays(columns, [SHARD, *batch.schema.names])


@dataclass(frozen=True, slots=True)
class _Build:
    """Of subscriptions in order of their shards, the index and the summary of each shard."""

    splitting: Splitting
    schema: Schema | None
    most: int

    def __call__(self, batches: Batches) -> Batches:
        for shard, parts in groupby(_pieces(batches), key=lambda each: each[0]):
            yield from self._built(shard, (part for _, part in parts))

    def _built(self, shard: int, parts: Iterable[pa.Table]) -> Batches:
        engine = Engine(self.schema, background=False)
        summary = Summary(shard, self.splitting, self.schema, self.most)
        for part in parts:
            for start in range(0, part.num_rows, _AT_ONCE):
                self._fill(engine, summary, part.slice(start, _AT_ONCE))
        engine.compact()
        with scratch() as folder:
            path = folder / "shard.thatch"
            engine.save(path)
            del engine  # before its bytes are read again
            with path.open("rb") as file:
                for number, part in enumerate(iter(lambda: file.read(_PART), b"")):
                    yield _row(shard, number, part, None)
        yield _row(shard, None, None, summary.boxes())

    def _fill(self, engine: Engine, summary: Summary, part: pa.Table) -> None:
        rejects = engine.subscribe_many(part)
        if rejects.num_rows:
            first = rejects.slice(0, 1).to_pylist()[0]
            raise _refused(first["reason"], first["subscription"], None)
        for text in part.column(FILTER).to_pylist():
            summary.add(parse(text, self.schema))


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one task, among those that Spark clears when an executor ends."""
    among = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    with TemporaryDirectory(prefix="thatch-", dir=among if os.path.isdir(among) else None) as folder:  # noqa: PTH112
        yield Path(folder)


def _pieces(batches: Batches) -> Iterator[tuple[int, pa.Table]]:
    """Batches cut where the shard changes."""
    for batch in batches:
        shards = batch.column(SHARD).to_numpy()
        table = pa.Table.from_batches([batch]).drop_columns([SHARD])
        edges = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)]
        for start, end in pairwise(edges):
            if end > start:
                yield int(shards[start]), table.slice(start, end - start)


_ARROW_ROW = pa.schema(
    [(SHARD, pa.int32()), (PART, pa.int32()), (BYTES, pa.binary()), (_SUMMARY, pa.list_(pa.string()))]
)


def _row(shard: int, part: int | None, content: bytes | None, summary: list[str] | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [{SHARD: shard, PART: part, BYTES: content, _SUMMARY: summary}], schema=_ARROW_ROW
    )


def _engine_of(summaries: pa.Table, schema: Schema | None) -> Engine:
    """An engine of summaries, in segments: a few hundred filters alone would be matched in plain Python."""
    engine = Engine(schema)
    for shard, boxes in zip(*(summaries.column(name).to_pylist() for name in (SHARD, _SUMMARY)), strict=True):
        engine.subscribe(str(shard), filter_of(boxes, schema))
    padding = [f"padding {number}" for number in range(FEW)]
    engine.subscribe_many(pa.table({SUBSCRIPTION: padding, FILTER: ["exists(padding)"] * FEW}))
    for each in padding:
        engine.unsubscribe(each)
    engine.compact()
    return engine
