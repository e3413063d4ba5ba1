"""Batches of encoded events: which labels each reaches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int32s, Int64s, Uint64s
from thatch.matching.problem import Event, IndexView
from thatch.matching.segments.batches import match_parts
from thatch.matching.segments.encoded import RowReader
from thatch.matching.segments.kernels.labels import list_marks, mark_slots
from thatch.matching.segments.view import View

__all__ = ["RowSearch"]


class RowSearch:
    """Searches one index for one batch after the other."""

    def __init__(self) -> None:
        self._reader = RowReader()

    def run(
        self,
        view: IndexView,
        rows: Sequence[bytes],
        labels: Int32s,
        words: int,
        event: Callable[[int], Event],
    ) -> tuple[Uint64s, list[Int64s], list[int]]:
        """Search for all rows that can be read as columns.

        Returns a bit of every row for every label, in so many words; the matches with a negative label in pieces, the row
        in the upper half of each number; and the rows that are left.
        """
        assert isinstance(view, View)
        read = self._reader.read(rows, view.shape.attributes, lambda row: event(row).record)
        marks, own = np.zeros((len(rows), words), np.uint64), [np.zeros(0, np.int64)]
        if len(read.rows):
            with closing(match_parts(view, read.columns)) as parts:
                for first, counts, slots in parts:
                    found = np.empty(len(slots), np.int64)
                    own.append(found[: mark_slots(first, counts, slots, read.rows, labels, marks, found)])
        return marks, own, read.others.tolist()

    def rows_by_label(self, marks: Uint64s) -> dict[int, list[int]]:
        """For every label that is marked, the rows that are."""
        starts = np.zeros(64 * marks.shape[1] + 2, np.int64)
        rows = np.empty(int(np.bitwise_count(marks).sum()), np.int64)
        list_marks(marks, starts, rows)
        every: npt.NDArray[np.int64] = np.flatnonzero(np.diff(starts[:-1]))
        listed, at = rows.tolist(), starts.tolist()
        return {label: listed[at[label] : at[label + 1]] for label in every.tolist()}
