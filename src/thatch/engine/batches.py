"""Batches: a table of events to a table of matches, or to pieces of one.

Matches come in parts of bounded size: the first event, how many matches each has from there on, and their slots. A
table of all matches is made of all parts; a piece is one part, or a few small ones, so that what is in memory at once
does not grow with the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.state import Snapshot
from thatch.engine.tables import Reject, check_table, numbered_rows
from thatch.errors import EventError, TableError
from thatch.matching.arrays import starts_of
from thatch.matching.necessary import NecessaryView
from thatch.matching.problem import IndexView
from thatch.model.events import read_event
from thatch.model.schema import Schema

if TYPE_CHECKING:
    from thatch.matching.segments.columns import EventColumns
    from thatch.matching.segments.view import View

__all__ = [
    "LISTS",
    "MATCHES",
    "PIECES",
    "Batch",
    "Part",
    "Pieces",
    "count_matches",
    "join_parts",
    "matches_table",
]

PIECES = pa.schema({"event": pa.int64(), "slot": pa.int32()})
LISTS = pa.schema({"event": pa.int64(), "slots": pa.list_(pa.int32())})
MATCHES = pa.schema({"event": pa.int64(), "subscription": pa.dictionary(pa.int32(), pa.string())})
_FEW = 8  # ids per match from which on only those that matched are named
_PIECE = 1 << 20  # matches from which on a part is not joined with others
_ROWS = 8_192  # events that are read one by one before their matches become a part

Counts = npt.NDArray[np.int64]
SlotColumn = npt.NDArray[np.int32]
Part = tuple[int, Counts, SlotColumn]


class Batch:
    """The events of one table.

    Parameters
    ----------
    reject : called with the row and the reason of what is no event; without it, such a row raises
    """

    def __init__(
        self, table: pa.Table, *, nulls: str, json: str | None, schema: Schema | None, reject: Reject | None
    ) -> None:
        check_table(table, nulls, json)
        self._table, self._nulls, self._json, self._schema = table, nulls, json, schema
        self._reject = reject
        self.misfits = 0

    def match(self, view: IndexView) -> tuple[Counts, SlotColumn]:
        """How many subscriptions match each event, and their slots, event by event."""
        return join_parts(self._table.num_rows, self._parts(view))

    def match_groups(self, view: IndexView) -> Generator[list[Part]]:
        """The same in parts, the small ones several at a time; each group has a bounded number of matches."""
        return _grouped(self._parts(view))

    def _parts(self, view: IndexView) -> Generator[Part]:
        compiled = self._for_kernels(view)
        if compiled is None:
            return self._match_rows(view)
        from thatch.matching.segments.batches import match_parts

        return match_parts(*compiled)

    def _for_kernels(self, view: IndexView) -> tuple[View, EventColumns] | None:
        """A view in segments and the table as columns, which kernels match; None if it is read row by row."""
        if self._json is not None or self._schema is not None or isinstance(view, NecessaryView):
            return None
        from thatch.engine.columns import columns_of
        from thatch.matching.segments.view import View

        assert isinstance(view, View)
        columns = columns_of(self._table, self._nulls, view.shape.attributes)
        return None if columns is None else (view, columns)

    # --- row by row ------------------------------------------------------------------------------------------------

    def _match_rows(self, view: IndexView) -> Generator[Part]:
        rows: list[int] = []
        found: list[SlotColumn] = []
        size = 0
        for row, event in numbered_rows(
            self._table, nulls=self._nulls, json_column=self._json, reject=self._reject
        ):
            try:
                slots = self._match_row(view, event)
            except EventError as error:
                if self._reject is None:
                    raise TableError(error.expected, error.got, f"row {row}, {error.where}") from error
                self._reject(row, str(error))
                continue
            rows.append(row)
            found.append(slots)
            size += len(slots)
            if size >= _PIECE or len(rows) >= _ROWS:
                yield _part(rows, found)
                rows, found, size = [], [], 0
        if rows:
            yield _part(rows, found)

    def _match_row(self, view: IndexView, event: dict[str, Any]) -> SlotColumn:
        slots = view.match_plain(event, _as_int32) if self._schema is None else None
        if slots is None:
            record = read_event(event, self._schema)
            slots = _as_int32(view.match(record))
            self.misfits += record.misfits
        return slots


class Pieces(Iterator[pa.RecordBatch]):
    """Matches as record batches of `event` and `slot`, of the subscriptions there were when this was made.

    Parameters
    ----------
    is_grouped : a row per event with the list of its slots; else a row per match
    add_misfits : called, as events are read, with how many values were outside their declared type
    """

    def __init__(
        self, batch: Batch, snapshot: Snapshot, add_misfits: Callable[[int], None], *, is_grouped: bool
    ) -> None:
        self._batch, self._snapshot, self._add_misfits = batch, snapshot, add_misfits
        self._make = _lists if is_grouped else _piece
        self._groups = batch.match_groups(snapshot.view)

    def __next__(self) -> pa.RecordBatch:
        for group in self._groups:
            self._report_misfits()
            piece = self._make(group, self._snapshot.is_kept)
            if piece.num_rows:
                return piece
        self._report_misfits()
        raise StopIteration

    def close(self) -> None:
        """Give up the rest."""
        self._groups.close()

    def ids(self) -> pa.StringArray:
        """The id of each slot, even of subscriptions that are gone or have another slot by now."""
        return self._snapshot.ids.texts.arrow().slice(0, self._snapshot.slots)

    def _report_misfits(self) -> None:
        count, self._batch.misfits = self._batch.misfits, 0
        self._add_misfits(count)


def count_matches(batch: Batch, snapshot: Snapshot) -> npt.NDArray[np.int64]:
    """How many events each slot matches."""
    totals = np.zeros(snapshot.slots, np.int64)
    for group in batch.match_groups(snapshot.view):
        totals += np.bincount(_joined([slots for _, _, slots in group]), minlength=snapshot.slots)
    if snapshot.is_kept is not None:
        totals[~snapshot.is_kept] = 0
    return totals


def matches_table(counts: Counts, slots: SlotColumn, snapshot: Snapshot, *, ordered: bool) -> pa.Table:
    """The table of matches; `ordered` sorts the slots of each event."""
    ids = snapshot.ids
    events = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    if snapshot.is_kept is not None:
        chosen = snapshot.is_kept[slots]
        events, slots = events[chosen], slots[chosen]
    if ordered:
        slots = slots[np.lexsort((slots, events))]
    # All ids at once cost nothing if they lie in one piece. But an id that was removed and added again is there twice.
    is_cheap = ids.texts.is_folded or ids.slots <= _FEW * len(slots)
    if len(ids) < ids.slots or not is_cheap:
        used, codes = np.unique(slots, return_inverse=True)
        names = pa.array(ids.names(used.astype(np.int64)), pa.string())
        column = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)
    else:
        column = pa.DictionaryArray.from_arrays(pa.array(slots), ids.texts.arrow())
    return pa.Table.from_arrays([pa.array(events), column], schema=MATCHES)


# --- parts -----------------------------------------------------------------------------------------------------------


def _as_int32(slots: npt.NDArray[np.int64]) -> SlotColumn:
    return slots.astype(np.int32)


def _part(rows: list[int], found: list[SlotColumn]) -> Part:
    """Rows in rising order, some of which may be left out, as a part."""
    counts = np.zeros(rows[-1] - rows[0] + 1, np.int64)
    counts[np.array(rows) - rows[0]] = [len(each) for each in found]
    return rows[0], counts, np.concatenate(found)


def join_parts(events: int, parts: Iterable[Part]) -> tuple[Counts, SlotColumn]:
    """The matches of several parts, event by event."""
    totals = np.zeros(events, np.int64)
    listed, end, in_order = [], 0, True
    for first, counts, slots in parts:
        in_order &= first >= end
        end = first + len(counts)
        totals[first:end] += counts
        listed.append((first, counts, slots))
    if in_order:
        return totals, _joined([slots for _, _, slots in listed] or [np.zeros(0, np.int32)])
    from thatch.matching.segments.kernels.batches import lay_out

    next_at = starts_of(totals)
    result = np.empty(next_at[-1], np.int32)
    for first, counts, slots in listed:
        lay_out(counts, slots, next_at[first:], result)
    return totals, result


def _grouped(parts: Generator[Part]) -> Generator[list[Part]]:
    """Parts in groups of at most `_PIECE` matches; one that has more is a group of its own."""
    group: list[Part] = []
    size = 0
    with closing(parts):
        for part in parts:
            if group and size + len(part[2]) > _PIECE:
                yield group
                group, size = [], 0
            group.append(part)
            size += len(part[2])
            del part  # so that it is not kept alive here once it has been handed out
            if size >= _PIECE:
                yield group
                group, size = [], 0
        if group:
            yield group


def _piece(group: list[Part], is_kept: npt.NDArray[np.bool_] | None) -> pa.RecordBatch:
    events = _joined([np.repeat(np.arange(first, first + len(counts)), counts) for first, counts, _ in group])
    slots = _joined([slots for _, _, slots in group])
    if is_kept is not None:
        chosen = is_kept[slots]
        events, slots = events[chosen], slots[chosen]
    return pa.RecordBatch.from_arrays([pa.array(events), pa.array(slots)], schema=PIECES)


def _lists(group: list[Part], is_kept: npt.NDArray[np.bool_] | None) -> pa.RecordBatch:
    events, counts = [], []
    for first, each, slots in group:
        if is_kept is not None:
            each = _count_kept(each, slots, is_kept)
        some = np.flatnonzero(each)
        events.append(some + first)
        counts.append(each[some])
    slots = _joined([slots for _, _, slots in group])
    if is_kept is not None:
        slots = slots[is_kept[slots]]
    offsets = starts_of(_joined(counts), np.int32)
    lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(slots))
    return pa.RecordBatch.from_arrays([pa.array(_joined(events)), lists], schema=LISTS)


def _count_kept(counts: Counts, slots: SlotColumn, is_kept: npt.NDArray[np.bool_]) -> Counts:
    """How many slots of each event are kept."""
    kept: Counts = np.diff(starts_of(is_kept[slots])[starts_of(counts)])
    return kept


def _joined(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
