"""Tables of events and subscriptions, from Arrow, pandas or polars, as plain rows.

=============================================  ===================================================
Arrow type                                     in an event
=============================================  ===================================================
null, bool, integers, floats, decimals         null, boolean, number (unsigned above 2^63 - 1 refused)
string, large_string, string_view              text
dictionary                                     as the values it stands for
timestamp (any unit, with or without zone)     ISO-8601 text in UTC, cut to microseconds
date32, date64                                 ISO-8601 text
struct, map with text as keys                  nested object
list, large_list, fixed_size_list              list
=============================================  ===================================================

Refused, with the column's name: binary, time, duration, interval, union and extension types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.types as pt

from thatch.errors import TableError, shown
from thatch.model.values import reason_of

__all__ = [
    "NULLS", "PLAIN_TYPES", "Reject", "arrow_table", "check_events", "check_table", "event_rows", "is_event_type", "is_text_type",
    "numbered_rows", "text_column",
]  # fmt: skip

NULLS = ("missing", "null")
_ROWS_AT_ONCE = 8_192

Reject = Callable[[int, str], object]  # told the row and the reason
Sliced = TypeVar("Sliced", pa.Table, pa.RecordBatch)
Value = TypeVar("Value")


def arrow_table(table: Any, what: str) -> pa.Table:
    """A pyarrow, pandas or polars table, or anything that exports Arrow streams, as an Arrow table; `what` it holds."""
    try:
        if isinstance(table, pa.Table):
            return table
        if isinstance(table, pa.RecordBatch):
            return pa.Table.from_batches([table])
        if type(table).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(table, preserve_index=False)
        if hasattr(table, "__arrow_c_stream__"):
            return pa.table(table)
    except (pa.ArrowException, TypeError) as error:
        raise TableError(f"a table of {what}", f"one that Arrow cannot take: {error}") from error
    expected = f"a table of {what} (pyarrow, pandas or polars)"
    raise TableError(expected, f"{shown(table)} of type {type(table).__name__}")


def is_text_type(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of the three of text."""
    return bool(pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind))


def text_column(table: pa.Table, name: str, what: str) -> list[str | None]:
    """A column of texts as a list."""
    if name not in table.column_names:
        got = ", ".join(table.column_names) or "no columns"
        raise TableError(f"a column `{name}` in the table of {what}", got)
    column = table.column(name)
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    if pt.is_null(kind):
        return [None] * len(column)
    if not is_text_type(kind):
        raise TableError("text", f"{column.type}", f"column `{name}`")
    try:
        return column.to_pylist()  # type: ignore[no-any-return]  # Arrow has no types
    except ValueError as error:
        raise TableError("UTF-8 text", str(error), f"column `{name}`") from error


def event_rows(table: pa.Table, *, nulls: str, json_column: str | None) -> Iterator[dict[str, Any]]:
    """The rows of a table as event objects.

    Parameters
    ----------
    nulls : "missing" leaves out what is null, "null" keeps it
    json_column : a column that holds each event as JSON text, which keeps null and missing apart
    """
    check_table(table, nulls, json_column)
    return (event for _, event in numbered_rows(table, nulls=nulls, json_column=json_column))


def numbered_rows(
    table: pa.Table, *, nulls: str, json_column: str | None, reject: Reject | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a table that `check_table` has accepted, as event objects with the numbers of the rows.

    Parameters
    ----------
    reject : is told the number and the reason of each row that is no object; if not given, such a row raises
    """
    if json_column is not None:
        yield from _json_rows(table.select([json_column]), json_column, reject)
        return
    if not table.num_columns:
        yield from ((number, {}) for number in range(table.num_rows))
        return
    plain = pa.table({name: _cut_to_microseconds(table.column(name)) for name in table.column_names})
    first = 0
    for batch in plain.to_batches(max_chunksize=_ROWS_AT_ONCE):
        for number, row in _numbered(batch, first, _rows, reject):
            yield number, _without_nulls(row) if nulls == "missing" else row
        first += batch.num_rows


def _numbered(
    piece: Sliced, first: int, listed: Callable[[Sliced], list[Value]], reject: Reject | None
) -> Iterator[tuple[int, Value]]:
    """The rows of a piece of a table with their numbers; if they cannot be listed, one by one to tell which cannot."""
    try:
        rows = listed(piece)
    except TableError as error:
        if reject is None:
            raise
        if piece.num_rows == 1:
            reject(first, str(error))
            return
        for step in range(piece.num_rows):
            yield from _numbered(piece.slice(step, 1), first + step, listed, reject)
    else:
        yield from enumerate(rows, first)


def check_table(table: pa.Table, nulls: str, json_column: str | None) -> None:
    """Refuse a table that can hold no events, whatever its rows are."""
    if json_column is None:
        check_events(table, nulls)
    else:
        _check_nulls(nulls)
        text_column(table.slice(0, 0), json_column, "events")


def check_events(table: pa.Table, nulls: str) -> None:
    """Refuse a table whose columns cannot be the attributes of events."""
    _check_nulls(nulls)
    if len(set(table.column_names)) < len(table.column_names):
        raise TableError("each column once", shown(table.column_names))
    for field in table.schema:
        _check_type(field.type, f"column `{field.name}`")


def _check_nulls(nulls: str) -> None:
    if nulls not in NULLS:
        raise TableError("nulls='missing' or nulls='null'", shown(nulls))


def _rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch as Python values, which not every Arrow value can become."""
    try:
        return batch.to_pylist(maps_as_pydicts="strict")  # type: ignore[no-any-return]  # Arrow has no types
    except KeyError as error:
        raise TableError("each key of a map once", str(error)) from error
    except (pa.ArrowException, OverflowError, ValueError, LookupError) as error:
        expected = "timestamps of the years 1 to 9999 in known zones, and UTF-8 text"
        raise TableError(expected, f"{type(error).__name__}: {error}") from error


def _json_rows(table: pa.Table, name: str, reject: Reject | None) -> Iterator[tuple[int, dict[str, Any]]]:
    for first in range(0, table.num_rows, _ROWS_AT_ONCE):
        piece = table.slice(first, _ROWS_AT_ONCE)
        for number, text in _numbered(piece, first, lambda each: text_column(each, name, "events"), reject):
            try:
                row = _object(text)
            except TableError as error:
                if reject is None:
                    where = f"row {number}, column `{name}`"
                    raise TableError(error.expected, error.got, where) from None
                reject(number, str(TableError(error.expected, error.got, f"column `{name}`")))
                continue
            yield number, row


def _object(text: str | None) -> dict[str, Any]:
    try:
        row = json.loads(text) if text is not None else None
    except (ValueError, RecursionError) as error:
        raise TableError("JSON", f"{shown(text)} ({reason_of(error)})") from None
    if not isinstance(row, dict):
        raise TableError("a JSON object", shown(text))
    return row


def is_event_type(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type can be in events."""
    try:
        _check_type(kind, "")
    except TableError:
        return False
    return True


def _check_type(kind: pa.DataType, where: str) -> None:
    if pt.is_struct(kind):
        for field in kind:
            _check_type(field.type, f"{where}.{field.name}")
    elif pt.is_map(kind) and is_text_type(kind.key_type):
        _check_type(kind.item_type, where)
    elif pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind) or pt.is_dictionary(kind):
        _check_type(kind.value_type, where)
    elif not any(is_kind(kind) for is_kind in _ACCEPTED):
        raise TableError("a type of JSON-like values", str(kind), where)


PLAIN_TYPES = (pt.is_null, pt.is_boolean, pt.is_integer, pt.is_floating, is_text_type)  # which kernels read
_ACCEPTED = (*PLAIN_TYPES, pt.is_decimal, pt.is_timestamp, pt.is_date)


def _cut_to_microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Nanoseconds have no Python type; nested ones too become microseconds."""
    target = _in_microseconds(column.type)
    return column if target == column.type else column.cast(target, safe=False)


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pt.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pt.is_struct(kind):
        return pa.struct([field.with_type(_in_microseconds(field.type)) for field in kind])
    if pt.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(_in_microseconds(kind.item_type)))
    if pt.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_microseconds(kind.value_type)))
    if pt.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_in_microseconds(kind.value_type)))
    if pt.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_in_microseconds(kind.value_type)), kind.list_size)
    if pt.is_dictionary(kind) and (target := _in_microseconds(kind.value_type)) != kind.value_type:
        return target
    return kind


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {name: _pruned(each) for name, each in value.items() if each is not None}


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return _without_nulls(value)
    if isinstance(value, list):
        return [_pruned(each) for each in value if each is not None]
    return value
