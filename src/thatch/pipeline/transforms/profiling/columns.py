"""Read plain columns of events as values on the line, without a Python object for every event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from thatch.engine.tables import check_events
from thatch.errors import EventError
from thatch.model.lines import RANK_NUMBER, RANK_TEXT
from thatch.model.names import key_of
from thatch.model.values import read_scalar

__all__ = ["ValueColumn", "count_sets", "number_columns", "read_columns"]

_EXACT = 2**53
_NULL, _FALSE, _NAN = 1, 2, 4


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """The values of one attribute without the missing ones, and how many events have it.

    `has` says which rows of the table have it, if that is known.
    """

    key: str
    events: int
    rank: pa.Array
    number: pa.Array
    whole: pa.Array
    text: pa.Array
    has: npt.NDArray[np.bool_] | None = None


def read_columns(table: pa.Table, nulls: str) -> list[ValueColumn] | None:
    """Read the columns of a table; None if it must be read row by row: lists, doubled paths, rows that are not events."""
    check_events(table, nulls)
    if nulls == "missing":  # a null object then has no fields, and another is no value itself
        while any(pt.is_struct(field.type) for field in table.schema):
            table = _flatten_objects(table)
    names = table.column_names
    if len(set(names)) < len(names):
        return None
    columns = []
    for name in names:
        column = _read_column(key_of(name), table.column(name), nulls)
        if column is None:
            return None
        columns.append(column)
    return columns


def _flatten_objects(table: pa.Table) -> pa.Table:
    """Turn the fields of objects into columns; a null object gives null fields."""
    arrays: list[Any] = []
    names: list[str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pt.is_struct(column.type):
            arrays += column.flatten()
            names += [f"{name}.{field.name}" for field in column.type]
        else:
            arrays.append(column)
            names.append(name)
    if not arrays:  # objects without fields
        return pa.table({"nothing": pa.nulls(table.num_rows)})
    return pa.Table.from_arrays(arrays, names)


def _read_column(key: str, column: pa.ChunkedArray, nulls: str) -> ValueColumn | None:
    kind = column.type
    if pt.is_dictionary(kind):
        column = pa.chunked_array(
            [chunk.dictionary_decode() for chunk in column.chunks], type=kind.value_type
        )
        kind = column.type
    array = column.combine_chunks()
    if nulls == "missing":
        has = ~np.asarray(array.is_null())
        array = array.drop_null()
    else:
        has = np.ones(len(array), np.bool_)
    parts: Parts | None = _reader(kind)(array)
    return None if parts is None else ValueColumn(key, int(has.sum()), *parts, has)


Parts = tuple[pa.Array, pa.Array, pa.Array, pa.Array]


def _reader(kind: pa.DataType) -> Any:
    if pt.is_null(kind):
        return _nulls
    if pt.is_boolean(kind):
        return _booleans
    if pt.is_integer(kind) and not pt.is_uint64(kind):
        return _integers
    if pt.is_floating(kind):
        return _doubles
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        return _texts
    if pt.is_nested(kind):
        return lambda _: None
    return _distinct


def _parts(rank: Any, number: Any = None, whole: Any = None, text: Any = None) -> Parts:
    size = len(rank)
    return (
        pa.array(rank, pa.int8()),
        pa.nulls(size, pa.float64()) if number is None else number,
        pa.nulls(size, pa.int64()) if whole is None else whole,
        pa.nulls(size, pa.string()) if text is None else text,
    )


def _nulls(array: Any) -> Parts:
    return _parts(np.full(len(array), _NULL, np.int8))


def _booleans(array: Any) -> Parts:
    ranks = pc.add(array.cast(pa.int8()), pa.scalar(_FALSE, pa.int8())).cast(pa.int8())
    return _parts(ranks.fill_null(_NULL))


def _integers(array: Any) -> Parts:
    is_null = np.asarray(array.is_null())
    exact = np.asarray(array.cast(pa.int64()).fill_null(0))
    near = exact.astype(np.float64)
    is_wide = np.abs(near) >= _EXACT
    if is_wide.any():  # the greatest are rounded to 2^63, which fits no integer
        back = np.where(near < 2.0**63, near, 0.0).astype(np.int64)
        is_wide &= (back != exact) & ~is_null
    return _parts(
        np.where(is_null, _NULL, RANK_NUMBER).astype(np.int8),
        pa.array(near, mask=is_null),
        pa.array(exact, mask=~is_wide),
    )


def _doubles(array: Any) -> Parts:
    is_null = np.asarray(array.is_null())
    numbers = np.asarray(array.cast(pa.float64()).fill_null(0.0)) + 0.0  # -0.0 is 0.0
    is_nan = np.isnan(numbers)
    ranks = np.where(is_null, _NULL, np.where(is_nan, _NAN, RANK_NUMBER)).astype(np.int8)
    return _parts(ranks, pa.array(numbers, mask=is_null | is_nan))


def _texts(array: Any) -> Parts | None:
    try:
        texts = array.cast(pa.string())
        texts.validate(full=True)
    except pa.ArrowInvalid:  # not UTF-8: reading row by row says where
        return None
    ranks = np.where(np.asarray(array.is_null()), _NULL, RANK_TEXT).astype(np.int8)
    return _parts(ranks, text=texts)


def _distinct(array: Any) -> Parts | None:
    """Decimals, dates and times, converted once for every distinct value."""
    if pt.is_timestamp(array.type) and array.type.unit == "ns":
        array = array.cast(pa.timestamp("us", array.type.tz), safe=False)
    encoded = array.dictionary_encode()
    try:
        values = [read_scalar(value, "") for value in encoded.dictionary.to_pylist()]
    except (EventError, pa.ArrowException, OverflowError, ValueError, LookupError):
        return None  # reading row by row says where
    is_text = bool(values) and isinstance(values[0], str)
    rank = RANK_TEXT if is_text else RANK_NUMBER
    ranks = np.where(np.asarray(array.is_null()), _NULL, rank).astype(np.int8)
    if is_text:
        return _parts(ranks, text=pa.array(values, pa.string()).take(encoded.indices))
    return _parts(ranks, *(each.take(encoded.indices) for each in number_columns(values)))


def number_columns(values: Sequence[Any]) -> tuple[pa.Array, pa.Array]:
    """Numbers, with None for other values, as the nearest doubles; and those that no double equals as integers."""
    near = [None if value is None else float(value) + 0.0 for value in values]  # -0.0 is 0.0
    exact = [value if type(value) is int and float(value) != value else None for value in values]
    return pa.array(near, pa.float64()), pa.array(exact, pa.int64())


def count_sets(columns: list[ValueColumn], rows: int) -> list[tuple[tuple[str, ...], int]]:
    """Count rows by the set of attributes that they have."""
    if not rows:
        return []
    keys = np.array([column.key for column in columns], object)
    if not len(keys):
        return [((), rows)]
    has = np.stack([column.has for column in columns if column.has is not None], axis=1)
    packed = np.ascontiguousarray(np.packbits(has, axis=1))
    names = packed.view([("", np.void, packed.shape[1])]).reshape(-1)
    _, first, counts = np.unique(names, return_index=True, return_counts=True)
    return [(tuple(sorted(keys[has[row]])), int(count)) for row, count in zip(first, counts, strict=True)]
