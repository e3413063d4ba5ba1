"""A table of events as columns that kernels read, without an object per event.

Columns of nulls, booleans, numbers and texts are taken as they are; a table with any other, or with an integer that
no double equals, is read row by row.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from thatch.engine.tables import PLAIN_TYPES, check_events, event_rows, is_text_type
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.columns import EventColumns, Texts
from thatch.model.derived import derive
from thatch.model.events import Record, read_event
from thatch.model.lines import Cut, point

__all__ = ["columns_of"]

_EXACT = 2**53


class _Column:
    """Class, number and text of every event in one column, the texts given by their position."""

    def __init__(self, classes: npt.NDArray[np.uint8], numbers: Any = None, codes: Any = None) -> None:
        self.classes = classes
        self.numbers = np.zeros(len(classes)) if numbers is None else numbers
        self.codes = np.zeros(len(classes), np.int32) if codes is None else codes


def columns_of(table: pa.Table, nulls: str, attributes: Attributes) -> EventColumns | None:
    """The columns of a table that filters ask for, None if it has to be read row by row."""
    check_events(table, nulls)
    if not all(_is_plain(field.type) for field in table.schema):
        return None
    null = 0 if nulls == "missing" else 1
    columns: list[tuple[int, _Column]] = []
    texts: list[bytes] = []
    for name in table.column_names:
        number = attributes.by_name.get(name, -8)
        derived = attributes.derived_by_name.get(name, ())
        if number < 0 and not derived:
            if _is_beyond(table.column(name)):
                return None  # the way row by row tells where
            if attributes.anywhere < 0 or not _is_text(table.schema.field(name).type):
                continue
            number = attributes.anywhere  # as one of all texts
        column = _read(_whole(table.column(name)), null, texts)
        if column is None:
            return None
        if number >= 0:
            columns.append((number >> 3, column))
        for key, own in derived:
            more = _derived(key, column, texts)
            if more is None:
                return None
            columns.append((own, more))
    shape = len(columns), len(table)
    return EventColumns(
        attribute=np.array([number for number, _ in columns], np.int32),
        classes=np.array([column.classes for _, column in columns], np.uint8).reshape(shape),
        numbers=np.array([column.numbers for _, column in columns]).reshape(shape),
        codes=np.array([column.codes for _, column in columns], np.int32).reshape(shape),
        texts=Texts.of(texts),
        read=lambda event, names=None: _record(table, nulls, event, names),
    )


def _is_beyond(column: pa.ChunkedArray) -> bool:
    """Whether a column that nobody asks for has a number that no event may have."""
    kind = column.type
    if pt.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind) if pt.is_uint64(kind) else column
    return bool(pt.is_uint64(kind) and (pc.max(column).as_py() or 0) >= 2**63)


def _record(table: pa.Table, nulls: str, event: int, names: Collection[str] | None) -> Record:
    """One event of a table, of these names if any are given, to verify what its columns alone cannot decide."""
    if names is not None:
        table = table.select([name for name in table.column_names if name in names])
    return read_event(next(event_rows(table.slice(event, 1), nulls=nulls, json_column=None)))


def _is_plain(kind: pa.DataType) -> bool:
    value = kind.value_type if pt.is_dictionary(kind) else kind
    return any(is_type(value) for is_type in PLAIN_TYPES)


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pt.is_dictionary(kind) else kind
    return bool(pt.is_string(value) or pt.is_large_string(value) or pt.is_string_view(value))


def _whole(column: pa.ChunkedArray) -> Any:
    """A column in one piece. Arrow cannot join dictionaries that hold null, so those are decoded first."""
    if pt.is_dictionary(column.type) and column.num_chunks > 1:
        return pa.chunked_array([_decoded(chunk) for chunk in column.chunks]).combine_chunks()
    return column.combine_chunks()


def _decoded(chunk: pa.DictionaryArray) -> pa.Array:
    """The values of a dictionary's codes. Arrow cannot take them from views of texts."""
    words = chunk.dictionary
    if pt.is_string_view(words.type):
        chunk = pa.DictionaryArray.from_arrays(chunk.indices, words.cast(pa.large_string()))
    return chunk.dictionary_decode()


def _read(column: Any, null: int, texts: list[bytes]) -> _Column | None:
    kind = column.type
    if pt.is_dictionary(kind) and not is_text_type(kind.value_type):
        column = column.dictionary_decode()
        kind = column.type
    is_null = np.asarray(column.is_null())
    if pt.is_null(kind):
        return _Column(np.full(len(column), null, np.uint8))
    if pt.is_boolean(kind):
        values = np.asarray(column.fill_null(fill_value=False))
        return _Column(np.where(is_null, null, 2 + values).astype(np.uint8))
    if pt.is_dictionary(kind) or is_text_type(kind):
        return _read_texts(column, is_null, null, texts)
    filled = np.asarray(column.fill_null(0) if column.null_count else column)
    numbers = filled.astype(np.float64)
    if pt.is_integer(kind) and len(numbers) and np.abs(numbers).max() >= _EXACT:
        return None
    classes = np.where(is_null, null, np.where(np.isnan(numbers), 4, 5)).astype(np.uint8)
    return _Column(classes, numbers + 0.0)


def _read_texts(column: Any, is_null: npt.NDArray[np.bool_], null: int, texts: list[bytes]) -> _Column | None:
    encoded = column if pt.is_dictionary(column.type) else pc.dictionary_encode(column)
    words = encoded.dictionary.cast(pa.large_binary())
    known = np.asarray(encoded.dictionary.is_null())
    codes = np.asarray(encoded.indices.fill_null(0)).astype(np.int64)
    if len(known) and known.any():  # a dictionary may itself hold null
        is_null = is_null | known[codes]
    first = len(texts)
    values = [word or b"" for word in words.to_pylist()]
    try:
        for value in values:
            value.decode("utf-8")
    except UnicodeDecodeError:
        return None  # the way row by row tells where
    texts += values
    return _Column(np.where(is_null, null, 6).astype(np.uint8), codes=(first + codes).astype(np.int32))


def _derived(key: str, column: _Column, texts: list[bytes]) -> _Column | None:
    """What is derived from a column, worked out once for every distinct value; None if no double equals one."""
    value = np.where(column.classes == 5, column.numbers, column.codes.astype(np.float64))
    rows = np.stack([column.classes.astype(np.float64), np.where(column.classes >= 5, value, 0.0)])
    distinct, inverse = np.unique(rows, axis=1, return_inverse=True)
    classes, numbers = np.zeros(distinct.shape[1], np.uint8), np.zeros(distinct.shape[1])
    codes = np.zeros(distinct.shape[1], np.int32)
    for position, (kind, inside) in enumerate(distinct.T):
        place = derive(key, _point(int(kind), float(inside), texts))
        classes[position] = place[0]
        if place[0] == 5:
            numbers[position] = float(place[1])
            if numbers[position] != place[1]:
                return None
        elif place[0] == 6:
            codes[position] = len(texts)
            texts.append(place[1].encode("utf-8"))
    back = inverse.reshape(-1)
    return _Column(classes[back], numbers[back], codes[back])


def _point(kind: int, value: float, texts: list[bytes]) -> Cut:
    if kind == 5:
        return point(value)
    if kind == 6:
        return point(texts[int(value)].decode("utf-8"))
    return (kind,)
