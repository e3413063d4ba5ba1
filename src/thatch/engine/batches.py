"""Batches: a table of events to a table of matches, or to pieces of one.

Matches come in parts of bounded size: the first event, how many matches each has from there on, and their places. A
table of all matches is made of all parts; a piece is one part, or a few small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.holding import Seen
from thatch.engine.tables import Reject, check_table, numbered_rows
from thatch.errors import EventError, TableError
from thatch.model.events import read_event
from thatch.model.schema import Schema

__all__ = ["Batch", "Part", "matches_table"]

_MATCHES = pa.schema(
    [pa.field("event", pa.int64()), pa.field("subscription", pa.dictionary(pa.int32(), pa.string()))]
)
_FEW = 8  # ids per match from which on only those that matched are named
_PIECE = 1 << 20  # matches from which on a part is not put together with others
_ROWS = 8_192  # events that are read one by one before their matches become a part

Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]
Part = tuple[int, Counts, Places]


class Batch:
    """Events of one table.

    Parameters
    ----------
    reject : is told the row and the reason of what is no event; if not given, such a row raises
    """

    def __init__(
        self,
        table: pa.Table,
        *,
        nulls: str,
        json: str | None,
        schema: Schema | None,
        reject: Reject | None = None,
    ) -> None:
        check_table(table, nulls, json)
        self._table, self._nulls, self._json, self._schema = table, nulls, json, schema
        self._reject = reject
        self.misfits = 0

    def matched(self, seen: Seen) -> tuple[Counts, Places]:
        """How many subscriptions want each event, and their places, event by event."""
        columns = self._columns(seen)
        if columns is not None:
            from thatch.matching.segments.batches import matched_columns

            return matched_columns(seen.view, columns)
        totals, found = np.zeros(self._table.num_rows, np.int64), [np.zeros(0, np.int32)]
        for first, counts, places in self._rows(seen):
            totals[first : first + len(counts)] = counts
            found.append(places)
        return totals, np.concatenate(found)

    def groups(self, seen: Seen) -> Generator[list[Part]]:
        """The same in parts, the small ones several at a time; each group has a bounded number of matches."""
        return _grouped(self._parts(seen))

    def _parts(self, seen: Seen) -> Generator[Part]:
        columns = self._columns(seen)
        if columns is None:
            return self._rows(seen)
        from thatch.matching.segments.batches import matched_parts

        return matched_parts(seen.view, columns)

    def _columns(self, seen: Seen) -> Any:
        """The table as columns that kernels read, None if it has to be read row by row."""
        if seen.view is None or self._json is not None or self._schema is not None:
            return None
        from thatch.engine.columns import columns_of

        return columns_of(self._table, self._nulls, seen.view.shape.attributes)

    # --- row by row ------------------------------------------------------------------------------------------------

    def _rows(self, seen: Seen) -> Generator[Part]:
        match = self._matcher(seen)
        rows: list[int] = []
        found: list[Places] = []
        size = 0
        for row, event in numbered_rows(
            self._table, nulls=self._nulls, json_column=self._json, reject=self._reject
        ):
            try:
                places = match(event)
            except EventError as error:
                if self._reject is None:
                    raise TableError(error.expected, error.got, f"row {row}, {error.where}") from error
                self._reject(row, str(error))
                continue
            rows.append(row)
            found.append(places)
            size += len(places)
            if size >= _PIECE or len(rows) >= _ROWS:
                yield _part(rows, found)
                rows, found, size = [], [], 0
        if rows:
            yield _part(rows, found)

    def _matcher(self, seen: Seen) -> Callable[[dict[str, Any]], Places]:
        """The places that want an event."""
        view, schema = seen.view, self._schema
        match = seen.small.match if seen.small is not None else view.match

        def read(event: dict[str, Any]) -> Places:
            record = read_event(event, schema)
            found = np.asarray(match(record), np.int32)
            self.misfits += record.misfits
            return found

        if view is None or schema is not None:
            return read

        def quick(event: dict[str, Any]) -> Places:
            found: Places | None = view.match_plain(event, _as_int32)
            return read(event) if found is None else found

        return quick


def _as_int32(places: npt.NDArray[np.int64]) -> Places:
    return places.astype(np.int32)


def _part(rows: list[int], found: list[Places]) -> Part:
    """Rows that rise, between which some may be left out, as a part."""
    counts = np.zeros(rows[-1] - rows[0] + 1, np.int64)
    counts[np.array(rows) - rows[0]] = [len(each) for each in found]
    return rows[0], counts, np.concatenate(found)


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
            del part  # so that it is not kept here when it has been handed out
            if size >= _PIECE:
                yield group
                group, size = [], 0
        if group:
            yield group


def matches_table(counts: Counts, places: Places, seen: Seen, *, ordered: bool) -> pa.Table:
    """The table of matches.

    Parameters
    ----------
    ordered : sort the places of each event
    """
    register = seen.register
    events = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    if seen.is_kept is not None:
        chosen = seen.is_kept[places]
        events, places = events[chosen], places[chosen]
    if ordered:
        places = places[np.lexsort((places, events))]
    # All ids at once cost nothing if they lie in one piece. But an id that was given up and came again is there twice.
    is_cheap = register.ids.is_folded or len(register.ids) <= _FEW * len(places)
    if len(register) < register.places or not is_cheap:
        used, codes = np.unique(places, return_inverse=True)
        names = pa.array(register.names(used.astype(np.int64)), pa.string())
        column = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)
    else:
        column = pa.DictionaryArray.from_arrays(pa.array(places), register.ids.arrow())
    return pa.Table.from_arrays([pa.array(events), column], schema=_MATCHES)
