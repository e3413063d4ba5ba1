"""From a table of subscriptions to all their boxes, in this process: tasks parse, and send columns in few large pieces.

A piece is a row of Spark with Arrow tables in its fields: what Spark sees is a few values of a megabyte instead of
millions of small ones.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from thatch.engine.subscriptions import read_subscription
from thatch.errors import FilterError, SubscriptionError, TableError, ThatchError, shown
from thatch.model.filters import Filter
from thatch.model.residuals import Residual
from thatch.model.schema import Schema
from thatch.pipeline.failures import failures_told
from thatch.pipeline.indexes import subscription_columns
from thatch.pipeline.schemas import FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.reducing.sides import Writer, attributes_of, axis_of, question_of, row_of
from thatch.reduction.coordinates.implications import Implications

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "ATTRIBUTES",
    "INPUT",
    "SIZES",
    "Gather",
    "Task",
    "Written",
    "check_once",
    "gatherer",
    "input_rows",
    "questions_of",
    "rows_of",
    "written",
]

ATTRIBUTES = "attributes"  # the keys that a filter constrains: its mask, as text
SIZES = "sizes"  # for every box of a filter how many sides it has; none if there are too many boxes
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_PIECE = "filters binary, sides binary, checks binary"
INPUT = pa.schema(
    [(ROW, pa.int64()), *((name, pa.string()) for name in (SUBSCRIPTION, SUBSCRIBER, FILTER, REASON))]
)
_EXPECTED = "a table in which every row is a subscription (`load` tells the others apart)"

Batches = Iterator[pa.RecordBatch]


class Written(NamedTuple):
    """Filters as boxes in writing.

    Parameters
    ----------
    filters : `row` and `sizes`, in no order; of rows also `subscription`, `subscriber` and `attributes`
    sides : `axis` (with a dictionary), `low`, `high` of every side of every box of every filter
    checks : the residual checks that are axes, by the names of these
    """

    filters: pa.Table
    sides: pa.Table
    checks: dict[str, Residual]


Gather = Callable[["Task"], Written]


def gatherer(subscriptions: DataFrame) -> Gather:
    """What lets tasks read a table, and gives what they have written.

    Raises
    ------
    TableError
        If a column is missing or of a wrong type.
    """
    rows = input_rows(subscriptions)

    def gather(task: Task) -> Written:
        with failures_told("reading the subscriptions"):
            pieces = rows.mapInArrow(task, _PIECE).toArrow()
        return written([*task(iter([pa.RecordBatch.from_pylist([], INPUT)])), *pieces.to_batches()])

    return gather


def rows_of(gather: Gather, schema: Schema | None) -> Written:
    """The boxes of all filters as rows, which cover others.

    Raises
    ------
    TableError
        If rows are not numbered, or two have one number.
    SubscriptionError
        If a row is no subscription, or an id occurs twice.
    """
    found = gather(Take(schema))
    if found.filters.column(ROW).null_count:
        raise TableError("a number for every row", "null", f"column `{ROW}` of the subscriptions")
    check_once(found.filters.column(SUBSCRIPTION), SubscriptionError, "each id once")
    check_once(found.filters.column(ROW), TableError, "each number of a row once")
    return found


def questions_of(gather: Gather, schema: Schema | None, known: Iterable[str | Residual]) -> Written:
    """The boxes of those filters that as a question, which is to be covered, are not what they are as a row.

    Parameters
    ----------
    known : the keys and checks that some row constrains
    """
    return gather(Ask(schema, tuple(known)))


def written(pieces: Iterable[pa.RecordBatch]) -> Written:
    """What tasks have written, at least one piece."""
    table = pa.Table.from_batches(pieces)
    filters, sides = (
        pa.concat_tables([pa.ipc.open_stream(each.as_buffer()).read_all() for each in table.column(name)])
        for name in ("filters", "sides")
    )
    checks: dict[str, Residual] = {}
    for each in table.column("checks"):
        checks |= pickle.loads(each.as_buffer())  # noqa: S301 - a task of ours wrote it
    return Written(filters, sides.unify_dictionaries(), checks)


def check_once(column: pa.ChunkedArray, error: type[SubscriptionError | TableError], expected: str) -> None:
    """Refuse a column in which a value is repeated."""
    repeated = pc.value_counts(column)
    often = repeated.filter(pc.greater(repeated.field("counts"), 1))
    if len(often):
        raise error(expected, f"{often[0]['values'].as_py()!r} {often[0]['counts']} times")


def input_rows(table: DataFrame) -> DataFrame:
    """The columns that matter, all of them there."""
    from pyspark.sql import functions as f

    subscription_columns(table)  # refuses what is missing or of another type
    if dict(table.dtypes).get(ROW, "bigint") not in _WHOLE:
        raise TableError("whole numbers", dict(table.dtypes)[ROW], f"column `{ROW}` of the subscriptions")
    nothing = f.lit(None).cast("string")
    return table.select(
        (f.col(ROW) if ROW in table.columns else f.monotonically_increasing_id()).cast("bigint").alias(ROW),
        SUBSCRIPTION,
        (f.col(SUBSCRIBER) if SUBSCRIBER in table.columns else nothing).alias(SUBSCRIBER),
        FILTER,
        (f.col(REASON).cast("string") if REASON in table.columns else nothing).alias(REASON),
    )


class Task(ABC):
    """Reads the filters of rows, in a worker."""

    __slots__ = ()
    schema: Schema | None

    @abstractmethod
    def __call__(self, batches: Batches) -> Batches: ...

    def _filters(self, batch: pa.RecordBatch) -> Iterator[Filter]:
        for row, *parts in zip(*(each.to_pylist() for each in batch.columns), strict=True):
            try:
                yield self._filter(*parts)
            except ThatchError as error:
                raise SubscriptionError(_EXPECTED, str(error), f"row {row}, {shown(parts[0])}") from error

    def _filter(self, identity: Any, subscriber: Any, text: Any, reason: str | None) -> Filter:
        if reason is not None:
            raise FilterError("a row that could be read", reason)
        if text is None:
            raise FilterError("filter text", "null")
        return read_subscription(identity, text, subscriber, None, self.schema)[1]


@dataclass(frozen=True, slots=True)
class Take(Task):
    """Writes filters as rows."""

    schema: Schema | None

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            writer = Writer()
            attributes: list[str] = []
            checks: dict[str, Residual] = {}
            for filter in self._filters(batch):
                row = row_of(filter)
                writer.add(row or ())
                attributes.append(attributes_of(filter))
                if row is not None:
                    checks |= _checks(filter)
            columns = [*batch.columns[:3], pa.array(attributes, pa.string()), writer.sizes()]
            yield _piece(columns, [ROW, SUBSCRIPTION, SUBSCRIBER, ATTRIBUTES, SIZES], writer, checks)


@dataclass(frozen=True, slots=True)
class Ask(Task):
    """Writes filters as questions, where that is not what they are as rows."""

    schema: Schema | None
    known: tuple[str | Residual, ...]

    def __call__(self, batches: Batches) -> Batches:
        implications = Implications(self.schema)
        for each in self.known:
            implications.add(each)
        for batch in batches:
            writer = Writer()
            places: list[int] = []
            for place, filter in enumerate(self._filters(batch)):
                row, question = row_of(filter), question_of(filter, implications)
                if row is not None and row != question:
                    writer.add(question or ())
                    places.append(place)
            rows = batch.column(0).take(pa.array(places, pa.int64()))
            yield _piece([rows, writer.sizes()], [ROW, SIZES], writer, {})


def _checks(filter: Filter) -> dict[str, Residual]:
    return {
        axis_of(check): check.opposite() if check.negated else check
        for each in filter.conjunctions
        for check in each.residuals
    }


def _piece(
    columns: Iterable[pa.Array], names: list[str], writer: Writer, checks: dict[str, Residual]
) -> pa.RecordBatch:
    filters = pa.table(list(columns), names)
    fields = [_packed(filters), _packed(writer.sides()), pickle.dumps(checks)]
    return pa.RecordBatch.from_arrays(
        [pa.array([each], pa.binary()) for each in fields], ["filters", "sides", "checks"]
    )


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
