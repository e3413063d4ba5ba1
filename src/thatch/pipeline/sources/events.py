"""Event logs on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thatch.errors import TableError
from thatch.pipeline.schemas import ROW
from thatch.pipeline.sources.delimited import read_delimited
from thatch.pipeline.sources.files import Files, find_files
from thatch.pipeline.sources.lines import LINE, numbered_lines, spread
from thatch.pipeline.sources.parquet import apart, check_types, numbered_rows, read_parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Source", "read_events"]

# What `str.strip` takes away: a line of nothing else holds no event.
_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_WHITE += "\u2028\u2029\u202f\u205f\u3000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Events on Spark.

    Parameters
    ----------
    table : the events, a row each
    json : the column that holds each event as JSON text; None if each attribute has its column
    row : the column that numbers the rows: `row`, unless an attribute has that name
    rejects : rows of the files that are no rows of a table, as `row` and `reason`; None if there can be none. Lines
        that hold no JSON object are not among them: they are found by whoever reads the JSON
    """

    table: DataFrame
    json: str | None
    row: str = ROW
    rejects: DataFrame | None = None


def read_events(spark: SparkSession, path: str, *, format: str | None = None) -> Source:  # noqa: A002 - as Spark calls it
    """The events of a file, a folder of files or a glob, each with the number of its row.

    Rows are counted as the embedded reader counts them: from 0, in JSON lines every line, in CSV every record but the
    header and empty lines. Numbers go on from file to file in the order of their names.

    Parameters
    ----------
    path : of files ending in `.jsonl`, `.csv` or `.parquet`; `.gz` may follow the first two. Anything Spark can read
    format : `jsonl`, `csv` or `parquet` for files whose ending does not tell

    Raises
    ------
    TableError
        If there is nothing to read, a file is damaged, or a column has a type that events cannot have.
    """
    files = find_files(spark, path, format)
    if files.kind == "jsonl":
        return _from_lines(spark, files)
    return _from_csv(spark, files) if files.kind == "csv" else _from_parquet(spark, files)


def _from_lines(spark: SparkSession, files: Files) -> Source:
    from pyspark.sql import functions as f

    lines = numbered_lines(spark, files).table.select(ROW, LINE)
    held = lines.where(f.btrim(LINE, f.lit(_WHITE)) != "")
    return Source(table=spread(spark, held, files, ROW), json=LINE)


def _from_csv(spark: SparkSession, files: Files) -> Source:
    found = read_delimited(spark, files, is_typed=True)
    row = _row_name(spark, found.layout.names, files.given)
    table = spread(spark, found.rows(row), files, row)
    return Source(table=table, json=None, row=row, rejects=found.refused() if found.rejects else None)


def _from_parquet(spark: SparkSession, files: Files) -> Source:
    table = read_parquet(spark, files)
    check_types(table, files.given)
    row = _row_name(spark, tuple(table.columns), files.given)
    good, rejects = apart(numbered_rows(spark, table, files, row), row)
    return Source(table=good, json=None, row=row, rejects=rejects)


def _row_name(spark: SparkSession, names: tuple[str, ...], path: str) -> str:
    """A name for the column of numbers that no attribute has."""
    taken = {name.lower() for name in names}
    if len(taken) < len(names) and spark.conf.get("spark.sql.caseSensitive", "false") == "false":
        raise TableError(
            "names of columns that differ in more than case (or Spark with spark.sql.caseSensitive=true)",
            ", ".join(names),
            path,
        )
    count = 1
    while (name := ROW if count == 1 else f"{ROW}_{count}") in taken:
        count += 1
    return name
