"""The lines of text files on Spark, each with its number.

Lines end in a line feed only, and every one counts. Numbers go on from file to file in the order of their names. Spark
reads files in splits; one pass counts the lines of each, after which a line is numbered by where it stands in its split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from thatch.errors import TableError
from thatch.pipeline.adapter import parallelism
from thatch.pipeline.schemas import ROW
from thatch.pipeline.sources.files import Files, plain_path, reading_told

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["FILE", "LINE", "Lines", "Split", "numbered_lines", "spread"]

LINE = "line"
FILE = "file"  # the number of a file among those that have lines
_PARTS = "spark.sql.files.minPartitionNum"
_FEW = 8  # splits that are told apart by comparing; for more a table of them is joined


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A stretch of a file that one task reads.

    Parameters
    ----------
    file : its path
    start : the byte where it begins
    first : the number of its first line
    count : how many lines it has
    head : its first line that is not empty, if it was asked for
    """

    file: str
    start: int
    first: int
    count: int
    head: str | None


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines as columns `row`, `line` and `file`, and the splits that they come in, in order."""

    table: DataFrame
    splits: tuple[Split, ...]


def numbered_lines(spark: SparkSession, files: Files, *, heads: bool = False) -> Lines:
    """The lines of files. Lines of one split stand together, in order.

    Parameters
    ----------
    heads : whether to look for the first line of each split that is not empty
    """
    from pyspark.sql import functions as f

    _keep_splits(spark)
    with reading_told(files.given):
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
                f.min("position").alias("position"),
                (head if heads else f.lit(None).cast("string")).alias("head"),
            )
            .collect()
        )
    counted.sort(key=lambda each: (plain_path(each[FILE]), each["start"]))
    splits, numbers = _numbered(counted)
    return Lines(_with_numbers(spark, raw, numbers), splits)


def _keep_splits(spark: SparkSession) -> None:
    """Let Spark split files the same way in every job, also when it has gained or lost executors meanwhile."""
    if spark.conf.get(_PARTS, None) is None:
        spark.conf.set(_PARTS, str(parallelism(spark)))


def _numbered(counted: list[Any]) -> tuple[tuple[Split, ...], list[tuple[int, int, int]]]:
    """The splits, and for each its hash, what is added to Spark's positions in it, and the number of its file."""
    splits: list[Split] = []
    numbers = []
    first, file = 0, -1
    for each in counted:
        name = plain_path(each[FILE])
        file += not splits or splits[-1].file != name
        splits.append(
            Split(file=name, start=each["start"], first=first, count=each["count"], head=each["head"])
        )
        numbers.append((each["split"], first - each["position"], file))
        first += each["count"]
    if len({each[0] for each in numbers}) < len(numbers):
        raise TableError("splits of files with different hashes", "two with the same", splits[0].file)
    return tuple(splits), numbers


def _with_numbers(spark: SparkSession, raw: DataFrame, numbers: list[tuple[int, int, int]]) -> DataFrame:
    from pyspark.sql import functions as f

    if len(numbers) <= _FEW:
        shift = _chosen([(split, shift) for split, shift, _ in numbers], "bigint")
        file = _chosen([(split, file) for split, _, file in numbers], "int")
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


def _chosen(cases: list[tuple[int, int]], kind: str) -> Column:
    """The value of the split at hand."""
    from pyspark.sql import functions as f

    chosen: Any = f
    for split, value in cases:
        chosen = chosen.when(f.col("split") == split, f.lit(value).cast(kind))
    if chosen is f:  # no lines at all
        return f.lit(0).cast(kind)
    return chosen.otherwise(_other_splits().cast(kind))  # type: ignore[no-any-return]


def _other_splits() -> Column:
    from pyspark.sql import functions as f

    told = "Expected files that are as they were when their lines were counted, got others, or other splits of them"
    return f.raise_error(f.lit(f"{told} (spark.sql.files.* must not change meanwhile)")).cast("bigint")


def spread(spark: SparkSession, table: DataFrame, files: Files, key: str) -> DataFrame:
    """The rows of packed files, each of which one task reads, spread over as many tasks as run at once."""
    if not files.is_packed:
        return table
    return table.repartition(max(parallelism(spark), len(files.names)), key)
