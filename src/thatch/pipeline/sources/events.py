"""Read event logs on Spark."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thatch.errors import TableError
from thatch.formats.reading import Reading
from thatch.pipeline.adapter import is_connect
from thatch.pipeline.columns import ROW, DataFrame, SparkSession, f
from thatch.pipeline.pruning import attribute_columns
from thatch.pipeline.sources.delimited import read_delimited
from thatch.pipeline.sources.files import Files, find_files
from thatch.pipeline.sources.lines import LINE, is_not_blank, read_numbered_lines, read_plain_lines, spread
from thatch.pipeline.sources.parquet import number_rows, read_parquet, split_invalid_text

if TYPE_CHECKING:
    from pyspark.sql import Observation

__all__ = ["EventSource", "read_events"]

Names = Collection[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSource:
    """Events on Spark."""

    table: DataFrame  # the events, one a row
    json: str | None  # the column that holds each event as JSON text; None if each attribute has its column
    row: str = ROW  # the column that numbers the rows: `row`, unless an attribute has that name
    count: int  # how many rows `table` and `rejects` have together; 0 for JSON lines that are not numbered
    # Rows of the files that are no rows of a table, as `row` and `reason`; None if there can be none. Lines
    # that hold no JSON object are not among them: whoever reads the JSON finds those.
    rejects: DataFrame | None = None
    invalid: Observation | None = None  # counts the rejects while `table` is read
    remarks: tuple[str, ...] = ()  # on CSV columns whose cells are not read as they may be meant

    def rejects_found(self) -> DataFrame | None:
        """The rejects, None if there are none; to be called after an action has read the whole table."""
        if self.invalid is not None and self.count and not self.invalid.get["invalid"]:
            return None
        return self.rejects


def read_events(
    spark: SparkSession,
    path: str,
    *,
    format: str | None = None,  # noqa: A002 - as in Spark
    with_numbers: bool = True,
    reading: Reading | None = None,
    names: Collection[str] | None = None,
) -> EventSource:
    """Read the events of a file, a folder of files or a glob.

    Rows are numbered as the embedded reader numbers them: from 0, in JSON lines every line, in CSV every record but the
    header and empty lines; on from file to file in the order of their names.

    Parameters
    ----------
    path : of files ending in `.jsonl`, `.csv` or `.parquet`; `.gz` may follow the first two. Anything Spark can read
    format : `jsonl`, `csv` or `parquet` for files with other endings
    reading : encoding, missing values and declared types of CSV, limits
    with_numbers : whether rows need their numbers; JSON lines are read once more for them

    names : the attributes that are asked for (`Engine.attributes`); columns that hold none of them are left out, and may
        have any type

    Raises
    ------
    TableError
        If there is nothing to read, a file is damaged, or a column that is asked for has a type that events cannot have.
    """
    files = find_files(spark, path, format, reading)
    if files.kind == "jsonl":
        return _read_lines(spark, files, with_numbers=with_numbers)
    read = _read_csv if files.kind == "csv" else _read_parquet
    return read(spark, files, names)


def _read_lines(spark: SparkSession, files: Files, *, with_numbers: bool) -> EventSource:
    count = 0
    if with_numbers:
        lines = read_numbered_lines(spark, files)
        table, count = lines.table, sum(split.filled for split in lines.splits)
    else:
        table = read_plain_lines(spark, files)
    table = table.select(ROW, LINE).where(is_not_blank(f.col(LINE)))
    return EventSource(table=spread(spark, table, files, ROW), json=LINE, count=count)


def _read_csv(spark: SparkSession, files: Files, names: Names) -> EventSource:
    found = read_delimited(spark, files, is_typed=True, wanted=names)
    row = _row_name(spark, found.layout.typed, files.given)
    table = spread(spark, found.rows(row), files, row)
    rejects = found.rejects() if found.reject_count else None
    return EventSource(
        table=table, json=None, row=row, count=found.count, rejects=rejects, remarks=found.remarks
    )


def _read_parquet(spark: SparkSession, files: Files, names: Names) -> EventSource:
    from pyspark.sql import Observation

    table = read_parquet(spark, files)
    if names is not None:
        table = table.select(*attribute_columns(table, names, besides=None))
    row = _row_name(spark, tuple(table.columns), files.given)
    numbered, count = number_rows(spark, table, files, row)
    invalid = None if is_connect(spark) else Observation()
    good, rejects = split_invalid_text(numbered, row, invalid)
    if rejects is None:
        invalid = None
    return EventSource(
        table=good,
        json=None,
        row=row,
        count=count,
        rejects=rejects,
        invalid=invalid,
    )


def _row_name(spark: SparkSession, names: tuple[str, ...], path: str) -> str:
    """Choose a name for the column of numbers that no attribute has."""
    taken = {name.lower() for name in names}
    if len(taken) < len(names) and spark.conf.get("spark.sql.caseSensitive", "false") == "false":
        raise TableError(
            "column names that differ in more than case (or Spark with spark.sql.caseSensitive=true)",
            ", ".join(names),
            path,
        )
    number = 1
    while (name := ROW if number == 1 else f"{ROW}_{number}") in taken:
        number += 1
    return name
