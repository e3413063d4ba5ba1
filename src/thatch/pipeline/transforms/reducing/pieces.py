"""Collect the boxes of a table of subscriptions in this process: tasks parse, and send columns in few large pieces.

A piece is one row of Spark with Arrow tables in its fields, so that Spark handles a few values of a megabyte instead of
millions of small ones.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from thatch.errors import SubscriptionError, TableError
from thatch.model.filters import Filter
from thatch.model.residuals import Residual
from thatch.model.schema import Schema
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.columns import FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION, DataFrame, arrow_schema
from thatch.pipeline.forms import FORM
from thatch.pipeline.indexes import check_once, input_table, parse_row
from thatch.pipeline.tasks import Batches, binary_row, unpickle_all
from thatch.pipeline.transforms.reducing.sides import (
    BoxWriter,
    axis_of,
    list_attributes,
    write_question,
    write_row,
)
from thatch.reduction.coordinates.implications import Implications

__all__ = [
    "ATTRIBUTES",
    "INPUT",
    "SIZES",
    "Gather",
    "Task",
    "Written",
    "combine_pieces",
    "input_columns",
    "make_gather",
    "make_local_gather",
    "parse_filters",
    "write_questions",
    "write_rows",
]

ATTRIBUTES = "attributes"  # the keys that a filter constrains, as text
SIZES = "sizes"  # for every box of a filter its number of sides; no boxes if there are too many
_WHOLE = ("tinyint", "smallint", "int", "bigint")
INPUT = arrow_schema(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, REASON, (FORM, pa.binary()))


class Written(NamedTuple):
    """Filters written as boxes."""

    # `row` and `sizes`, in no order; for rows also `subscription`, `subscriber` and `attributes`.
    filters: pa.Table
    sides: pa.Table  # `axis` (with a dictionary), `low`, `high` of every side of every box of every filter
    checks: dict[str, Residual]  # the residual checks that are axes, by the names of these


Task = Callable[[Batches], Batches]
Gather = Callable[[Task], Written]  # runs a task on all subscriptions, and combines what it has written


def make_gather(subscriptions: DataFrame) -> Gather:
    """Make a function that runs tasks on the subscriptions of a table."""
    rows = input_columns(subscriptions)

    def gather(task: Task) -> Written:
        with translate_spark_errors("reading the subscriptions"):
            pieces = rows.mapInArrow(task, "filters binary, sides binary, checks binary").toArrow()
        return combine_pieces([*task(iter([pa.RecordBatch.from_pylist([], INPUT)])), *pieces.to_batches()])

    return gather


def make_local_gather(parts: Callable[[], Batches]) -> Gather:
    """Make a function that runs tasks on the subscriptions of this process, batches of `INPUT`, in it."""

    def gather(task: Task) -> Written:
        return combine_pieces([*task(iter([pa.RecordBatch.from_pylist([], INPUT)])), *task(parts())])

    return gather


def write_rows(gather: Gather, schema: Schema | None) -> Written:
    """Write all filters as rows, which may cover others; refuse numbers and ids that are missing or occur twice."""
    found = gather(partial(_write_rows, schema))
    if found.filters.column(ROW).null_count:
        raise TableError("a number for every row", "null", f"column `{ROW}` of the subscriptions")
    check_once(found.filters.column(SUBSCRIPTION), SubscriptionError, "each id once")
    check_once(found.filters.column(ROW), TableError, "each number of a row once")
    return found


def write_questions(gather: Gather, schema: Schema | None, known: Iterable[str | Residual]) -> Written:
    """Write as questions, which may be covered, the filters that differ as a question and as a row.

    The keys and checks that some row constrains are `known`.
    """
    return gather(partial(_write_questions, schema, tuple(known)))


def combine_pieces(pieces: Iterable[pa.RecordBatch]) -> Written:
    """Combine the pieces that tasks have written, at least one."""
    table = pa.Table.from_batches(pieces)
    filters, sides = (
        pa.concat_tables([pa.ipc.open_stream(each.as_buffer()).read_all() for each in table.column(name)])
        for name in ("filters", "sides")
    )
    checks: dict[str, Residual] = {}
    for each in unpickle_all(table.column("checks")):
        checks |= each
    return Written(filters, sides.unify_dictionaries(), checks)


def input_columns(table: DataFrame) -> DataFrame:
    """The columns of `INPUT`; those that the table lacks are null."""
    if dict(table.dtypes).get(ROW, "bigint") not in _WHOLE:
        raise TableError("whole numbers", dict(table.dtypes)[ROW], f"column `{ROW}` of the subscriptions")
    return input_table(table).select(*INPUT.names)


def parse_filters(schema: Schema | None, batch: pa.RecordBatch) -> Iterator[Filter]:
    """Parse the filters of a batch of `INPUT` that have no form yet; an error names the row."""
    rows = zip(*(each.to_pylist() for each in batch.columns), strict=True)
    for row, identity, subscriber, text, reason, form in rows:
        yield parse_row(schema, row, identity, text, subscriber, reason, form)


def _write_rows(schema: Schema | None, batches: Batches) -> Batches:
    """Write filters as rows, in a worker."""
    for batch in batches:
        writer = BoxWriter()
        attributes: list[str] = []
        checks: dict[str, Residual] = {}
        for filter in parse_filters(schema, batch):
            row = write_row(filter)
            writer.add(row or ())
            attributes.append(list_attributes(filter))
            if row is not None:
                checks |= _checks(filter)
        columns = [*batch.columns[:3], pa.array(attributes, pa.string()), writer.sizes()]
        yield _piece(columns, [ROW, SUBSCRIPTION, SUBSCRIBER, ATTRIBUTES, SIZES], writer, checks)


def _write_questions(schema: Schema | None, known: tuple[str | Residual, ...], batches: Batches) -> Batches:
    """Write the filters that differ as questions and as rows, in a worker."""
    implications = Implications(schema)
    for each in known:
        implications.add(each)
    for batch in batches:
        writer = BoxWriter()
        positions: list[int] = []
        for position, filter in enumerate(parse_filters(schema, batch)):
            row, question = write_row(filter), write_question(filter, implications)
            if row is not None and row != question:
                writer.add(question or ())
                positions.append(position)
        rows = batch.column(0).take(pa.array(positions, pa.int64()))
        yield _piece([rows, writer.sizes()], [ROW, SIZES], writer, {})


def _checks(filter: Filter) -> dict[str, Residual]:
    return {
        axis_of(check): check.opposite() if check.negated else check
        for each in filter.outer_conjunctions
        for check in each.residuals
    }


def _piece(
    columns: Iterable[pa.Array], names: list[str], writer: BoxWriter, checks: dict[str, Residual]
) -> pa.RecordBatch:
    filters = pa.table(list(columns), names)
    return binary_row(filters=_packed(filters), sides=_packed(writer.sides()), checks=pickle.dumps(checks))


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())
