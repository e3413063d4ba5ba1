"""Parse tables of subscriptions in parallel; every row is accepted, or refused with the engine's reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from thatch.engine.subscriptions import read_subscription
from thatch.errors import FilterError, SubscriptionError, ThatchError, shown
from thatch.model.filters import Filter
from thatch.model.lines import (
    MISSING,
    NULL,
    NUMBERS,
    PRESENT,
    TEXTS,
    Constraint,
    intervals,
    is_single,
    prefix_interval,
)
from thatch.model.residuals import AnywhereCheck, FormulaCheck, PairCheck, WildcardCheck, WithinCheck
from thatch.model.schema import Schema
from thatch.model.values import is_text
from thatch.pipeline.columns import (
    EXPIRES,
    FILTER,
    REASON,
    ROW,
    SUBSCRIBER,
    SUBSCRIPTION,
    DataFrame,
    arrow_schema,
    f,
    spark_schema,
)
from thatch.pipeline.forms import FORM, write_form
from thatch.pipeline.indexes import input_table
from thatch.pipeline.tasks import Batches

__all__ = [
    "BOXES",
    "CONDITIONS",
    "IS_BAD",
    "IS_REPEATED",
    "REJECT_ROWS",
    "UNREAD",
    "Loaded",
    "add_reasons",
    "check_batches",
    "check_subscriptions",
    "list_conditions",
    "load",
    "make_check",
    "split_checked",
]

BOXES = "boxes"  # how many an accepted filter has
CONDITIONS = "conditions"  # of an accepted filter, as `list_conditions` gives them
UNREAD = "unread"  # why a row could not be read
IS_BAD = "is_bad"
IS_REPEATED = "is_repeated"  # whether a good row before this one has its id

_CHECKED = arrow_schema(
    *(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES, UNREAD, REASON),
    (BOXES, pa.int64()),
    (CONDITIONS, pa.list_(pa.string())),
    (FORM, pa.binary()),
)
REJECT_ROWS = arrow_schema(ROW, SUBSCRIPTION, FILTER, REASON)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rows that are subscriptions, and those that are not.

    Parameters
    ----------
    accepted : `row`, `subscription`, `subscriber`, `filter` (as given), `expires` (seconds since 1970); and `FORM`, if the
        rows were checked with it
    rejects : `row`, `subscription`, `filter`, `reason`
    """

    accepted: DataFrame
    rejects: DataFrame


def load(table: DataFrame, *, schema: Schema | None = None) -> Loaded:
    """Parse and check every subscription of a table. Each row is in one of the two results.

    Of several good rows with one id the first is accepted. No row makes the load fail.

    Parameters
    ----------
    table : `subscription` and `filter`, and optionally `subscriber`, `expires`, `row` (numbers the rows; else they are
        numbered as they come) and `reason` (why a row could not be read), as `read_subscriptions` gives them
    schema : declared types of attributes

    Raises
    ------
    TableError
        If a column is missing or of a wrong type.

    Notes
    -----
    Each result parses the table: to use both, persist `check_subscriptions` and split that.
    """
    return split_checked(check_subscriptions(table, schema=schema))


def check_subscriptions(
    table: DataFrame,
    *,
    schema: Schema | None = None,
    with_conditions: bool = False,
    with_forms: bool = False,
) -> DataFrame:
    """Parse every row of a table and note whether it is a subscription; `split_checked` separates the two kinds.

    If `with_conditions`, add the boxes and conditions of every filter; if `with_forms`, its normal form, so that later
    tasks need not parse it again.
    """
    from pyspark.sql import Window

    check = make_check(schema, with_conditions=with_conditions, with_forms=with_forms)
    task = partial(check_batches, check)
    rows = input_table(table).drop(FORM).mapInArrow(task, spark_schema(_CHECKED))
    # Rows without an id each get a key of their own, so that no task gets all of them.
    has_id = f.col(UNREAD).isNull() & f.col(SUBSCRIPTION).isNotNull()
    rows = rows.withColumn(IS_BAD, f.col(REASON).isNotNull())
    same = Window.partitionBy(f.when(has_id, f.col(SUBSCRIPTION)), f.when(~has_id, f.col(ROW)))
    by_row = same.orderBy(IS_BAD, ROW)
    is_repeated = (
        ~f.first(IS_BAD).over(by_row)
        & (f.row_number().over(by_row) > 1)
        & (f.col(ROW) >= f.first(ROW).over(by_row))
    )
    rows = rows.withColumn(IS_REPEATED, is_repeated)
    return rows if with_forms else rows.drop(FORM)


def split_checked(rows: DataFrame) -> Loaded:
    """Separate accepted and refused rows of what `check_subscriptions` gave."""
    is_good = ~f.col(IS_BAD) & ~f.col(IS_REPEATED)
    accepted = (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES, *({FORM} & {*rows.columns}))
    refused = rows.where(~is_good).select(ROW, SUBSCRIPTION, FILTER, UNREAD, REASON, IS_REPEATED)
    return Loaded(
        accepted=rows.where(is_good).select(*accepted),
        rejects=refused.mapInArrow(add_reasons, spark_schema(REJECT_ROWS)),
    )


def make_check(
    schema: Schema | None, *, with_conditions: bool = False, with_forms: bool = False
) -> Callable[..., _Verdict]:
    """Make a function that checks a row, for `check_batches`."""
    return partial(_check, schema, with_conditions, with_forms)


_Verdict = tuple[str | None, int | None, list[str] | None, bytes | None]  # reason, boxes, conditions, form


def check_batches(check: Callable[..., _Verdict], batches: Batches) -> Batches:
    """Parse subscriptions as the engine does, in a worker."""
    for batch in batches:
        found = [check(*each) for each in zip(*map(_values, batch.columns[1:]), strict=True)]
        columns = zip(*found, strict=True) if found else [()] * 4
        types = _CHECKED.types[len(batch.columns) :]
        verdicts = [pa.array(each, kind) for each, kind in zip(columns, types, strict=True)]
        yield pa.RecordBatch.from_arrays([*batch.columns, *verdicts], schema=_CHECKED)


def _check(
    schema: Schema | None,
    with_conditions: bool,  # noqa: FBT001 - for `partial`
    with_forms: bool,  # noqa: FBT001 - likewise
    identity: Any,
    subscriber: Any,
    text: Any,
    expires: Any,
    unread: str | None,
) -> _Verdict:
    """The reason why a row is refused, or else what was asked of its filter."""
    if unread is not None:
        return unread, None, None, None
    try:
        if text is None:
            raise FilterError("filter text", "null")
        if not is_text(text):
            raise FilterError("UTF-8 text as filter", shown(text))
        filter = read_subscription(identity, text, subscriber, expires, schema)[1]
    except ThatchError as error:
        return str(error), None, None, None
    form = write_form(filter) if with_forms else None
    if not with_conditions:
        return None, None, None, form
    return None, min(filter.box_count(), 2**63 - 1), list_conditions(filter), form


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # becomes lone surrogates, which are refused as text
        content = column.cast(pa.binary()).to_pylist()
        return [each if each is None else each.decode("utf-8", "surrogateescape") for each in content]


def add_reasons(batches: Batches) -> Batches:
    """Choose the reason of each reject, in a worker."""
    for batch in batches:
        row, identity, filter, unread, reason, is_repeated = batch.columns
        lists = (_values(identity), *(each.to_pylist() for each in (unread, reason, is_repeated)))
        reasons = [
            first or (_repeated(name) if is_again else second)
            for name, first, second, is_again in zip(*lists, strict=True)
        ]
        columns = [row, identity, filter, pa.array(reasons, pa.string())]
        yield pa.RecordBatch.from_arrays(columns, schema=REJECT_ROWS)


def _repeated(identity: str) -> str:
    return str(SubscriptionError("each id once in the table", f"{shown(identity)} again"))


# --- conditions ------------------------------------------------------------------------------------------------------

_NAMED = {MISSING: "missing", NULL: "null", PRESENT: "present"}
_KINDS: dict[type, str] = {
    WildcardCheck: "wildcard",
    WithinCheck: "within",
    PairCheck: "pair",
    FormulaCheck: "formula",
    AnywhereCheck: "anywhere",
}
_ENDS = {NUMBERS[0], NUMBERS[1], TEXTS[0], TEXTS[1]}


def list_conditions(filter: Filter) -> list[str]:
    """List the conditions of a filter in normal form: for each its kind, a blank, and its attribute."""
    found = []
    for conjunction in filter.outer_conjunctions:
        found += [f"{_kind(constraint)} {key}" for key, constraint in conjunction.constraints]
        for check in conjunction.residuals:
            found.append(f"{_KINDS[type(check)]} {', '.join(check.keys)}")
    return found


def _kind(constraint: Constraint) -> str:
    """One word for the kind of a constraint."""
    if (name := _NAMED.get(constraint)) is not None:
        return name
    if len(constraint) > 2:
        return "in" if all(is_single(*each) for each in intervals(constraint)) else "intervals"
    low, high = constraint
    if is_single(low, high):
        return "equal"
    if len(low) == 3 and isinstance(low[1], str) and prefix_interval(low[1]) == constraint:
        return "prefix"
    return "one-sided" if low in _ENDS or high in _ENDS else "between"
