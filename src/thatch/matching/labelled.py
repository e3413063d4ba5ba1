"""Filters with labels: an event asks which labels it reaches, not which filters.

A label is a small number, such as that of the neighbour a subscription came from. However many filters with a label
match, it is answered once. Filters with a negative label are answered themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.errors import EventError
from thatch.matching.growing import GrowingIndex
from thatch.matching.necessary import NecessaryView
from thatch.matching.problem import Event, Slots
from thatch.model.conjunctions import Conjunction
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

if TYPE_CHECKING:
    from thatch.matching.segments.labels import RowSearch
    from thatch.matching.segments.meeting import MeetingSearch

__all__ = ["OWN", "LabelledIndex", "Reached", "ReachedByRow"]

OWN = -1  # a label of filters that are answered themselves
_LOWER = 2**32 - 1
_FEW_ROWS = 8  # below this, rows are read one by one
_FEW = 64  # filters; more of them take less memory in segments, and less time
# After how many events, and how many for each filter, and how many changes it pays to lay out all filters anew.
_MANY_EVENTS, _EVENTS_A_FILTER, _MANY_CHANGES = 4_096, 0.25, 64


class Reached(NamedTuple):
    """What an event reaches: labels, each once, and the slots of matches with a negative label; both lowest first."""

    labels: list[int]
    slots: list[int]


class ReachedByRow(NamedTuple):
    """What the events of a batch reach, each given by its row.

    Parameters
    ----------
    labels : for each label the rows that reach it, lowest first
    slots : matches with a negative label, sorted by row and slot: the row in the upper half of a number
    refused : rows that are no events, or cannot be matched, and why
    """

    labels: dict[int, list[int]]
    slots: npt.NDArray[np.int64]
    refused: dict[int, EventError]


class LabelledIndex:
    """Filters in slots, each with a label.

    Parameters
    ----------
    schema : declared types of attributes
    """

    def __init__(self, schema: Schema | None = None) -> None:
        self._index = GrowingIndex(schema=schema)
        self._schema = schema
        self._labels, self._listed = (
            np.full(64, OWN, np.int32),
            [OWN] * 64,
        )  # the same, for kernels and for Python
        self._traits = np.zeros(64, np.uint64)
        self._marks = np.zeros(1, np.uint64)
        self._found = np.zeros(64, np.int64), np.zeros(64, np.int64)
        self._size = 0  # filters
        self._asked, self._changes = 0, _MANY_CHANGES  # since filters were laid out
        self._search: RowSearch | None = None
        self._meetings: MeetingSearch | None = None

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, slot: int, filter: Filter, label: int, traits: int = 0) -> None:
        """Add a filter at a free slot; `traits` are bits that `meeting_labels` may ask for."""
        if self._size == _FEW:
            self._index.grow()
        self._index.add(slot, filter)
        self._set_label(slot, label)
        self._traits[slot] = traits
        self._size, self._changes = self._size + 1, self._changes + 1

    def extend(self, filters: Mapping[int, Filter], labels: Mapping[int, int]) -> None:
        """Add many filters at once."""
        self._index.extend(filters)
        for slot, label in labels.items():
            self._set_label(slot, label)
        self._size, self._changes = self._size + len(labels), self._changes + len(labels)

    def remove(self, *slots: int) -> None:
        """Remove the filters at these slots."""
        self._index.remove(*slots)
        self._size, self._changes = self._size - len(slots), self._changes + len(slots)

    def _set_label(self, slot: int, label: int) -> None:
        if slot >= len(self._labels):
            more = np.full(max(slot + 1, 2 * len(self._labels)) - len(self._labels), OWN, np.int32)
            self._labels = np.concatenate([self._labels, more])
            self._listed += [OWN] * len(more)
            self._traits = np.concatenate([self._traits, np.zeros(len(more), np.uint64)])
            self._found = np.zeros(len(self._labels), np.int64), np.zeros(len(self._labels), np.int64)
        if label >= 64 * len(self._marks):
            self._marks = np.zeros(2 * (label >> 6) + 1, np.uint64)
        self._labels[slot] = self._listed[slot] = label

    def label(self, slot: int) -> int:
        """The label of a slot."""
        return self._listed[slot]

    def labels(self, slots: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """The labels of slots."""
        return self._labels[slots]

    # --- asking about one event ----------------------------------------------------------------------------------

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, whatever their labels, lowest first."""
        return [int(slot) for slot in self._index.match(record)]

    def reached(self, record: Record) -> Reached:
        """What an event reaches."""
        view = self._index.view
        if isinstance(view, NecessaryView):
            return Reached(*view.reached(record, self._listed))
        return self._split(view.match(record))

    def reached_by(self, event: Event) -> Reached:
        """The same for an event that need not be read in every case; raises `EventError` if it is none."""
        self._note(1)
        view = self._index.view
        if self._schema is None and not isinstance(view, NecessaryView):
            found = view.match_plain(event.plain, self._split)
            if found is not None:
                return found
        return self.reached(event.record)

    def _split(self, slots: Slots) -> Reached:
        from thatch.matching.segments.kernels.labels import split_slots  # which segments have loaded

        labels, own = self._found
        counts = split_slots(slots, self._labels, self._marks, labels, own)
        return Reached(labels[: counts & _LOWER].tolist(), own[: counts >> 32].tolist())

    def _note(self, events: int) -> None:
        """Count events, and lay out all filters anew when that pays."""
        self._asked += events
        if self._asked >= _MANY_EVENTS and self._asked >= _EVENTS_A_FILTER * self._size:
            if self._changes >= _MANY_CHANGES:
                self._index.grow()
                self._index = self._index.renumber(np.arange(len(self._labels)))  # which merges all
                self._changes = 0
            self._asked = 0

    # --- asking about many ---------------------------------------------------------------------------------------

    def reached_by_row(
        self,
        rows: Sequence[bytes],
        event: Callable[[int], Event],
        *,
        decide: Callable[[Event], Reached] | None = None,
    ) -> ReachedByRow:
        """What events reach that are MessagePack maps.

        Parameters
        ----------
        event : reads one, given by its row; called if it is not a flat event of plain values; may raise `EventError`
        decide : says what such an event reaches, if not `reached_by`
        """
        one = decide or self.reached_by
        view = self._index.view
        if len(rows) < _FEW_ROWS or self._schema is not None or isinstance(view, NecessaryView):
            return self._one_by_one(range(len(rows)), event, one)
        self._note(len(rows))
        if self._search is None:
            from thatch.matching.segments.labels import RowSearch  # which loads kernels

            self._search = RowSearch()
        marks, own, others = self._search.run(view, rows, self._labels, len(self._marks), event)
        more = self._one_by_one(others, event, one)
        for label, reaching in more.labels.items():
            marks[reaching, label >> 6] |= np.uint64(1 << (label & 63))
        labels = self._search.rows_by_label(marks)
        return ReachedByRow(labels, np.sort(np.concatenate([*own, more.slots])), more.refused)

    def _one_by_one(
        self, rows: Sequence[int], event: Callable[[int], Event], one: Callable[[Event], Reached]
    ) -> ReachedByRow:
        labels: dict[int, list[int]] = {}
        slots: list[int] = []
        refused: dict[int, EventError] = {}
        for row in rows:
            try:
                found = one(event(row))
            except EventError as error:
                refused[row] = error
                continue
            for label in found.labels:
                labels.setdefault(label, []).append(row)
            slots += [row << 32 | slot for slot in found.slots]
        return ReachedByRow(labels, np.array(slots, np.int64), refused)

    # --- asking about filters ------------------------------------------------------------------------------------

    def meeting(self, asked: Iterable[Conjunction]) -> list[int]:
        """The slots of all filters that may share a flat event with a conjunction, perhaps some more; lowest first."""
        view = self._index.view
        if isinstance(view, NecessaryView):
            return sorted(view.filters())
        search = self._meeting_search()
        found = [search.rules(view), *(search.everything(view, each) for each in asked)]
        slots: list[int] = np.unique(np.concatenate(found)).tolist()
        return slots

    def meeting_labels(
        self,
        asked: Iterable[tuple[Conjunction, int]],
        labels: Iterable[int],
        accept: Callable[[int], bool],
        sure: int = 0,
    ) -> set[int]:
        """Of some labels, those that a filter has which may share a flat event with a conjunction, and is accepted.

        Parameters
        ----------
        asked : conjunctions, each with the traits that a filter must have
        accept : decides about the filter of a slot; asked for few of each label, unless many are not accepted
        sure : a trait of filters that are one box and nothing else, if all that is asked for is: they need not be accepted
        """
        view, left = self._index.view, set(labels)
        found: set[int] = set()

        def look_at(slots: Iterable[int]) -> None:
            for slot in slots:
                label = self._listed[slot]
                if label in left and accept(slot):
                    found.add(label)
                    left.discard(label)

        if isinstance(view, NecessaryView):
            look_at(view.filters())
            return found
        search = self._meeting_search()
        for each, needed in asked:
            if not left:
                break
            kinds = self._labels, self._traits, needed
            first, exact = search.first(view, each, kinds, left)
            known = {self._listed[slot] for slot in first[:exact] if int(self._traits[slot]) & sure}
            found |= known
            left -= known
            look_at(first)
            doubtful = {label for slot in first if (label := self._listed[slot]) in left}
            if doubtful:
                look_at(search.every(view, each, kinds, doubtful).tolist())
        if left:
            look_at(search.rules(view).tolist())
        return found

    def _meeting_search(self) -> MeetingSearch:
        if self._meetings is None:
            from thatch.matching.segments.meeting import MeetingSearch  # which loads kernels

            self._meetings = MeetingSearch()
        return self._meetings
