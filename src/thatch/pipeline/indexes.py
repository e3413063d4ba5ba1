"""An index that every worker maps: built once, saved to one file, and shared with all workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.engine import Engine
from thatch.engine.subscriptions import read_subscription
from thatch.errors import FilterError, IndexFileError, SubscriptionError, TableError, ThatchError, shown
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.pipeline.adapter import translate_spark_errors
from thatch.pipeline.columns import (
    EXPIRES,
    FILTER,
    REASON,
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    Column,
    DataFrame,
    SparkSession,
    f,
    quote,
)
from thatch.pipeline.forms import FORM, read_form
from thatch.pipeline.tasks import SharedFile, scratch_file, share_file

__all__ = [
    "SharedIndex",
    "bad_row",
    "build_box_index",
    "build_engine",
    "build_index",
    "check_columns",
    "check_once",
    "fill_engine",
    "input_table",
    "parse_row",
]

_ALL_GOOD = "a table in which every row is a subscription (`load` separates the others)"
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_AT_ONCE = 50_000  # subscriptions that are Python objects at the same time


@dataclass(frozen=True, slots=True)
class SharedIndex:
    """An index that workers can open, how many slots it has, and which attributes its filters read."""

    file: SharedFile[Engine]
    slots: int
    attributes: frozenset[str]

    def open(self) -> Engine:
        """The engine, mapped once a process."""
        try:
            return self.file.open()
        except OSError as error:
            raise IndexFileError("the index that the job started with", str(error)) from error


def build_index(
    spark: SparkSession, subscriptions: DataFrame | Engine | str | Path, schema: Schema | None = None
) -> SharedIndex:
    """Build an index of subscriptions and share it with all workers.

    Parameters
    ----------
    subscriptions : a table with `subscription`, `filter` and perhaps `subscriber` and `expires`, in which every row must
        be a subscription (`load` separates the others); an engine; or the path of a saved engine
    schema : declared types, for a table
    """
    if isinstance(subscriptions, (str, Path)):
        path = Path(subscriptions)
        engine = Engine.open(path)  # refuses a damaged file here, not in every worker
        file = share_file(spark, path, Engine.open)
        return SharedIndex(file, len(engine.ids()), engine.attributes())
    return _share(
        spark, subscriptions if isinstance(subscriptions, Engine) else build_engine(subscriptions, schema)
    )


def build_box_index(
    spark: SparkSession, boxes: DataFrame, sides: Mapping[str, tuple[str, str]]
) -> SharedIndex:
    """Build an index of boxes whose closed bounds are columns, as those of geofences and ranges often are.

    Parameters
    ----------
    boxes : a table with `subscription` and perhaps `subscriber`, and the columns that `sides` names
    sides : for each attribute the columns of its lower and upper bound, numbers that doubles hold exactly; null in both
        leaves the attribute unconstrained, null in one leaves that side open
    """
    types = dict(boxes.dtypes)
    bounds = [column for pair in sides.values() for column in pair]
    names = [SUBSCRIPTION, *([SUBSCRIBER] if SUBSCRIBER in types else []), *bounds]
    for name in names:
        if name not in types:
            raise TableError(f"a column `{name}` in the table of boxes", ", ".join(types) or "no columns")
        known, expected = (_NUMBERS, "numbers") if name in bounds else (("string",), "text")
        if types[name] not in known:
            raise TableError(expected, types[name], f"column `{name}` of the boxes")
    with translate_spark_errors("reading the boxes"):
        # By name: a call to Java for every column would take longer.
        table = boxes.select(*map(quote, names)).toArrow()
    nothing = np.zeros((table.num_rows, 0))
    low, high = (
        np.column_stack([nothing, *(_bound(table, pair[end]) for pair in sides.values())]) for end in (0, 1)
    )
    is_free = np.isnan(low) & np.isnan(high)
    low[np.isnan(low) & ~is_free] = -np.inf
    high[np.isnan(high) & ~is_free] = np.inf
    subscribers = table.column(SUBSCRIBER).to_pylist() if SUBSCRIBER in names else None
    ids = table.column(SUBSCRIPTION).combine_chunks()
    return _share(spark, Engine.from_columns(ids, list(sides), low, high, subscribers=subscribers))


def _bound(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """A column of bounds as doubles, NaN for null."""
    column = table.column(name)
    where = f"column `{name}` of the boxes"
    try:
        doubles = column.cast(pa.float64())  # refuses an integer that would be rounded
    except pa.ArrowInvalid as error:
        raise TableError("numbers that doubles hold exactly", str(error), where) from error
    if pc.any(pc.is_nan(doubles)).as_py():
        raise TableError("a number or null", "NaN", where)
    bounds: npt.NDArray[np.float64] = doubles.to_numpy()
    return bounds


def _share(spark: SparkSession, engine: Engine) -> SharedIndex:
    path = scratch_file(".thatch")
    engine.save(path)
    return SharedIndex(share_file(spark, path, Engine.open), len(engine.ids()), engine.attributes())


def build_engine(subscriptions: DataFrame, schema: Schema | None) -> Engine:
    """Build an engine of a table, in the order of its rows, each of which must be a subscription."""
    with translate_spark_errors("reading the subscriptions"):
        table = input_table(subscriptions).drop(ROW, REASON).toArrow()
    check_once(table.column(SUBSCRIPTION), SubscriptionError, "each id once")
    engine, rejects = fill_engine(table, schema)
    for row, reason in rejects:
        raise bad_row(reason, row, table.column(SUBSCRIPTION)[row].as_py())
    return engine


def check_once(column: pa.ChunkedArray, error: type[SubscriptionError | TableError], expected: str) -> None:
    """Refuse a column in which a value occurs twice."""
    repeated = pc.value_counts(column)
    often = repeated.filter(pc.greater(repeated.field("counts"), 1))
    if len(often):
        raise error(expected, f"{often[0]['values'].as_py()!r} {often[0]['counts']} times")


def bad_row(reason: str, row: int | None, identity: str | None, text: str | None = None) -> SubscriptionError:
    """The error for a row that is not a subscription, in a table in which every row must be one."""
    which = f"subscription {shown(identity)}" if identity is not None else f"filter {shown(text)}"
    return SubscriptionError(_ALL_GOOD, reason, which if row is None else f"row {row}, {shown(identity)}")


def parse_row(
    schema: Schema | None,
    row: int | None,
    identity: str | None,
    text: str | None,
    subscriber: str | None = None,
    reason: str | None = None,
    form: bytes | None = None,
) -> Filter:
    """Parse the filter of a row that must be a subscription; `reason` says why the row could not be read.

    A row that was checked may have a `form`, as `write_form` gives it; then nothing is parsed.
    """
    if form is not None:
        return read_form(form, schema)
    try:
        if reason is not None:
            raise FilterError("a row that could be read", reason)
        if identity is None:
            raise SubscriptionError("a text as id", "null")
        if text is None:
            raise FilterError("filter text", "null")
        return read_subscription(identity, text, subscriber, None, schema)[1]
    except ThatchError as error:
        raise bad_row(str(error), row, identity, text) from error


def fill_engine(table: pa.Table, schema: Schema | None) -> tuple[Engine, list[tuple[int, str]]]:
    """Build an engine of the rows of a table that are subscriptions, and list the others with the reasons.

    Of several good rows with one id the first counts, as in `Engine.subscribe_many`. Rows with a `FORM` are not parsed.
    """
    engine = Engine(schema)
    rejects: list[tuple[int, str]] = []
    for start in range(0, table.num_rows, _AT_ONCE):
        part = table.slice(start, _AT_ONCE)
        rows = np.arange(start, start + part.num_rows)
        ids = part.column(SUBSCRIPTION).to_pylist() if start else []
        is_new = np.array([identity is None or identity not in engine for identity in ids], np.bool_)
        if not is_new.all():
            for row in np.flatnonzero(~is_new).tolist():
                again = SubscriptionError("each id once in the table", f"{shown(ids[row])} again")
                rejects.append((start + row, str(again)))
            part, rows = part.filter(pa.array(is_new)), rows[is_new]
        refused = engine.subscribe_many(part, filters=_read_forms(part, schema)).to_pylist()
        rejects += [(int(rows[each["row"]]), each["reason"]) for each in refused]
    engine.compact()
    return engine, sorted(rejects)


def _read_forms(table: pa.Table, schema: Schema | None) -> list[Filter] | None:
    """The filters of rows that were checked, which have a form; None for other rows."""
    if FORM not in table.column_names or table.column(FORM).null_count:
        return None
    return [read_form(each, schema) for each in table.column(FORM).to_pylist()]


def check_columns(table: DataFrame) -> dict[str, str]:
    """Refuse a table of subscriptions that lacks a column or has one of a wrong type; return the types by column."""
    types = dict(table.dtypes)
    for name in (SUBSCRIPTION, FILTER):
        if name not in types:
            raise TableError(
                f"a column `{name}` in the table of subscriptions", ", ".join(types) or "no columns"
            )
    for name in (SUBSCRIPTION, FILTER, SUBSCRIBER):
        if types.get(name, "string") != "string":
            raise TableError("text", types[name], f"column `{name}` of the subscriptions")
    return types


def input_table(table: DataFrame) -> DataFrame:
    """Choose the columns of a table of subscriptions: `row`, `subscription`, `subscriber`, `filter`, `expires`, `reason`.

    `expires` becomes seconds since 1970. Columns that the table lacks are null, but rows are numbered as they come. Last
    comes `FORM`, null unless the table is of rows that were checked.
    """
    types = check_columns(table)
    nothing = f.lit(None).cast("string")
    return table.select(
        (f.col(ROW) if ROW in types else f.monotonically_increasing_id()).cast("bigint").alias(ROW),
        SUBSCRIPTION,
        (f.col(SUBSCRIBER) if SUBSCRIBER in types else nothing).alias(SUBSCRIBER),
        FILTER,
        _seconds(types.get(EXPIRES)).alias(EXPIRES),
        (f.col(REASON).cast("string") if REASON in types else nothing).alias(REASON),
        (f.col(FORM) if FORM in types else f.lit(None).cast("binary")).alias(FORM),
    )


def _seconds(kind: str | None) -> Column:
    if kind is None:
        return f.lit(None).cast("double")
    column = f.col(EXPIRES)
    if kind in ("timestamp", "timestamp_ntz"):
        return f.unix_micros(column.cast("timestamp")) / 1e6
    if kind in _NUMBERS or kind.startswith("decimal"):
        return column.cast("double")
    raise TableError("seconds since 1970 or a timestamp", kind, f"column `{EXPIRES}` of the subscriptions")
