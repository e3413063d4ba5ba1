"""Read CSV files on Spark: number rows, find column types over all files, separate bad rows.

One pass counts the rows of each run of lines and finds the types. The splits of files are runs, and are parsed in
parallel, unless a record crosses from one split into the next; then whole files are runs, each parsed by one task.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from thatch.errors import TableError
from thatch.formats.cells import (
    ColumnCounts,
    add_counts,
    column_remarks,
    kind_of_column,
    survey_column,
    typed_column,
)
from thatch.formats.columns import parse_csv
from thatch.model.names import holds_named
from thatch.pipeline.columns import REASON, ROW, DataFrame, SparkSession, f, spark_schema
from thatch.pipeline.sources.files import Files, translate_read_errors
from thatch.pipeline.sources.lines import FILE, LINE, FileSplit, Lines, read_numbered_lines
from thatch.pipeline.sources.records import CsvLayout, Piece, Run, cut_pieces, is_open, parse_piece
from thatch.pipeline.tasks import Batches

__all__ = ["Delimited", "parse_pieces", "read_delimited"]

_LONGEST_HEADER = 1_000  # lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimited:
    """The lines of CSV files, and how to make rows of them."""

    lines: DataFrame  # numbers and texts of lines, those of one run together and in order
    layout: CsvLayout  # the runs and the columns
    # How many rows there are, and how many of them are rejects.
    count: int
    reject_count: int
    remarks: tuple[str, ...] = ()  # on columns whose cells are not read as they may be meant

    def rows(self, numbered_by: str) -> DataFrame:
        """All good rows, in columns of their types."""
        from pyspark.sql.types import StructType

        schema = StructType().add(numbered_by, "long")
        for name, kind in zip(self.layout.typed, self.layout.kinds, strict=True):
            schema = schema.add(name, kind)
        return self.lines.mapInArrow(partial(_make_rows, self.layout, numbered_by), schema)

    def rejects(self) -> DataFrame:
        """The rows that have the wrong number of fields or are not UTF-8, with the reason."""
        return self.lines.mapInArrow(partial(_list_rejects, self.layout), f"{ROW} bigint, {REASON} string")


def read_delimited(
    spark: SparkSession, files: Files, *, is_typed: bool, wanted: Collection[str] | None = None
) -> Delimited:
    """Read CSV files, and count their rows; if `is_typed`, find the types of columns, or of those with `wanted` attributes."""
    lines = read_numbered_lines(spark, files, heads=True)
    names = _names(lines, files)
    typed = tuple(name for name in names if is_typed and (wanted is None or holds_named(name, wanted)))
    runs = tuple(Run(each.first, each.start == 0, each.file) for each in lines.splits)
    table, layout = lines.table.select(ROW, LINE), CsvLayout(runs, names, files.reading, typed)
    with translate_read_errors(files.given):
        counted = _count_splits(table, layout)
        if counted is None:
            table = lines.table.repartition(FILE).sortWithinPartitions(ROW).select(ROW, LINE)
            layout = replace(layout, runs=tuple(run for run in runs if run.begins_file))
            counted = _count(table, layout)
    *firsts, total = accumulate((each["rows"] for each in counted), initial=0)
    columns = _add_columns(counted, firsts, typed)
    kinds = [kind_of_column(name, each, files.reading) for name, each in columns.items()]
    return Delimited(
        lines=table,
        layout=replace(layout, kinds=tuple(kinds), firsts=tuple(firsts)),
        count=total,
        reject_count=sum(each["rejects"] for each in counted),
        remarks=tuple(column_remarks(columns, files.reading, files.given)),
    )


def _names(lines: Lines, files: Files) -> tuple[str, ...]:
    """Read the names of the columns, which all files must share."""
    heads = [_read_head(lines, each) for each in lines.splits if each.start == 0 and each.head is not None]
    if not heads:
        raise TableError("The CSV file is empty; its first line must name the columns", where=files.given)
    first = heads[0]
    for other in heads[1:]:
        if other[1] != first[1]:
            raise TableError(
                f"the columns {', '.join(first[1])} as in {first[0]}", ", ".join(other[1]), other[0]
            )
    return first[1]


def _read_head(lines: Lines, split: FileSplit) -> tuple[str, tuple[str, ...]]:
    """The file that begins with a split, and the names in its header."""
    head = split.head or ""
    if is_open(head):
        first = lines.table.where(f.col(ROW).between(split.first, split.first + _LONGEST_HEADER - 1))
        texts = [each[LINE] for each in first.orderBy(ROW).collect()]
        head = "\n".join(texts[texts.index(head) :])
    table, _ = parse_csv(head.encode("utf-8", "surrogatepass"), split.file, lambda *_: None)
    return split.file, tuple(table.column_names)


def _count_splits(table: DataFrame, layout: CsvLayout) -> list[dict[str, Any]] | None:
    """Count the rows of each split; None if splits cannot be parsed on their own."""
    try:
        counted = _count(table, layout)
    except TableError:
        if all(run.begins_file for run in layout.runs):
            raise
        return None  # a split may begin with the rest of a record, which need not be CSV
    return None if _is_crossed(counted, layout) else counted


def _is_crossed(counted: list[dict[str, Any]], layout: CsvLayout) -> bool:
    """Whether a record begins in one split and ends in another."""
    ends = [run.begins_file for run in layout.runs[1:]] + [True]
    return any(each["is_open"] and not end for each, end in zip(counted, ends, strict=True))


def _count(table: DataFrame, layout: CsvLayout) -> list[dict[str, Any]]:
    """Count the rows of each run, in the order of the runs."""
    found = table.mapInArrow(partial(_count_runs, layout), spark_schema(_COUNTS)).collect()
    by_run = {each["run"]: each.asDict() for each in found}
    nothing = {"rows": 0, "rejects": 0, "is_open": False, "columns": None}
    return [by_run.get(number, nothing) for number in range(len(layout.runs))]


def _add_columns(
    counted: list[dict[str, Any]], firsts: list[int], names: tuple[str, ...]
) -> dict[str, ColumnCounts]:
    """What the cells of each column are in all runs."""
    runs = [
        [_moved(each, first) for each in json.loads(run["columns"])]
        for run, first in zip(counted, firsts, strict=True)
        if run["columns"] is not None
    ]
    return {name: add_counts(run[number] for run in runs) for number, name in enumerate(names)}


def _moved(fields: list[Any], first: int) -> ColumnCounts:
    """The counts of a column in a run that begins with row `first`."""
    kinds, values, words, odd, found, is_code = fields
    at = None if found is None else (first + found[0], found[1])
    return ColumnCounts(tuple(kinds), values, words, odd, at, is_code)


_COUNTS = pa.schema(
    [
        ("run", pa.int32()),
        ("rows", pa.int64()),
        ("rejects", pa.int64()),
        ("is_open", pa.bool_()),
        ("columns", pa.string()),  # the fields of the counts of each column, as JSON
    ]
)


def _count_runs(layout: CsvLayout, batches: Batches) -> Batches:
    """Count the rows of runs and find the types that hold them, in a worker."""
    found: dict[int, dict[str, Any]] = {}
    for piece in cut_pieces(batches, layout):
        start = {"run": piece.run, "rows": 0, "rejects": 0, "is_open": False, "columns": []}
        _count_piece(piece, layout, found.setdefault(piece.run, start))
    for run in found.values():
        run["columns"] = json.dumps([astuple(each) for each in run["columns"]])
    yield pa.RecordBatch.from_pylist(list(found.values()), _COUNTS)


def _count_piece(piece: Piece, layout: CsvLayout, run: dict[str, Any]) -> None:
    rejects: list[int] = []
    table, rows = parse_piece(piece, layout, lambda row, _: rejects.append(row))
    numbers = [run["rows"] + row for row in rows]
    counts = [survey_column(name, table.column(name), numbers, layout.reading) for name in layout.typed]
    before = run["columns"]
    run["columns"] = list(map(add_counts, zip(before, counts, strict=True))) if before else counts
    run["rows"] += len(rows) + len(rejects)
    run["rejects"] += len(rejects)
    run["is_open"] = piece.is_open


def _make_rows(layout: CsvLayout, numbered_by: str, batches: Batches) -> Batches:
    """Make rows of lines, in columns of their types, in a worker."""
    for first, table, rows, _ in parse_pieces(batches, layout):
        numbers = pc.add(pa.array(rows, pa.int64()), first)
        columns = [
            typed_column(name, table.column(name), kind, layout.reading)
            for name, kind in zip(layout.typed, layout.kinds, strict=True)
        ]
        whole = pa.table([numbers, *columns], names=[numbered_by, *layout.typed])
        yield from whole.combine_chunks().to_batches()


def _list_rejects(layout: CsvLayout, batches: Batches) -> Batches:
    """List the rejects, in a worker."""
    for first, _, _, rejects in parse_pieces(batches, layout):
        numbers = pa.array([first + row for row, _ in rejects], pa.int64())
        reasons = pa.array([reason for _, reason in rejects], pa.string())
        yield pa.RecordBatch.from_arrays([numbers, reasons], names=[ROW, REASON])


def parse_pieces(
    batches: Batches, layout: CsvLayout
) -> Iterator[tuple[int, pa.Table, list[int], list[tuple[int, str]]]]:
    """Parse lines piece by piece: the number of the first row, the good rows and their numbers from there, the rejects."""
    done = dict(enumerate(layout.firsts))
    for piece in cut_pieces(batches, layout):
        rejects: list[tuple[int, str]] = []
        table, rows = parse_piece(piece, layout, lambda *each, found=rejects: found.append(each))
        yield done[piece.run], table, rows, rejects
        done[piece.run] += len(rows) + len(rejects)
