"""Names, types and functions of columns, and the classes of PySpark for annotations.

Importing Thatch must not import PySpark: other modules of the pipeline import from here what they need at the top.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.types as pt

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import functions as f
else:
    Column = DataFrame = SparkSession = Any

    class _Functions:
        """`pyspark.sql.functions`, imported on first use."""

        def __getattr__(self, name: str) -> Any:
            from pyspark.sql import functions

            return getattr(functions, name)

    f = _Functions()

__all__ = [
    "EVENT",
    "EVENTS",
    "EXPIRES",
    "FILTER",
    "HOUR",
    "REASON",
    "ROW",
    "SLOT",
    "SLOTS",
    "SUBSCRIBER",
    "SUBSCRIPTION",
    "Column",
    "DataFrame",
    "SparkSession",
    "arrow_schema",
    "f",
    "quote",
    "spark_schema",
]

EVENT = "event"  # names an event: a number that we assign, or a column of the user
SUBSCRIPTION = "subscription"
SUBSCRIBER = "subscriber"
FILTER = "filter"
EXPIRES = "expires"
SLOT = "slot"  # the number of a subscription in its index
SLOTS = "slots"
EVENTS = "events"  # a count
HOUR = "hour"  # its beginning, in UTC
ROW = "row"  # the number of a row in its file or files
REASON = "reason"  # why a row was refused


def quote(name: str) -> str:
    """Quote a column name for Spark, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def arrow_schema(*columns: str | tuple[str, pa.DataType]) -> pa.Schema:
    """Make an Arrow schema; a column without a type is a text, or what `row` and `expires` are everywhere."""
    known = {ROW: pa.int64(), EXPIRES: pa.float64()}
    return pa.schema(
        [each if isinstance(each, tuple) else (each, known.get(each, pa.string())) for each in columns]
    )


def spark_schema(schema: pa.Schema) -> str:
    """Write an Arrow schema in Spark's DDL."""
    return ", ".join(f"{quote(field.name)} {_spark_type(field.type)}" for field in schema)


_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
}


def _spark_type(kind: pa.DataType) -> str:
    return f"array<{_spark_type(kind.value_type)}>" if pt.is_list(kind) else _TYPES[kind]
