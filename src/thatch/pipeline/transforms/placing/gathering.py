"""A table of subscriptions as what placement asks of them: counted sides first, then the distinct interests.

Tasks parse and count. Only distinct intervals, distinct interests and a number a subscriber come to this process; all are
counts and sets, which do not depend on how the table is split.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from thatch.engine.subscriptions import read_subscription
from thatch.errors import SubscriptionError, ThatchError, shown
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.pipeline.failures import failures_told
from thatch.pipeline.indexes import subscription_columns
from thatch.pipeline.schemas import FILTER, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.placement.arrays import Ints, distinct_rows
from thatch.placement.event_space import EventSpace, Interval, Sides, count_sides
from thatch.placement.subscriptions import SubscriberBoxes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkSubscriptions"]

_EXPECTED = "a table in which every row is a subscription (`load` tells the others apart)"
_BOX = "box"
_BOXES = f"{ROW} bigint, {SUBSCRIBER} string, {_BOX} binary"
_FIRST, _INTEREST, _EARLIEST = "first", "interest", "earliest"
_ORDER = [(_FIRST, "ascending"), (SUBSCRIBER, "ascending")]

Batches = Iterator[pa.RecordBatch]


class SparkSubscriptions:
    """Subscriptions in a table of Spark; see `thatch.placement.subscriptions.SubscriptionSource`.

    Parameters
    ----------
    table : `subscription` and `filter`, of which every row must be good (`load` tells the bad ones apart), and if there are
        any `subscriber` and `row`, the order of arrival (without, that of the names of subscribers); it is read twice
    """

    def __init__(self, table: DataFrame, schema: Schema | None = None) -> None:
        from pyspark.sql import functions as f

        subscription_columns(table)  # refuses what is missing or of another type
        # Without rows the names of subscribers decide: numbers that Spark gives follow how the table is split.
        row = f.col(ROW) if ROW in table.columns else f.lit(0)
        who = f.coalesce(SUBSCRIBER, SUBSCRIPTION) if SUBSCRIBER in table.columns else f.col(SUBSCRIPTION)
        self._table = table.select(row.cast("bigint").alias(ROW), who.alias(SUBSCRIBER), FILTER)
        self._schema = schema

    def sides(self) -> Sides:
        """The intervals of all boxes, by attribute, with how many boxes have them."""
        with failures_told("reading the subscriptions"):
            pieces = self._table.mapInArrow(_Count(self._schema), "sides binary").toArrow()
        sides: dict[str, Counter[Interval]] = {}
        for piece in pieces.column(0):
            for key, counts in pickle.loads(piece.as_buffer()).items():  # noqa: S301 - a task of ours wrote it
                sides.setdefault(key, Counter()).update(counts)
        return sides

    def boxes(self, space: EventSpace) -> SubscriberBoxes:
        """The boxes of all subscribers."""
        from pyspark.sql import functions as f

        boxes = self._table.mapInArrow(_Box(space), _BOXES)
        interests = boxes.groupBy(SUBSCRIBER).agg(
            f.min(ROW).alias(_FIRST), f.array_sort(f.collect_set(_BOX)).alias(_BOX)
        )
        # Kept, since two tables are made of it; two hashes of 64 bits name an interest.
        named = interests.withColumn(
            _INTEREST, f.struct(f.xxhash64(_BOX), f.xxhash64(_BOX, f.lit(1)))
        ).persist()
        try:
            with failures_told("reading the subscriptions"):
                distinct = named.groupBy(_INTEREST).agg(
                    f.min(f.struct(_FIRST, SUBSCRIBER)).alias(_EARLIEST), f.first(_BOX).alias(_BOX)
                )
                distinct = distinct.select(f"{_EARLIEST}.*", _INTEREST, _BOX).toArrow().sort_by(_ORDER)
                people = named.select(_FIRST, SUBSCRIBER, _INTEREST).toArrow().sort_by(_ORDER)
        finally:
            named.unpersist()
        return _demand(distinct, people, 2 * len(space.axes))


def _demand(distinct: pa.Table, people: pa.Table, width: int) -> SubscriberBoxes:
    # Distinct interests come first, so that they are numbered by their places.
    hashes = np.concatenate([_hashes(distinct), _hashes(people)])
    interest_of = distinct_rows(hashes)[1][distinct.num_rows :]
    lists = distinct.column(_BOX).combine_chunks()
    rows = np.frombuffer(b"".join(lists.flatten().to_pylist())).reshape(-1, width)
    sizes = np.diff(lists.offsets.to_numpy()).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    owners = np.repeat(np.arange(len(interest_of)), sizes[interest_of])
    begun = np.repeat(np.cumsum(sizes[interest_of]) - sizes[interest_of], sizes[interest_of])
    chosen = np.arange(len(owners)) - begun + np.repeat(starts[interest_of], sizes[interest_of])
    return SubscriberBoxes.of(people.column(SUBSCRIBER).to_pylist(), rows[chosen], owners)


def _hashes(table: pa.Table) -> Ints:
    """The two hashes that name the interest of each row."""
    fields = table.column(_INTEREST).combine_chunks().flatten()
    return np.column_stack([each.to_numpy() for each in fields])


def _filters(batch: pa.RecordBatch, schema: Schema | None) -> Iterator[Filter]:
    for row, who, text in zip(*(each.to_pylist() for each in batch.columns), strict=True):
        try:
            yield _filter(who, text, schema)
        except ThatchError as error:
            raise SubscriptionError(_EXPECTED, str(error), f"row {row}, {shown(who)}") from error


def _filter(who: Any, text: Any, schema: Schema | None) -> Filter:
    if text is None:
        raise SubscriptionError("filter text", "null")
    return read_subscription(who, text, who, None, schema)[1]


@dataclass(frozen=True, slots=True)
class _Count:
    """Counts the sides of filters, in a worker."""

    schema: Schema | None

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            told = pickle.dumps(count_sides(_filters(batch, self.schema)))
            yield pa.RecordBatch.from_arrays([pa.array([told], pa.binary())], ["sides"])


@dataclass(frozen=True, slots=True)
class _Box:
    """Makes boxes of filters, in a worker."""

    space: EventSpace

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            rows, people = batch.column(0).to_pylist(), batch.column(1).to_pylist()
            told: list[tuple[int, str, bytes]] = []
            for row, who, filter in zip(rows, people, _filters(batch, self.space.schema), strict=True):
                told += [(row, who, box.tobytes()) for box in self.space.boxes_of(filter)]
            columns = zip(*told, strict=True) if told else ((), (), ())
            kinds = (pa.int64(), pa.string(), pa.binary())
            arrays = [pa.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, [ROW, SUBSCRIBER, _BOX])
