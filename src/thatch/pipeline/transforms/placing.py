"""The public `place` on Spark: which broker should serve which subscriber of a table of subscriptions.

Tasks parse and count. Only distinct intervals, distinct interests and one number a subscriber reach this process; all are
counts and sets, which do not depend on how the table is partitioned.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from thatch import placement
from thatch.formats.locations import homes_of
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.pipeline.adapter import parallelism, translate_spark_errors
from thatch.pipeline.columns import (
    FILTER,
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    DataFrame,
    SparkSession,
    arrow_schema,
    f,
    spark_schema,
)
from thatch.pipeline.forms import FORM
from thatch.pipeline.indexes import check_columns, parse_row
from thatch.pipeline.tasks import Batches, binary_row, run_parts, scratch_file, unpickle_all
from thatch.placement.arrays import Ints, distinct_rows
from thatch.placement.event_space import EventSpace, Interval, Sides, count_sides
from thatch.placement.placing import PlacementOptions
from thatch.placement.plan import PlacementPlan
from thatch.placement.sites import Homes, Sites
from thatch.placement.subscriptions import SubscriberBoxes

__all__ = ["SparkExecutor", "SparkSubscriptions", "place"]

_BOX = "box"
_BOXES = arrow_schema(ROW, SUBSCRIBER, (_BOX, pa.binary()))
_FIRST, _INTEREST, _EARLIEST = "first", "interest", "earliest"
_ORDER = [(_FIRST, "ascending"), (SUBSCRIBER, "ascending")]
_TASKS = 4  # for each that runs at a time, so that all end at about the same time

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Found = TypeVar("Found")


def place(
    subscriptions: DataFrame,
    sites: Sites,
    locations: DataFrame | Homes,
    wanted: PlacementOptions | None = None,
    *,
    profile: Profile | None = None,
    schema: Schema | None = None,
    now: Callable[[], float] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> PlacementPlan:
    """Make a verified plan: the same as `thatch.placement.place` makes of the same subscriptions in the same order.

    Tasks parse filters, count intervals and interests, find candidate sets, draw samples, fit the filters of brokers and
    bound the bandwidth from below; linear programs, flows, greedy steps and searches run in this process.

    Parameters
    ----------
    subscriptions : `subscription` and `filter`, in which every row must be a subscription (`load` separates the others),
        and optionally `subscriber` and `row`, the order of arrival (by default that of the names of subscribers); it is
        read twice
    sites : the brokers, as `thatch.formats.broker_tree.read_broker_tree` gives them
    locations : `subscriber` with coordinates, or with a `broker`, and optionally a `limit`; see `thatch.formats.locations`
    wanted, profile, schema, now, tell : as for `thatch.placement.place`

    Raises
    ------
    TableError
        If a column is missing or of a wrong type, or a location is invalid.
    SubscriptionError
        If a row is not a subscription.
    ParameterError
        If a subscriber has no location, or a limit that no leaf can meet.
    """
    if not isinstance(locations, Homes):
        with translate_spark_errors("reading the locations"):
            rows = locations.toArrow().to_pylist()
        locations = homes_of(enumerate(rows), sites.tree, "the locations")
    return placement.place(
        SparkSubscriptions(subscriptions, schema),
        sites,
        locations,
        wanted,
        profile=profile,
        schema=schema,
        executor=SparkExecutor(subscriptions.sparkSession),
        now=now,
        on_progress=tell,
    )


@dataclass(frozen=True, slots=True)
class SparkExecutor:
    """An `Executor` of placement whose pieces run as Spark tasks."""

    spark: SparkSession

    def __call__(
        self, shared: Shared, work: Callable[[Shared, Item], Found], items: Sequence[Item]
    ) -> list[Found]:
        if len(items) < 2:
            return [work(shared, item) for item in items]
        path = scratch_file(".shared")
        path.write_bytes(pickle.dumps(shared))
        found = run_parts(
            self.spark,
            path,
            _load_pickle,
            partial(_work, pickle.dumps((work, list(items)))),
            count=len(items),
            tasks=min(len(items), _TASKS * parallelism(self.spark)),
            doing="placing subscribers",
        )
        return [pickle.loads(each) for each in found]  # noqa: S301 - a task of ours wrote it


def _load_pickle(path: Path) -> Any:
    return pickle.loads(path.read_bytes())  # noqa: S301 - the driver wrote it


def _work(pickled: bytes, shared: Any, number: int) -> bytes:
    work, items = pickle.loads(pickled)  # noqa: S301 - the driver wrote it
    return pickle.dumps(work(shared, items[number]))


class SparkSubscriptions:
    """Subscriptions in a table of Spark; see `thatch.placement.subscriptions.SubscriptionSource`."""

    def __init__(self, table: DataFrame, schema: Schema | None = None) -> None:
        check_columns(table)
        # Without `row` the names of subscribers decide: Spark's own numbers follow how the table is partitioned.
        row = f.col(ROW) if ROW in table.columns else f.lit(0)
        who = f.coalesce(SUBSCRIBER, SUBSCRIPTION) if SUBSCRIBER in table.columns else f.col(SUBSCRIPTION)
        form = f.col(FORM) if FORM in table.columns else f.lit(None).cast("binary")
        self._table = table.select(
            row.cast("bigint").alias(ROW), who.alias(SUBSCRIBER), FILTER, form.alias(FORM)
        )
        self._schema = schema

    def sides(self) -> Sides:
        """The intervals of all boxes by attribute, with the number of boxes that have them."""
        with translate_spark_errors("reading the subscriptions"):
            pieces = self._table.mapInArrow(partial(_count_sides, self._schema), "sides binary").toArrow()
        sides: dict[str, Counter[Interval]] = {}
        for piece in unpickle_all(pieces.column(0)):
            for key, counts in piece.items():
                sides.setdefault(key, Counter()).update(counts)
        return sides

    def boxes(self, space: EventSpace) -> SubscriberBoxes:
        """The boxes of all subscribers."""
        boxes = self._table.mapInArrow(partial(_make_boxes, space), spark_schema(_BOXES))
        interests = boxes.groupBy(SUBSCRIBER).agg(
            f.min(ROW).alias(_FIRST), f.array_sort(f.collect_set(_BOX)).alias(_BOX)
        )
        # Two hashes of 64 bits name an interest. Persisted, since two tables are made of it.
        hashes = f.struct(f.xxhash64(_BOX), f.xxhash64(_BOX, f.lit(1)))
        named = interests.withColumn(_INTEREST, hashes).persist()
        try:
            with translate_spark_errors("reading the subscriptions"):
                distinct = named.groupBy(_INTEREST).agg(
                    f.min(f.struct(_FIRST, SUBSCRIBER)).alias(_EARLIEST), f.first(_BOX).alias(_BOX)
                )
                distinct = distinct.select(f"{_EARLIEST}.*", _INTEREST, _BOX).toArrow().sort_by(_ORDER)
                people = named.select(_FIRST, SUBSCRIBER, _INTEREST).toArrow().sort_by(_ORDER)
        finally:
            named.unpersist()
        return _expand(distinct, people, 2 * len(space.axes))


def _expand(distinct: pa.Table, people: pa.Table, width: int) -> SubscriberBoxes:
    # Distinct interests come first, so that their positions number them.
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


def _count_sides(schema: Schema | None, batches: Batches) -> Batches:
    """Count the sides of filters, in a worker."""
    for batch in batches:
        yield binary_row(sides=pickle.dumps(count_sides(_parse_filters(batch, schema))))


def _make_boxes(space: EventSpace, batches: Batches) -> Batches:
    """Make boxes of filters, in a worker."""
    for batch in batches:
        rows, people = batch.column(0).to_pylist(), batch.column(1).to_pylist()
        found = [
            {ROW: row, SUBSCRIBER: who, _BOX: box.tobytes()}
            for row, who, filter in zip(rows, people, _parse_filters(batch, space.schema), strict=True)
            for box in space.boxes_of(filter)
        ]
        yield pa.RecordBatch.from_pylist(found, _BOXES)


def _parse_filters(batch: pa.RecordBatch, schema: Schema | None) -> Iterator[Filter]:
    for row, who, text, form in zip(*(each.to_pylist() for each in batch.columns), strict=True):
        yield parse_row(schema, row, who, text, form=form)
