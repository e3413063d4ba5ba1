"""Batches: a table of events to a table of matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.register import Register
from thatch.engine.tables import event_rows
from thatch.errors import EventError, TableError
from thatch.matching.growing import GrowingIndex
from thatch.model.events import read_event
from thatch.model.schema import Schema

if TYPE_CHECKING:
    from thatch.matching.segments.view import View

__all__ = ["Batch", "matches_table"]

_MATCHES = pa.schema(
    [pa.field("event", pa.int64()), pa.field("subscription", pa.dictionary(pa.int32(), pa.string()))]
)
_FEW = 8  # ids per match from which on only those that matched are named

Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


class Batch:
    """Events of one table."""

    def __init__(self, table: pa.Table, *, nulls: str, json: str | None, schema: Schema | None) -> None:
        self._table, self._nulls, self._json, self._schema = table, nulls, json, schema
        self.misfits = 0

    def matched(self, view: View) -> tuple[Counts, Places]:
        """How many subscriptions want each event, and their places, event by event."""
        if self._json is None and self._schema is None:
            from thatch.engine.columns import columns_of
            from thatch.matching.segments.batches.batch import matched_columns

            columns = columns_of(self._table, self._nulls, view.shape.attributes)
            if columns is not None:
                return matched_columns(view, columns)
        return self._rows(view.match)

    def matched_small(self, index: Any) -> tuple[Counts, Places]:
        """The same for an index without segments."""
        assert isinstance(index, GrowingIndex)
        return self._rows(index.match)

    def _rows(self, match: Any) -> tuple[Counts, Places]:
        counts, places = [], [np.zeros(0, np.int32)]
        for row, event in enumerate(event_rows(self._table, nulls=self._nulls, json_column=self._json)):
            try:
                record = read_event(event, self._schema)
                found = np.asarray(match(record), np.int32)
            except EventError as error:
                raise TableError(error.expected, error.got, f"row {row}, {error.where}") from error
            self.misfits += record.misfits
            counts.append(len(found))
            places.append(found)
        return np.array(counts, np.int64), np.concatenate(places)


def matches_table(
    counts: Counts,
    places: Places,
    register: Register,
    *,
    is_kept: npt.NDArray[np.bool_] | None,
    ordered: bool,
) -> pa.Table:
    """The table of matches.

    Parameters
    ----------
    is_kept : which places may be named, all if None
    ordered : sort the places of each event
    """
    events = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    if is_kept is not None:
        chosen = is_kept[places]
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
