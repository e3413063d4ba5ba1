"""Parquet files on Spark: rows numbered, types checked before anything runs, text that is not UTF-8 apart."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from thatch.errors import TableError
from thatch.pipeline.adapter import is_local
from thatch.pipeline.schemas import REASON
from thatch.pipeline.sources.files import Files, plain_path, reading_told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

__all__ = ["apart", "check_types", "numbered_rows", "read_parquet"]

_AS_NUMBERS = "spark.sql.legacy.parquet.nanosAsLong"


def read_parquet(spark: SparkSession, files: Files) -> DataFrame:
    """Parquet files as one table: a column that only some files have is null in the others."""
    if is_local(spark) and spark.conf.get(_AS_NUMBERS, "false") == "true":
        return _with_nanoseconds(spark, files)
    try:
        return _read(spark, files)
    except TableError as error:
        if "(NANOS," not in error.got:
            raise
    return _with_nanoseconds(spark, files)


def _read(spark: SparkSession, files: Files) -> DataFrame:
    with reading_told(files.given):
        return spark.read.option("mergeSchema", "true").parquet(files.path)


def _with_nanoseconds(spark: SparkSession, files: Files) -> DataFrame:
    """Files with timestamps in nanoseconds, as pandas writes them, cut to microseconds.

    Spark reads such columns only as numbers, and then does not tell which they are: the files must.
    """
    from pyspark.sql import functions as f

    if not is_local(spark):
        raise TableError("timestamps in microseconds", "nanoseconds, which Spark cannot read", files.given)
    fine: set[str] = set()
    for name in files.names:
        for field in _schema_of(name):
            if pt.is_timestamp(field.type) and field.type.unit == "ns":
                fine.add(field.name)
            elif pt.is_nested(field.type) and "timestamp[ns" in str(field.type):
                raise TableError(
                    "timestamps in microseconds inside of lists and objects",
                    "nanoseconds",
                    f"{name}, column `{field.name}`",
                )
    if fine:
        spark.conf.set(_AS_NUMBERS, "true")  # for good: it must hold whenever the files are read
    table = _read(spark, files)
    micros = {name: f.timestamp_micros(f.expr(f"{_quoted(name)} div 1000")) for name in fine}
    return table.select(*(micros.get(each, table[_quoted(each)]).alias(each) for each in table.columns))


def _schema_of(name: str) -> pa.Schema:
    try:
        return pq.read_schema(name)
    except (OSError, pa.ArrowException) as error:
        raise TableError("a Parquet file", str(error), name) from error


def check_types(table: DataFrame, path: str) -> None:
    """Refuse columns that cannot be attributes of events."""
    for field in table.schema.fields:
        _check_type(field.dataType, f"{path}, column `{field.name}`")


def _check_type(kind: DataType, where: str) -> None:
    from pyspark.sql import types as t

    if isinstance(kind, t.StructType):
        for field in kind.fields:
            _check_type(field.dataType, f"{where}.{field.name}")
    elif isinstance(kind, t.ArrayType):
        _check_type(kind.elementType, where)
    elif not isinstance(
        kind,
        (
            t.NullType,
            t.BooleanType,
            t.IntegralType,
            t.FractionalType,
            t.StringType,
            t.TimestampType,
            t.TimestampNTZType,
            t.DateType,
        ),
    ):
        raise TableError("a type of JSON-like values", kind.simpleString(), where)


def numbered_rows(spark: SparkSession, table: DataFrame, files: Files, name: str) -> DataFrame:
    """The table with the number of each row as its first column; numbers go on from file to file."""
    from pyspark.sql import functions as f

    row, columns = f.col("_metadata.row_index"), [table[_quoted(each)] for each in table.columns]
    if len(files.names) == 1:
        return table.select(row.alias(name), *columns)
    file = f.xxhash64("_metadata.file_path")
    with reading_told(files.given):
        counted = (
            table.groupBy(f.col("_metadata.file_path").alias("path"), file.alias("file")).count().collect()
        )
    counted.sort(key=lambda each: plain_path(each["path"]))
    firsts, total = [], 0
    for each in counted:
        firsts.append(total)
        total += each["count"]
    known = spark.createDataFrame(
        pa.table({"thatch_file": [each["file"] for each in counted], "thatch_first": firsts})
        if counted
        else pa.table({"thatch_file": pa.array([], pa.int64()), "thatch_first": pa.array([], pa.int64())})
    )
    hashed = table.select(row.alias("thatch_row"), file.alias("thatch_file"), *columns)
    joined = hashed.join(f.broadcast(known), "thatch_file", "left")
    number = (f.col("thatch_row") + f.col("thatch_first")).alias(name)
    return joined.select(number, *(joined[_quoted(each)] for each in table.columns))


def apart(table: DataFrame, row: str) -> tuple[DataFrame, DataFrame | None]:
    """The rows whose texts are UTF-8, and the others as `row` and `reason`; None if there are no texts."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    texts = [each.name for each in table.schema.fields if isinstance(each.dataType, StringType)]
    if not texts:
        return table, None
    reasons: Any = f
    for name in reversed(texts):  # the last one is told, as the embedded reader does
        told = f"Expected UTF-8 text in column `{name}`"
        reasons = reasons.when(~f.is_valid_utf8(table[_quoted(name)]), told)
    is_good = reduce(
        lambda all_good, each: all_good & each,
        [f.coalesce(f.is_valid_utf8(table[_quoted(name)]), f.lit(True)) for name in texts],  # noqa: FBT003
    )
    refused = table.where(~is_good).select(table[_quoted(row)].alias("row"), reasons.alias(REASON))
    return table.where(is_good), refused


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
