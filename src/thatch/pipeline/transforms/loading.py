"""Subscriptions from text, in parallel: every row is accepted, or refused with the reason that the engine gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from thatch.engine.subscriptions import read_subscription
from thatch.errors import FilterError, SubscriptionError, ThatchError, shown
from thatch.model.schema import Schema
from thatch.model.values import is_text
from thatch.pipeline.indexes import subscription_columns
from thatch.pipeline.schemas import EXPIRES, FILTER, REASON, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.transforms.conditions import conditions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BOXES", "CONDITIONS", "Loaded", "apart", "judged", "load"]

BOXES = "boxes"  # how many an accepted filter has
CONDITIONS = "conditions"  # of an accepted filter: for each its kind, a blank, and its attribute
UNREAD = "unread"  # why a row could not be read
IS_BAD = "is_bad"
IS_AGAIN = "is_again"  # whether a good row before this one has its id

_INPUT = (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES, UNREAD)
_JUDGED = (
    f"{ROW} bigint, {SUBSCRIPTION} string, {SUBSCRIBER} string, {FILTER} string, {EXPIRES} double, {UNREAD} string, "
    f"{REASON} string, {BOXES} bigint, {CONDITIONS} array<string>"
)
_REJECTS = f"{ROW} bigint, {SUBSCRIPTION} string, {FILTER} string, {REASON} string"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Subscriptions that are good, and the rows that are not.

    Parameters
    ----------
    accepted : `row`, `subscription`, `subscriber`, `filter` (as given), `expires` (seconds since 1970)
    rejects : `row`, `subscription`, `filter`, `reason`
    """

    accepted: DataFrame
    rejects: DataFrame


def load(table: DataFrame, *, schema: Schema | None = None) -> Loaded:
    """Parse and check every subscription of a table. Each of its rows is in one of the two results.

    Of several good rows with one id the first is accepted. No row is ever fatal.

    Parameters
    ----------
    table : `subscription` and `filter`, and if there are any `subscriber`, `expires`, `row` (numbers the rows; else they
        are numbered as they come) and `reason` (why a row could not be read), as `read_subscriptions` gives them
    schema : declared types of attributes

    Raises
    ------
    TableError
        If a column is missing or of a wrong type.

    Notes
    -----
    Both results parse the table: keep `judged` where both are used.
    """
    return apart(judged(table, schema=schema))


def judged(table: DataFrame, *, schema: Schema | None = None, is_counted: bool = False) -> DataFrame:
    """The rows of a table, each with a verdict; `apart` tells accepted and refused ones apart.

    Parameters
    ----------
    is_counted : whether to tell the boxes and conditions of every filter
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    rows = _rows(table).mapInArrow(_Judge(schema, is_counted), _JUDGED)
    # A row that has no id to share is alone, so that no task gets all of them.
    has_id = f.col(UNREAD).isNull() & f.col(SUBSCRIPTION).isNotNull()
    rows = rows.withColumn(IS_BAD, f.col(REASON).isNotNull())
    same = Window.partitionBy(f.when(has_id, f.col(SUBSCRIPTION)), f.when(~has_id, f.col(ROW)))
    by_row = same.orderBy(IS_BAD, ROW)
    is_again = (
        ~f.first(IS_BAD).over(by_row)
        & (f.row_number().over(by_row) > 1)
        & (f.col(ROW) >= f.first(ROW).over(by_row))
    )
    return rows.withColumn(IS_AGAIN, is_again)


def apart(rows: DataFrame) -> Loaded:
    """Accepted and refused rows, of rows with verdicts."""
    from pyspark.sql import functions as f

    is_good = ~f.col(IS_BAD) & ~f.col(IS_AGAIN)
    refused = rows.where(~is_good).select(ROW, SUBSCRIPTION, FILTER, UNREAD, REASON, IS_AGAIN)
    return Loaded(
        accepted=rows.where(is_good).select(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES),
        rejects=refused.mapInArrow(_with_reasons, _REJECTS),
    )


def _rows(table: DataFrame) -> DataFrame:
    """The columns that matter, all of them there."""
    from pyspark.sql import functions as f

    chosen = table.select(
        (f.col(ROW) if ROW in table.columns else f.monotonically_increasing_id()).cast("bigint").alias(ROW),
        (f.col(REASON) if REASON in table.columns else f.lit(None)).cast("string").alias(UNREAD),
        *subscription_columns(table),
    )
    for name, kind in ((SUBSCRIBER, "string"), (EXPIRES, "double")):
        if name not in chosen.columns:
            chosen = chosen.withColumn(name, f.lit(None).cast(kind))
    return chosen.select(*_INPUT)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Reads subscriptions as the engine does, in a worker."""

    schema: Schema | None
    is_counted: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            verdicts = [self._verdict(*each) for each in zip(*map(_values, batch.columns[1:]), strict=True)]
            reasons, boxes, conditions = zip(*verdicts, strict=True) if verdicts else ((), (), ())
            told = [
                pa.array(reasons, pa.string()),
                pa.array(boxes, pa.int64()),
                pa.array(conditions, pa.list_(pa.string())),
            ]
            columns = [*batch.columns, *told]
            yield pa.RecordBatch.from_arrays(columns, names=[*_INPUT, REASON, BOXES, CONDITIONS])

    def _verdict(
        self, identity: Any, subscriber: Any, text: Any, expires: Any, unread: str | None
    ) -> tuple[str | None, int | None, list[str] | None]:
        """The reason for which a row is refused, or else what its filter has."""
        if unread is not None:
            return unread, None, None
        try:
            if text is None:
                raise FilterError("filter text", "null")
            if not is_text(text):
                raise FilterError("UTF-8 text as filter", shown(text))
            filter = read_subscription(identity, text, subscriber, expires, self.schema)[1]
        except ThatchError as error:
            return str(error), None, None
        if not self.is_counted:
            return None, None, None
        return None, min(filter.box_count(), 2**63 - 1), conditions_of(filter)


def _values(column: pa.Array) -> list[Any]:
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError:  # lone surrogates then, which nobody takes for text
        content = column.cast(pa.binary()).to_pylist()
        return [each if each is None else each.decode("utf-8", "surrogateescape") for each in content]


def _with_reasons(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rejects with the reason that counts first, in a worker."""
    for batch in batches:
        row, identity, filter, unread, reason, is_again = batch.columns
        told = [
            first or (_again(name) if again else second)
            for name, first, second, again in zip(
                _values(identity), unread.to_pylist(), reason.to_pylist(), is_again.to_pylist(), strict=True
            )
        ]
        columns = [row, identity, filter, pa.array(told, pa.string())]
        yield pa.RecordBatch.from_arrays(columns, names=[ROW, SUBSCRIPTION, FILTER, REASON])


def _again(identity: str) -> str:
    return str(SubscriptionError("each id once in the table", f"{shown(identity)} again"))
