"""Tables of subscriptions on Spark, row by row as they are: what cannot be read is a row with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from thatch.errors import TableError
from thatch.formats.lines import object_of
from thatch.formats.subscriptions import fields_of, from_columns
from thatch.pipeline.schemas import EXPIRES, FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.sources.delimited import numbered_pieces, read_delimited
from thatch.pipeline.sources.files import Files, find_files
from thatch.pipeline.sources.lines import LINE, numbered_lines, spread
from thatch.pipeline.sources.parquet import apart, numbered_rows, read_parquet
from thatch.pipeline.sources.records import Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SUBSCRIPTIONS", "read_subscriptions"]

SUBSCRIPTIONS = f"{ROW} bigint, {SUBSCRIPTION} string, {SUBSCRIBER} string, {FILTER} string, {EXPIRES} double, {REASON} string"
_SCHEMA = pa.schema(
    [
        (ROW, pa.int64()),
        (SUBSCRIPTION, pa.string()),
        (SUBSCRIBER, pa.string()),
        (FILTER, pa.string()),
        (EXPIRES, pa.float64()),
        (REASON, pa.string()),
    ]
)
_COLUMNS = (SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES)


def read_subscriptions(spark: SparkSession, path: str) -> DataFrame:
    """The subscriptions of a file, a folder of files or a glob; filters are not parsed.

    Parameters
    ----------
    path : of files ending in `.jsonl`, `.csv` or `.parquet`; `.gz` may follow the first two

    Returns
    -------
    A table with `row` (counted as for events), `subscription`, `subscriber`, `filter` (a JSON pattern as its text),
    `expires` (seconds since 1970) and `reason`: why the row could not be read, null if it could.

    Raises
    ------
    TableError
        If the files cannot be read at all or lack a column.
    """
    files = find_files(spark, path)
    if files.kind == "jsonl":
        lines = spread(spark, numbered_lines(spark, files).table.select(ROW, LINE), files, ROW)
        return lines.mapInArrow(_from_lines, SUBSCRIPTIONS)
    return _from_csv(spark, files) if files.kind == "csv" else _from_parquet(spark, files)


def _from_csv(spark: SparkSession, files: Files) -> DataFrame:
    found = read_delimited(spark, files, is_typed=False)
    _check_columns(found.layout.names, files.given)
    rows = found.lines.mapInArrow(_Records(found.layout, found.firsts, files.given), SUBSCRIPTIONS)
    return spread(spark, rows, files, ROW)


def _from_parquet(spark: SparkSession, files: Files) -> DataFrame:
    from pyspark.sql import functions as f

    table = read_parquet(spark, files)
    _check_columns(tuple(table.columns), files.given)
    types = dict(table.dtypes)
    for name in (SUBSCRIPTION, FILTER, SUBSCRIBER):
        if types.get(name, "string") not in ("string", "void"):
            raise TableError("text", types[name], f"{files.given}, column `{name}`")
    number = "thatch_number"
    good, refused = apart(numbered_rows(spark, table, files, number), number)
    kept = good.select(number, *(name for name in _COLUMNS if name in types))
    rows = kept.mapInArrow(_Columns(files.given), SUBSCRIPTIONS)
    if refused is None:
        return rows
    nothing = [f.lit(None).cast(kind).alias(name) for name, kind in zip(_COLUMNS, _TYPES, strict=True)]
    return rows.unionByName(refused.select(ROW, *nothing, REASON))


_TYPES = ("string", "string", "string", "double")


def _check_columns(names: tuple[str, ...], path: str) -> None:
    missing = next((name for name in (SUBSCRIPTION, FILTER) if name not in names), None)
    if missing is not None:
        raise TableError(f"a column `{missing}`", ", ".join(names), path)


def _from_lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Subscriptions of JSON lines, in a worker."""
    for batch in batches:
        lines = batch.column(1).cast(pa.binary()).to_pylist()
        rows = []
        for row, content in zip(batch.column(0).to_pylist(), lines, strict=True):
            line = content.decode("utf-8", "surrogateescape")
            if line.strip():
                rows.append({**_read(line), ROW: row})
        yield pa.RecordBatch.from_pylist(rows, _SCHEMA)


def _read(line: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    try:
        fields = object_of(line)
        return {**fields_of(fields), REASON: None}
    except ValueError as error:
        known = {name: fields.get(name) for name in (SUBSCRIPTION, FILTER)}
        return {
            **{name: value for name, value in known.items() if _is_plain(value)},
            REASON: str(error),
        }


def _is_plain(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


@dataclass(frozen=True, slots=True)
class _Records:
    """Makes subscriptions of the lines of CSV files, in a worker."""

    layout: Layout
    firsts: tuple[int, ...]
    path: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for first, table, rows, rejects in numbered_pieces(batches, self.layout, self.firsts):
            yield from _told(table, [first + row for row in rows], self.path)
            yield _refused([(first + row, reason) for row, reason in rejects])


@dataclass(frozen=True, slots=True)
class _Columns:
    """Makes subscriptions of columns, in a worker."""

    path: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            yield from _told(
                table.drop_columns(table.column_names[0]), batch.column(0).to_pylist(), self.path
            )


def _told(table: pa.Table, rows: list[int], path: str) -> Iterator[pa.RecordBatch]:
    """The rows of a table that can be read, and those that cannot."""
    rejects: list[tuple[int, str]] = []
    good, numbers = from_columns(table, rows, path, lambda *each: rejects.append(each))
    count = good.num_rows
    columns = [pa.array(numbers, pa.int64())]
    columns += [
        pc.cast(good.column(name), _SCHEMA.field(name).type).combine_chunks()
        if name in good.column_names
        else pa.nulls(count, _SCHEMA.field(name).type)
        for name in _COLUMNS
    ]
    yield from pa.table([*columns, pa.nulls(count, pa.string())], schema=_SCHEMA).to_batches()
    yield _refused(rejects)


def _refused(rejects: list[tuple[int, str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{ROW: row, REASON: reason} for row, reason in rejects], _SCHEMA)
