"""Read the lines of text files on Spark, each with its number.

Only a line feed ends a line, and every line counts. Numbers go on from file to file in the order of their names. Spark
reads files in splits: one pass counts the lines of each, and then a line is numbered by its position in its split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from thatch.errors import TableError
from thatch.pipeline.adapter import parallelism
from thatch.pipeline.columns import ROW, Column, DataFrame, SparkSession, f
from thatch.pipeline.sources.files import Files, plain_path, translate_read_errors

__all__ = [
    "FILE",
    "LINE",
    "FileSplit",
    "Lines",
    "is_not_blank",
    "read_numbered_lines",
    "read_plain_lines",
    "spread",
]

LINE = "line"
FILE = "file"  # the number of a file among those that have lines
_PARTS = "spark.sql.files.minPartitionNum"
_FEW = 8  # splits that a chain of comparisons tells apart; more are joined as a table

# The characters that `str.strip` removes: a line of nothing else holds no event.
_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_WHITE += "\u2028\u2029\u202f\u205f\u3000"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSplit:
    """A part of a file that one task reads."""

    file: str  # its path
    start: int  # the byte where it begins
    first: int  # the number of its first line
    filled: int  # how many lines are not blank
    head: str | None  # its first line that is not empty, if it was asked for


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines as columns `row`, `line` and `file`, and their splits in order."""

    table: DataFrame
    splits: tuple[FileSplit, ...]


def read_numbered_lines(spark: SparkSession, files: Files, *, heads: bool = False) -> Lines:
    """Read the lines of files; those of one split stay together, in order.

    If `heads`, also find the first line of each split that is not empty.
    """
    _keep_splits(spark)
    with translate_read_errors(files.given):
        text = spark.read.option("lineSep", "\n").text(files.path)
        file, start = f.col("_metadata.file_path"), f.col("_metadata.file_block_start")
        raw = text.select(
            f.col("value").alias(LINE),
            f.monotonically_increasing_id().alias("position"),
            file.alias(FILE),
            start.alias("start"),
            f.xxhash64(file, start).alias("split"),
        )
        head = f.min_by(LINE, f.when(~f.col(LINE).isin("", "\r"), f.col("position")))
        counted = (
            raw.groupBy("split", FILE, "start")
            .agg(
                f.count("*").alias("count"),
                f.count_if(is_not_blank(f.col(LINE))).alias("filled"),
                f.min("position").alias("position"),
                (head if heads else f.lit(None).cast("string")).alias("head"),
            )
            .collect()
        )
    counted.sort(key=lambda each: (plain_path(each[FILE]), each["start"]))
    splits, numbers = _number_splits(counted)
    return Lines(_add_numbers(spark, raw, numbers), splits)


def read_plain_lines(spark: SparkSession, files: Files) -> DataFrame:
    """Read lines as `row` and `line` in one pass; numbers are unique, but not those of the files."""
    with translate_read_errors(files.given):
        text = spark.read.option("lineSep", "\n").text(files.path)
    return text.select(f.monotonically_increasing_id().alias(ROW), f.col("value").alias(LINE))


def is_not_blank(line: Column) -> Column:
    """Whether a line has more than white space."""
    return f.btrim(line, f.lit(_WHITE)) != ""


def _keep_splits(spark: SparkSession) -> None:
    """Make Spark split files the same way in every job, even if it gains or loses executors meanwhile."""
    if spark.conf.get(_PARTS, None) is None:
        spark.conf.set(_PARTS, str(parallelism(spark)))


def _number_splits(counted: list[Any]) -> tuple[tuple[FileSplit, ...], list[tuple[int, int, int]]]:
    """The splits, and of each its hash, the shift from Spark's positions to numbers, and the number of its file."""
    splits: list[FileSplit] = []
    numbers = []
    first, file = 0, -1
    for each in counted:
        name = plain_path(each[FILE])
        file += not splits or splits[-1].file != name
        filled, head = each["filled"], each["head"]
        splits.append(FileSplit(file=name, start=each["start"], first=first, filled=filled, head=head))
        numbers.append((each["split"], first - each["position"], file))
        first += each["count"]
    if len({each[0] for each in numbers}) < len(numbers):
        raise TableError("Two splits of the files have the same hash: rename a file", where=splits[0].file)
    return tuple(splits), numbers


def _add_numbers(spark: SparkSession, raw: DataFrame, numbers: list[tuple[int, int, int]]) -> DataFrame:
    if len(numbers) <= _FEW:
        shift = _by_split([(split, shift) for split, shift, _ in numbers], "bigint")
        file = _by_split([(split, file) for split, _, file in numbers], "int")
        return raw.select(
            (f.col("position") + shift).alias(ROW), f.col(LINE), f.coalesce(file, f.lit(0)).alias(FILE)
        )
    columns = [pa.array(each, pa.int64()) for each in zip(*numbers, strict=True)]
    known = spark.createDataFrame(pa.table(columns, names=["split", "shift", "number"]))
    joined = raw.drop(FILE).join(f.broadcast(known), "split", "left")
    return joined.select(
        (f.col("position") + f.coalesce("shift", _other_splits())).alias(ROW),
        f.col(LINE),
        f.col("number").cast("int").alias(FILE),
    )


def _by_split(cases: list[tuple[int, int]], kind: str) -> Column:
    """The value for the split of a row."""
    chosen: Any = f
    for split, value in cases:
        chosen = chosen.when(f.col("split") == split, f.lit(value).cast(kind))
    if chosen is f:  # no lines at all
        return f.lit(0).cast(kind)
    return chosen.otherwise(_other_splits().cast(kind))  # type: ignore[no-any-return]


def _other_splits() -> Column:
    text = "Files or their splits changed after their lines were counted (keep spark.sql.files.* the same)"
    return f.raise_error(f.lit(text)).cast("bigint")


def spread(spark: SparkSession, table: DataFrame, files: Files, key: str) -> DataFrame:
    """Spread the rows of packed files, each of which one task reads, over as many tasks as run at once."""
    if not files.is_packed:
        return table
    return table.repartition(max(parallelism(spark), len(files.names)), key)
