"""CSV files on Spark: rows numbered, columns typed over all files, bad rows apart.

One pass counts the rows of each run of lines and finds the types. Splits of files are runs, and are parsed side by side,
as long as no record crosses from one into the next; else whole files are, each by one task.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from thatch.errors import TableError
from thatch.formats.columns import parsed_csv, typed
from thatch.pipeline.schemas import REASON, ROW
from thatch.pipeline.sources.files import Files, reading_told
from thatch.pipeline.sources.lines import FILE, LINE, Lines, Split, numbered_lines
from thatch.pipeline.sources.records import Layout, Piece, Run, is_open, parsed, pieces

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Delimited", "numbered_pieces", "read_delimited"]

# A column that also holds the text has the type, if and only if the type holds all that the column has.
_PROBES = {"long": "1", "double": "0.5", "boolean": "true"}
_KINDS = {"long": pa.int64(), "double": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
_LONGEST_HEADER = 1_000  # lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimited:
    """The lines of CSV files, and how to make rows of them.

    Parameters
    ----------
    lines : numbers and texts of lines, the lines of one run together and in order
    layout : the runs, and the names of the columns
    firsts : the number of each run's first row
    kinds : the type of each column
    rejects : how many rows are none
    """

    lines: DataFrame
    layout: Layout
    firsts: tuple[int, ...]
    kinds: tuple[str, ...]
    rejects: int

    def rows(self, numbered_by: str) -> DataFrame:
        """All good rows, in types."""
        from pyspark.sql.types import StructType

        schema = StructType().add(numbered_by, "long")
        for name, kind in zip(self.layout.names, self.kinds, strict=True):
            schema = schema.add(name, kind)
        return self.lines.mapInArrow(_Rows(self.layout, self.firsts, self.kinds, numbered_by), schema)

    def refused(self) -> DataFrame:
        """The rows that have the wrong number of fields or are not UTF-8, with the reason."""
        schema = f"{ROW} bigint, {REASON} string"
        if not self.rejects:
            return self.lines.sparkSession.createDataFrame([], schema)
        return self.lines.mapInArrow(_Refused(self.layout, self.firsts), schema)


def read_delimited(spark: SparkSession, files: Files, *, is_typed: bool) -> Delimited:
    """CSV files, counted.

    Parameters
    ----------
    is_typed : whether columns get the narrowest type that holds all values; else all are texts
    """
    lines = numbered_lines(spark, files, heads=True)
    names = _names(lines, files)
    runs = tuple(Run(each.first, each.start == 0, each.file) for each in lines.splits)
    table, layout = lines.table.select(ROW, LINE), Layout(runs, names)
    with reading_told(files.given):
        counted = _counted_apart(table, layout, is_typed=is_typed)
        if counted is None:
            table = lines.table.repartition(FILE).sortWithinPartitions(ROW).select(ROW, LINE)
            layout = Layout(tuple(run for run in runs if run.begins_file), names)
            counted = _counted(table, layout, is_typed=is_typed)
    firsts, total = [], 0
    for each in counted:
        firsts.append(total)
        total += each["rows"]
    return Delimited(
        lines=table,
        layout=layout,
        firsts=tuple(firsts),
        kinds=_kinds([each["kinds"] for each in counted], len(names), is_typed=is_typed),
        rejects=sum(each["rejects"] for each in counted),
    )


def _names(lines: Lines, files: Files) -> tuple[str, ...]:
    """The names of the columns, which all files must share."""
    heads = [_whole_head(lines, each) for each in lines.splits if each.start == 0 and each.head is not None]
    if not heads:
        raise TableError("a CSV file whose first line names the columns", "an empty file", files.given)
    first = heads[0]
    for other in heads[1:]:
        if other[1] != first[1]:
            raise TableError(
                f"the columns {', '.join(first[1])} as in {first[0]}", ", ".join(other[1]), other[0]
            )
    return first[1]


def _whole_head(lines: Lines, split: Split) -> tuple[str, tuple[str, ...]]:
    """The file that a split begins, and the names in its header."""
    from pyspark.sql import functions as f

    head = split.head or ""
    if is_open(head):
        first = lines.table.where(f.col(ROW).between(split.first, split.first + _LONGEST_HEADER - 1))
        texts = [each[LINE] for each in first.orderBy(ROW).collect()]
        head = "\n".join(texts[texts.index(head) :])
    table, _ = parsed_csv(head.encode("utf-8", "surrogatepass"), split.file, lambda *_: None)
    return split.file, tuple(table.column_names)


def _counted_apart(table: DataFrame, layout: Layout, *, is_typed: bool) -> list[dict[str, Any]] | None:
    """What each split has, or None if splits cannot be read apart."""
    try:
        counted = _counted(table, layout, is_typed=is_typed)
    except TableError:
        if all(run.begins_file for run in layout.runs):
            raise
        return None  # the rest of a record that began before a split may be no CSV
    return None if _crossed(counted, layout) else counted


def _crossed(counted: list[dict[str, Any]], layout: Layout) -> bool:
    """Whether a record begins in one split and ends in another."""
    ends = [run.begins_file for run in layout.runs[1:]] + [True]
    return any(each["is_open"] and not end for each, end in zip(counted, ends, strict=True))


def _counted(table: DataFrame, layout: Layout, *, is_typed: bool) -> list[dict[str, Any]]:
    """What each run has, in order of the runs."""
    found = table.mapInArrow(_Counts(layout, is_typed), _COUNTS).collect()
    by_run = {each["run"]: each.asDict() for each in found}
    nothing = {"rows": 0, "rejects": 0, "is_open": False, "kinds": None}
    return [by_run.get(number, nothing) for number in range(len(layout.runs))]


def _kinds(found: list[list[list[str]] | None], count: int, *, is_typed: bool) -> tuple[str, ...]:
    """The first type that every run allows, of each column."""
    if not is_typed:
        return ("string",) * count
    allowed = [each for each in found if each is not None]
    return tuple(
        next((kind for kind in _PROBES if all(kind in each[column] for each in allowed)), "string")
        for column in range(count)
    )


_COUNTS = "run int, rows bigint, rejects bigint, is_open boolean, kinds array<array<string>>"


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts the rows of runs and finds types that hold them, in a worker."""

    layout: Layout
    is_typed: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: dict[int, dict[str, Any]] = {}
        for piece in pieces(batches, self.layout):
            kinds = [list(_PROBES) if self.is_typed else [] for _ in self.layout.names]
            start = {"run": piece.run, "rows": 0, "rejects": 0, "is_open": False, "kinds": kinds}
            self._add(piece, found.setdefault(piece.run, start))
        schema = pa.schema(
            [
                ("run", pa.int32()),
                ("rows", pa.int64()),
                ("rejects", pa.int64()),
                ("is_open", pa.bool_()),
                ("kinds", pa.list_(pa.list_(pa.string()))),
            ]
        )
        yield pa.RecordBatch.from_pylist(list(found.values()), schema)

    def _add(self, piece: Piece, run: dict[str, Any]) -> None:
        rejects: list[int] = []
        table, rows = parsed(piece, self.layout, lambda row, _: rejects.append(row))
        run["rows"] += len(rows) + len(rejects)
        run["rejects"] += len(rejects)
        run["is_open"] = piece.is_open
        run["kinds"] = [
            [kind for kind in kinds if _allows(column, kind)]
            for kinds, column in zip(run["kinds"], table.columns, strict=True)
        ]


def _allows(column: pa.ChunkedArray, kind: str) -> bool:
    probed = pa.chunked_array([*column.chunks, pa.array([_PROBES[kind]])], pa.string())
    return bool(typed(pa.table({"x": probed})).column("x").type == _KINDS[kind])


@dataclass(frozen=True, slots=True)
class _Rows:
    """Makes typed rows of lines, in a worker."""

    layout: Layout
    firsts: tuple[int, ...]
    kinds: tuple[str, ...]
    numbered_by: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for first, table, rows, _ in numbered_pieces(batches, self.layout, self.firsts):
            numbers = pc.add(pa.array(rows, pa.int64()), first)
            columns = [
                pc.cast(column, _KINDS[kind]) for column, kind in zip(table.columns, self.kinds, strict=True)
            ]
            whole = pa.table([numbers, *columns], names=[self.numbered_by, *self.layout.names])
            yield from whole.combine_chunks().to_batches()


@dataclass(frozen=True, slots=True)
class _Refused:
    """Tells which rows are none, in a worker."""

    layout: Layout
    firsts: tuple[int, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for first, _, _, rejects in numbered_pieces(batches, self.layout, self.firsts):
            numbers = pa.array([first + row for row, _ in rejects], pa.int64())
            reasons = pa.array([reason for _, reason in rejects], pa.string())
            yield pa.RecordBatch.from_arrays([numbers, reasons], names=[ROW, REASON])


def numbered_pieces(
    batches: Iterator[pa.RecordBatch], layout: Layout, firsts: tuple[int, ...]
) -> Iterator[tuple[int, pa.Table, list[int], list[tuple[int, str]]]]:
    """For each piece the number of its first row, its good rows and their numbers from there, and the others."""
    done = dict(enumerate(firsts))
    for piece in pieces(batches, layout):
        rejects: list[tuple[int, str]] = []
        table, rows = parsed(piece, layout, lambda *each, told=rejects: told.append(each))
        yield done[piece.run], table, rows, rejects
        done[piece.run] += len(rows) + len(rejects)
