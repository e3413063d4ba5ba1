"""The matches of a table of events a piece at a time, by place: what is held at once does not grow with the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.engine.batches import Batch, Part
from thatch.engine.holding import Seen

__all__ = ["LISTS", "PIECES", "Pieces", "counted"]

PIECES = pa.schema([pa.field("event", pa.int64()), pa.field("place", pa.int32())])
LISTS = pa.schema([pa.field("event", pa.int64()), pa.field("places", pa.list_(pa.int32()))])


class Pieces(Iterator[pa.RecordBatch]):
    """Matches as record batches of `event` and `place`, of the subscriptions there were when this was made.

    Parameters
    ----------
    is_grouped : a row per event with the list of its places; else a row per match
    add_misfits : is told how many values were outside their declared type, as they are read
    """

    def __init__(
        self, batch: Batch, seen: Seen, add_misfits: Callable[[int], None], *, is_grouped: bool
    ) -> None:
        self._batch, self._seen, self._add_misfits = batch, seen, add_misfits
        self._made = _lists if is_grouped else _piece
        self._groups = batch.groups(seen)

    def __next__(self) -> pa.RecordBatch:
        for group in self._groups:
            self._tell_misfits()
            piece = self._made(group, self._seen.is_kept)
            if piece.num_rows:
                return piece
        self._tell_misfits()
        raise StopIteration

    def close(self) -> None:
        """Give up the rest."""
        self._groups.close()

    def ids(self) -> pa.StringArray:
        """The id of each place, even of subscriptions that are gone or have another place by now."""
        return self._seen.register.ids.arrow().slice(0, self._seen.places)

    def _tell_misfits(self) -> None:
        count, self._batch.misfits = self._batch.misfits, 0
        self._add_misfits(count)


def counted(batch: Batch, seen: Seen) -> npt.NDArray[np.int64]:
    """How many events each place matches."""
    totals = np.zeros(seen.places, np.int64)
    for group in batch.groups(seen):
        totals += np.bincount(_together([places for _, _, places in group]), minlength=seen.places)
    if seen.is_kept is not None:
        totals[~seen.is_kept] = 0
    return totals


def _piece(group: list[Part], is_kept: npt.NDArray[np.bool_] | None) -> pa.RecordBatch:
    events = _together(
        [np.repeat(np.arange(first, first + len(counts)), counts) for first, counts, _ in group]
    )
    places = _together([places for _, _, places in group])
    if is_kept is not None:
        chosen = is_kept[places]
        events, places = events[chosen], places[chosen]
    return pa.RecordBatch.from_arrays([pa.array(events), pa.array(places)], schema=PIECES)


def _lists(group: list[Part], is_kept: npt.NDArray[np.bool_] | None) -> pa.RecordBatch:
    events, counts = [], []
    for first, each, places in group:
        if is_kept is not None:
            each = _kept(each, places, is_kept)
        some = np.flatnonzero(each)
        events.append(some + first)
        counts.append(each[some])
    places = _together([places for _, _, places in group])
    if is_kept is not None:
        places = places[is_kept[places]]
    ends = np.cumsum(_together(counts))
    offsets = np.concatenate([np.zeros(1, np.int32), ends.astype(np.int32)])
    lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(places))
    return pa.RecordBatch.from_arrays([pa.array(_together(events)), lists], schema=LISTS)


def _kept(
    counts: npt.NDArray[np.int64], places: npt.NDArray[np.int32], is_kept: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """How many places of each event are kept."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_kept[places])])
    ends = np.cumsum(counts)
    return before[ends] - before[ends - counts]  # type: ignore[no-any-return]


def _together(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
