"""Events that are MessagePack maps, as columns that kernels match: rows of bytes in, no object per event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from thatch.compiled.records import Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.columns import EventColumns, Texts
from thatch.matching.segments.kernels.encoded import NO_COLUMN, PYTHON, read_rows
from thatch.model.events import Record

__all__ = ["EncodedRows", "RowReader"]

_MOST_COLUMNS = 1_024  # of one batch; rows that need more are left to Python
_LONGEST = 1 << 20  # bytes of a row that is read here


class EncodedRows(NamedTuple):
    """Rows as columns: which rows they are, and which are left to be read in Python."""

    columns: EventColumns
    rows: Int64s
    others: Int64s


class RowReader:
    """Reads rows for one index after the other; knows the names that its filters use."""

    def __init__(self) -> None:
        self._attributes: Attributes | None = None
        self._known = -1

    def read(
        self, rows: Sequence[bytes], attributes: Attributes, record: Callable[[int], Record]
    ) -> EncodedRows:
        """The rows as columns; `record` reads one, to verify what columns cannot decide."""
        if self._known != len(attributes.keys) or self._attributes is not attributes:
            self._learn(attributes)
        sizes = [len(row) if len(row) <= _LONGEST else 0 for row in rows]  # no row of no bytes can be read
        kept = rows if all(sizes) else [row if size else b"" for row, size in zip(rows, sizes, strict=True)]
        blob = np.frombuffer(b"".join(kept), np.uint8)
        shape = min(len(self._numbers), _MOST_COLUMNS), len(rows)
        classes, numbers = np.empty(shape, np.uint8), np.empty(shape)
        codes, texts = np.empty(shape, np.int32), np.empty(len(blob) + 2, np.int64)
        numbers_of, found = np.empty(shape[0], np.int64), np.empty(len(rows), np.int64)
        count, used = read_rows(
            blob, starts_of(sizes), *self._names, self._after, attributes.anywhere >= 0,
            self._columns.copy(), numbers_of, classes, numbers, codes, texts, found,
        )  # fmt: skip
        read = found[:count]
        columns = EventColumns(
            attribute=self._numbers[numbers_of[:used]],
            classes=np.ascontiguousarray(classes[:used, :count]),
            numbers=np.ascontiguousarray(numbers[:used, :count]),
            codes=np.ascontiguousarray(codes[:used, :count]),
            texts=Texts(texts, blob),
            read=lambda event, _=None: record(int(read[event])),
        )
        is_read = np.zeros(len(rows), np.bool_)
        is_read[read] = True
        return EncodedRows(columns, read, np.flatnonzero(~is_read))

    def _learn(self, attributes: Attributes) -> None:
        """Index the names that filters use now."""
        known = len(attributes.keys)
        derived = attributes.derived_by_name
        names = sorted(
            (name.encode(), name)
            for name in {*derived, *(name for name, code in attributes.by_name.items() if code >= 0)}
        )
        blob = Texts.of([content for content, _ in names])
        self._names = blob.blob, blob.offsets
        self._numbers = np.array([attributes.by_name.get(name, -8) >> 3 for _, name in names], np.int32)
        self._columns = np.array([PYTHON if name in derived else NO_COLUMN for _, name in names], np.int64)
        self._after = np.full(len(names) + 1, -1, np.int64)
        self._attributes, self._known = attributes, known
