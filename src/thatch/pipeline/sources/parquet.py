"""Read Parquet files on Spark: number rows, separate text that is not UTF-8."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from thatch.errors import TableError
from thatch.pipeline.adapter import is_local
from thatch.pipeline.columns import REASON, DataFrame, SparkSession, f, quote
from thatch.pipeline.sources.files import Files, plain_path, translate_read_errors

if TYPE_CHECKING:
    from pyspark.sql import Observation

__all__ = ["number_rows", "read_parquet", "split_invalid_text"]

_AS_NUMBERS = "spark.sql.legacy.parquet.nanosAsLong"


def read_parquet(spark: SparkSession, files: Files) -> DataFrame:
    """Read Parquet files as one table; a column that only some files have is null in the others."""
    if is_local(spark) and spark.conf.get(_AS_NUMBERS, "false") == "true":
        return _with_nanoseconds(spark, files)
    try:
        return _read(spark, files)
    except TableError as error:
        if "(NANOS," not in error.got:
            raise
    return _with_nanoseconds(spark, files)


def _read(spark: SparkSession, files: Files) -> DataFrame:
    with translate_read_errors(files.given):
        return spark.read.option("mergeSchema", "true").parquet(files.path)


def _with_nanoseconds(spark: SparkSession, files: Files) -> DataFrame:
    """Read files with timestamps in nanoseconds, as pandas writes them, and cut them to microseconds.

    Spark reads such columns only as numbers, and does not say which they are: the files do.
    """
    if not is_local(spark):
        raise TableError("timestamps in microseconds", "nanoseconds, which Spark cannot read", files.given)
    fine: set[str] = set()
    for name in files.names:
        for field in _schema_of(name):
            if pt.is_timestamp(field.type) and field.type.unit == "ns":
                fine.add(field.name)
            elif pt.is_nested(field.type) and "timestamp[ns" in str(field.type):
                where = f"{name}, column `{field.name}`"
                raise TableError("timestamps in microseconds in lists and objects", "nanoseconds", where)
    if fine:
        spark.conf.set(_AS_NUMBERS, "true")  # for good, since the files may be read at any later time
    table = _read(spark, files)
    micros = {name: f.timestamp_micros(f.expr(f"{quote(name)} div 1000")) for name in fine}
    return table.select(*(micros.get(each, table[quote(each)]).alias(each) for each in table.columns))


def _schema_of(name: str) -> pa.Schema:
    try:
        return pq.read_schema(name)
    except (OSError, pa.ArrowException) as error:
        raise TableError("a Parquet file", str(error), name) from error


def number_rows(spark: SparkSession, table: DataFrame, files: Files, name: str) -> tuple[DataFrame, int]:
    """Add the number of each row as the first column, on from file to file; and how many rows there are."""
    row, columns = f.col("_metadata.row_index"), [table[quote(each)] for each in table.columns]
    if len(files.names) == 1:
        with translate_read_errors(files.given):
            return table.select(row.alias(name), *columns), table.count()  # Spark counts by the file's footer
    file = f.xxhash64("_metadata.file_path")
    with translate_read_errors(files.given):
        by_file = table.groupBy(file.alias("file"), f.col("_metadata.file_path").alias("path"))
        counted = by_file.count().collect()
    counted.sort(key=lambda each: plain_path(each["path"]))
    counts = [each["count"] for each in counted]
    firsts = pa.array(list(accumulate(counts, initial=0))[:-1], pa.int64())
    hashes = pa.array([each["file"] for each in counted], pa.int64())
    known = spark.createDataFrame(pa.table({"thatch_file": hashes, "thatch_first": firsts}))
    hashed = table.select(row.alias("thatch_row"), file.alias("thatch_file"), *columns)
    joined = hashed.join(f.broadcast(known), "thatch_file", "left")
    number = (f.col("thatch_row") + f.col("thatch_first")).alias(name)
    return joined.select(number, *(joined[quote(each)] for each in table.columns)), sum(counts)


def split_invalid_text(
    table: DataFrame, row: str, invalid: Observation | None = None
) -> tuple[DataFrame, DataFrame | None]:
    """Separate the rows whose texts are UTF-8 from the others, as `row` and `reason`; None if there are no texts.

    While the good rows are read, `invalid` counts the others.
    """
    from pyspark.sql.types import StringType

    texts = [each.name for each in table.schema.fields if isinstance(each.dataType, StringType)]
    if not texts:
        return table, None
    reasons: Any = f
    for name in reversed(texts):  # the reason names the last one, as that of the embedded reader does
        text = f"Expected UTF-8 text in column `{name}`"
        reasons = reasons.when(~f.is_valid_utf8(table[quote(name)]), text)
    is_good = reduce(
        lambda all_good, each: all_good & each,
        [f.coalesce(f.is_valid_utf8(table[quote(name)]), f.lit(True)) for name in texts],  # noqa: FBT003 - a literal
    )
    rejects = table.where(~is_good).select(table[quote(row)].alias("row"), reasons.alias(REASON))
    observed = table if invalid is None else table.observe(invalid, f.count_if(~is_good).alias("invalid"))
    return observed.where(is_good), rejects
