"""Read tables of subscriptions on Spark; a row that cannot be read has a reason instead."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thatch.errors import TableError
from thatch.formats.files import object_of
from thatch.formats.reading import Reading
from thatch.formats.rules import holds_rules, read_rules
from thatch.formats.subscriptions import SubscriptionFile, fields_of, from_columns
from thatch.model.values import is_text
from thatch.pipeline.columns import (
    EXPIRES,
    FILTER,
    REASON,
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    DataFrame,
    SparkSession,
    arrow_schema,
    spark_schema,
)
from thatch.pipeline.sources.delimited import parse_pieces, read_delimited
from thatch.pipeline.sources.files import Files, find_files
from thatch.pipeline.sources.lines import LINE, read_numbered_lines, spread
from thatch.pipeline.sources.parquet import number_rows, read_parquet, split_invalid_text
from thatch.pipeline.sources.records import CsvLayout
from thatch.pipeline.tasks import Batches

__all__ = [
    "SUBSCRIPTION_ROWS",
    "check_names",
    "parse_lines",
    "read_subscriptions",
    "reject_rows",
    "rows_of",
    "split_rows",
]

_COLUMNS = (SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES)
SUBSCRIPTION_ROWS = arrow_schema(ROW, *_COLUMNS, REASON)
_DDL = spark_schema(SUBSCRIPTION_ROWS)


def read_subscriptions(spark: SparkSession, path: str, reading: Reading | None = None) -> DataFrame:
    """Read the subscriptions of a file, a folder of files or a glob; filters are not parsed.

    Files end in `.jsonl`, `.csv` or `.parquet`; `.gz` may follow the first two. The table has `row` (numbered as for
    events), `subscription`, `subscriber`, `filter` (a JSON pattern as its text), `expires` (seconds since 1970) and
    `reason`: why the row could not be read, null if it could. Filters in another language are parsed, by this process. `reading` says how to read the files. Raises a `TableError` if files cannot be read at all.
    """
    if holds_rules(path, reading or Reading()):
        return spark.createDataFrame(rows_of(read_rules(path, reading), path), _DDL)
    files = find_files(spark, path, reading=reading)
    if files.kind == "jsonl":
        lines = spread(spark, read_numbered_lines(spark, files).table.select(ROW, LINE), files, ROW)
        return lines.mapInArrow(parse_lines, _DDL)
    return _read_csv(spark, files) if files.kind == "csv" else _read_parquet(spark, files)


def _read_csv(spark: SparkSession, files: Files) -> DataFrame:
    found = read_delimited(spark, files, is_typed=False)
    check_names(found.layout.names, files.given)
    rows = found.lines.mapInArrow(partial(_parse_csv, found.layout, files.given), _DDL)
    return spread(spark, rows, files, ROW)


def _read_parquet(spark: SparkSession, files: Files) -> DataFrame:
    table = read_parquet(spark, files)
    check_names(tuple(table.columns), files.given)
    types = dict(table.dtypes)
    for name in (SUBSCRIPTION, FILTER, SUBSCRIBER):
        if types.get(name, "string") not in ("string", "void"):
            raise TableError("text", types[name], f"{files.given}, column `{name}`")
    number = "thatch_number"
    good, rejects = split_invalid_text(number_rows(spark, table, files, number)[0], number)
    kept = good.select(number, *(name for name in _COLUMNS if name in types))
    rows = kept.mapInArrow(partial(_read_columns, files.given), _DDL)
    return rows if rejects is None else rows.unionByName(rejects, allowMissingColumns=True)


def check_names(names: tuple[str, ...], path: str) -> None:
    """Refuse files without a column that subscriptions need."""
    missing = next((name for name in (SUBSCRIPTION, FILTER) if name not in names), None)
    if missing is not None:
        raise TableError(f"a column `{missing}`", ", ".join(names), path)


def parse_lines(batches: Batches) -> Batches:
    """Parse subscriptions of JSON lines, which come with their numbers, in a worker."""
    for batch in batches:
        lines = batch.column(1).cast(pa.binary()).to_pylist()
        rows = []
        for row, content in zip(batch.column(0).to_pylist(), lines, strict=True):
            line = content.decode("utf-8", "surrogateescape")
            if line.strip():
                rows.append({**_parse_line(line), ROW: row})
        yield pa.RecordBatch.from_pylist(rows, SUBSCRIPTION_ROWS)


def _parse_line(line: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    try:
        fields = object_of(line)
        return {**fields_of(fields), REASON: None}
    except ValueError as error:
        known = {name: fields.get(name) for name in (SUBSCRIPTION, FILTER)}
        texts = {name: each for name, each in known.items() if isinstance(each, str) and is_text(each)}
        return {**texts, REASON: str(error)}


def _parse_csv(layout: CsvLayout, path: str, batches: Batches) -> Batches:
    """Parse subscriptions of the lines of CSV files, in a worker."""
    for first, table, rows, rejects in parse_pieces(batches, layout):
        yield from split_rows(table, [first + row for row in rows], path)
        yield reject_rows([(first + row, reason) for row, reason in rejects])


def _read_columns(path: str, batches: Batches) -> Batches:
    """Read subscriptions of columns, in a worker."""
    for batch in batches:
        table = pa.Table.from_batches([batch])
        rows = batch.column(0).to_pylist()
        yield from split_rows(table.drop_columns(table.column_names[0]), rows, path)


def split_rows(table: pa.Table, rows: list[int], path: str) -> Batches:
    """The rows of a table that can be read, then those that cannot."""
    rejects: list[tuple[int, str]] = []
    good, numbers = from_columns(table, rows, path, lambda *each: rejects.append(each))
    count = good.num_rows
    columns = [pa.array(numbers, pa.int64())]
    columns += [
        pc.cast(good.column(name), SUBSCRIPTION_ROWS.field(name).type).combine_chunks()
        if name in good.column_names
        else pa.nulls(count, SUBSCRIPTION_ROWS.field(name).type)
        for name in _COLUMNS
    ]
    yield from pa.table([*columns, pa.nulls(count, pa.string())], schema=SUBSCRIPTION_ROWS).to_batches()
    yield reject_rows(rejects)


def rows_of(found: SubscriptionFile, path: str) -> pa.Table:
    """The subscriptions of a file that was read, those that could not be among them."""
    batches = [*split_rows(found.with_texts().table, found.rows, path), reject_rows(found.rejects)]
    return pa.Table.from_batches(batches, SUBSCRIPTION_ROWS).sort_by(ROW)


def reject_rows(rejects: list[tuple[int, str]]) -> pa.RecordBatch:
    """Rows that cannot be read, with the reasons."""
    return pa.RecordBatch.from_pylist(
        [{ROW: row, REASON: reason} for row, reason in rejects], SUBSCRIPTION_ROWS
    )
