"""An index that every worker maps: built once, in one file, and carried to where the workers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thatch.engine import Engine
from thatch.errors import IndexFileError, SubscriptionError, TableError
from thatch.model.schema import Schema
from thatch.pipeline.adapter import Carried, carry
from thatch.pipeline.failures import failures_told
from thatch.pipeline.folders import work_folder
from thatch.pipeline.schemas import EXPIRES, FILTER, SUBSCRIBER, SUBSCRIPTION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Index", "engine_of", "indexed", "indexed_boxes", "subscription_columns"]

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_AT_ONCE = 50_000  # subscriptions that are read at a time, so that not all are Python objects at once


@dataclass(frozen=True, slots=True)
class Index:
    """An index that workers can open."""

    file: Carried
    places: int

    def open(self) -> Engine:
        """The engine in the process that asks, mapped once."""
        path = self.file.here()
        try:
            status = path.stat()
        except OSError as error:
            raise IndexFileError("the index that the match began with", str(error), str(path)) from error
        return _opened(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _opened(path: str, _changed: int, _size: int) -> Engine:
    return Engine.open(path)


def indexed(
    spark: SparkSession, subscriptions: DataFrame | Engine | str | Path, schema: Schema | None = None
) -> Index:
    """An index of subscriptions, carried to all workers.

    Parameters
    ----------
    subscriptions : a table with `subscription`, `filter` and perhaps `subscriber` and `expires`, of which every row
        must be good (`load` tells the bad ones apart); an engine; or the path of one that was saved
    schema : declared types, for a table
    """
    if isinstance(subscriptions, (str, Path)):
        path = Path(subscriptions)
        places = len(Engine.open(path).ids())  # refuses what is damaged, here and not in every worker
        return Index(carry(spark, path), places)
    return _saved(
        spark, subscriptions if isinstance(subscriptions, Engine) else engine_of(subscriptions, schema)
    )


def indexed_boxes(spark: SparkSession, boxes: DataFrame, sides: Mapping[str, tuple[str, str]]) -> Index:
    """An index of boxes whose closed bounds are columns, as geofences and ranges often are.

    Parameters
    ----------
    boxes : a table with `subscription` and perhaps `subscriber`, and the columns that `sides` names
    sides : the columns of the lower and the upper bound of each attribute, numbers that doubles hold exactly; null in
        both means that it is not constrained, in one that there is no bound
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
    with failures_told("reading the boxes"):
        # As texts: a call across to Java for every column would take longer.
        table = boxes.select(*("`" + name.replace("`", "``") + "`" for name in names)).toArrow()
    low, high = (
        np.column_stack(
            [np.zeros((table.num_rows, 0)), *(_bound(table, pair[end]) for pair in sides.values())]
        )
        for end in (0, 1)
    )
    # A bound that is missing on one side only is no bound there.
    is_free = np.isnan(low) & np.isnan(high)
    low, high = (
        np.where(is_free | ~np.isnan(low), low, -np.inf),
        np.where(is_free | ~np.isnan(high), high, np.inf),
    )
    subscribers = table.column(SUBSCRIBER).to_pylist() if SUBSCRIBER in names else None
    ids = table.column(SUBSCRIPTION).combine_chunks()
    return _saved(spark, Engine.from_columns(ids, list(sides), low, high, subscribers=subscribers))


def _bound(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """A column of bounds as doubles, NaN where there is none."""
    column = table.column(name)
    where = f"column `{name}` of the boxes"
    try:
        doubles = column.cast(pa.float64())  # refuses an integer that would be rounded
    except pa.ArrowInvalid as error:
        raise TableError("numbers that doubles hold exactly", str(error), where) from error
    if pc.any(pc.is_nan(doubles)).as_py():
        raise TableError("a number or null", "NaN", where)
    return doubles.to_numpy()  # type: ignore[no-any-return]


def _saved(spark: SparkSession, engine: Engine) -> Index:
    path = work_folder() / f"{uuid4().hex}.thatch"
    engine.save(path)
    return Index(carry(spark, path), len(engine.ids()))


def engine_of(subscriptions: DataFrame, schema: Schema | None) -> Engine:
    """An engine of a table in which every row must be good, in the order of its rows."""
    with failures_told("reading the subscriptions"):
        table = subscriptions.select(*subscription_columns(subscriptions)).toArrow()
    repeated = pc.value_counts(table.column(SUBSCRIPTION).combine_chunks())
    often = repeated.filter(pc.greater(repeated.field("counts"), 1))
    if len(often):
        raise SubscriptionError("each id once", f"{often[0]['values'].as_py()!r} {often[0]['counts']} times")
    engine = Engine(schema)
    for start in range(0, table.num_rows, _AT_ONCE):
        _fill(engine, table.slice(start, _AT_ONCE), start)
    engine.compact()
    return engine


def _fill(engine: Engine, part: pa.Table, start: int) -> None:
    rejects = engine.subscribe_many(part)
    if rejects.num_rows:
        first = rejects.slice(0, 1).to_pylist()[0]
        expected = "a table in which every row is a subscription (`load` tells the others apart)"
        raise SubscriptionError(
            expected, first["reason"], f"row {start + first['row']}, {first['subscription']!r}"
        )


def subscription_columns(table: DataFrame) -> list[Any]:
    """The columns of a table of subscriptions, in the types that they have."""
    from pyspark.sql import functions as f

    types = dict(table.dtypes)
    for name in (SUBSCRIPTION, FILTER):
        if name not in types:
            raise TableError(
                f"a column `{name}` in the table of subscriptions", ", ".join(types) or "no columns"
            )
    for name in (SUBSCRIPTION, FILTER, SUBSCRIBER):
        if types.get(name, "string") != "string":
            raise TableError("text", types[name], f"column `{name}` of the subscriptions")
    chosen = [f.col(name) for name in (SUBSCRIPTION, SUBSCRIBER, FILTER) if name in types]
    if EXPIRES in types:
        chosen.append(_seconds(types[EXPIRES]).alias(EXPIRES))
    return chosen


def _seconds(kind: str) -> Any:
    """When subscriptions expire, in seconds since 1970."""
    from pyspark.sql import functions as f

    column = f.col(EXPIRES)
    if kind in ("timestamp", "timestamp_ntz"):
        return f.unix_micros(column.cast("timestamp")) / 1e6
    if kind in _NUMBERS or kind.startswith("decimal"):
        return column.cast("double")
    raise TableError("seconds since 1970 or a timestamp", kind, f"column `{EXPIRES}` of the subscriptions")
