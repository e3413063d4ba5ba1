"""Room for searches in rule segments, and the events that are searched for."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import islice
from math import inf, nextafter
from typing import Any

import numpy as np

from thatch.compiled.records import Int32s, Int64s
from thatch.matching.problem import Slots
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.columns import EventColumns
from thatch.matching.segments.encoding import Encoder
from thatch.matching.segments.records import MOST_SORTED, SearchCounts
from thatch.matching.segments.rules.folding import fold_tables
from thatch.matching.segments.rules.kernels.events import BEHIND, GROW, NOT_ASCII
from thatch.matching.segments.rules.kernels.search import (
    search_columns,
    search_rows,
    search_rules,
)
from thatch.matching.segments.rules.records import ROW_WIDTH, RuleEvent, RuleSearch
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.model.derived import fold
from thatch.model.events import Choice, Record
from thatch.model.lines import Cut, point
from thatch.model.names import ANYWHERE

__all__ = ["RuleWorkspace"]

_MOST_FLAT = 64  # flat events of one event that are searched for one by one
_MOST_BYTES = 9  # of a letter and of what folding makes of it, together
_LOWER = 2**32 - 1
_ROWS, _TEXT_ROOM = 64, 4_096  # for which there is room at first
_MOST_KEPT = 1 << 20  # for which room is kept when an event is done

Places = list[tuple[int, Cut]]  # attributes, and where their values lie
Found = tuple[Slots, Slots]  # slots in order, and what to verify


class RuleWorkspace:
    """What one search after the other writes to; belongs to one thread at a time. `counts` are those of searches in boxes."""

    def __init__(self, counts: SearchCounts | None = None) -> None:
        self._counts = counts or SearchCounts()
        self.event = RuleEvent(
            counts=self._counts,
            tallies=np.zeros(0, np.int64),
            row_info=np.zeros(0, np.int32),
            row_numbers=np.zeros(0, np.float64),
            source=np.zeros(0, np.uint8),
            fold_pages=np.zeros(0, np.uint16),
            fold_places=np.zeros(0, np.int32),
            fold_content=np.zeros(0, np.uint8),
            bases=np.zeros(0, np.uint8),
            anywhere=-1,
        )
        self._table = self.event.table
        self._attributes: Attributes | None = None
        self._segments: tuple[RuleSegment, ...] = ()
        self._read: Container[int | None] = frozenset()  # the attributes that rules are about
        self._count = self.most = 0
        self._is_attached = False
        self._searches: list[RuleSearch] = []
        self._buffers: Mapping[str, Any] | None = None
        self.slots = np.zeros(0, np.int64)
        self._grow(_ROWS, _TEXT_ROOM)

    def attach(self, segments: tuple[RuleSegment, ...], boxes: int = 0) -> None:
        """Get ready to search these segments, with room for matches of so many boxes."""
        if self._is_attached and segments is self._segments and len(self.slots) >= self.most + boxes:
            return
        self._is_attached = True
        self._segments, self._count = segments, len(segments)
        self._searches = [_search_of(each) for each in segments]
        self._read = {number for each in segments for number in each.table.attributes.tolist()}
        joined = [np.zeros(0, np.int64)]
        self._rule_tables = np.concatenate([*joined, *(each.record.table for each in segments)])
        self._search_tables = np.concatenate([*joined, *(each.table for each in self._searches)])
        self.most = sum(map(len, segments))  # that one event may match
        self.slots = self.event.found = np.zeros(self.most + boxes, np.int64)
        self._pending = self.event.pending = np.zeros(self.most, np.int64)

    @property
    def tables(self) -> tuple[Int64s, Int64s]:
        """The records of all segments, and of the room for searches in each."""
        return self._rule_tables, self._search_tables

    def _grow(self, rows: int, text: int) -> None:
        self.event.rows = np.zeros(ROW_WIDTH * rows, np.int64)
        self.event.lows, self.event.highs = np.zeros(rows), np.zeros(rows)
        self.event.words = np.zeros(text + BEHIND, np.uint8)

    def _is_large(self) -> bool:
        return len(self.event.lows) > _MOST_KEPT or len(self.event.words) > 2 * _MOST_KEPT

    def tally(self, tallies: Int64s, *, on: bool) -> None:
        """Count the candidates of every slot there, or nowhere."""
        if on and self.event.tallies is not tallies:
            self.event.tallies = tallies
        self.event.is_tallied = on

    # --- events ----------------------------------------------------------------------------------------------------------

    def search_encoded(self, encoder: Encoder, rows: int, moment: int) -> int:
        """Search for a flat event that was encoded; what `found` and `pending` take, negative if it must be read first."""
        self.use(encoder)
        self.event.is_listed = 0
        tables = self._table, self._rule_tables, self._search_tables, self._count
        while (counts := search_rows(*tables, moment, rows)) in (GROW, NOT_ASCII):
            if counts == NOT_ASCII:
                self._load_folding()
            elif rows > len(self.event.lows):
                self._grow(rows, len(self.event.words))
            else:
                self._grow(len(self.event.lows), 2 * len(self.event.words))
        return int(counts)

    def search_listed(self, encoder: Encoder, rows: int, moment: int) -> Found | None:
        """The same for an event with lists of plain values: slots, and what is to be verified; None if it must be read first."""
        self._set_loose(value=1)
        found = self.search_encoded(encoder, rows, moment)
        self._set_loose(value=0)
        return None if found < 0 else (self.found(found), self.pending(found))

    def use(self, encoder: Encoder) -> None:
        """Read the rows that an encoder writes."""
        buffers = encoder.buffers
        if self._buffers is not buffers:
            if self._is_large():
                self._grow(_ROWS, _TEXT_ROOM)
            self._buffers = buffers
            self.event.row_info, self.event.row_numbers = buffers["row_info"], buffers["row_numbers"]
            self.event.source = buffers["words"]
        if encoder.attributes.anywhere >= 0:
            self.learn(encoder.attributes)

    def search_columns(
        self, columns: EventColumns, first: int, moment: int, counts: Int64s, slots: Int32s, pending: Int64s
    ) -> tuple[int, int, int]:
        """Search for events of a batch, from `first` on: the first not done, how many slots, and how many to verify."""
        tables = self._table, self._rule_tables, self._search_tables, self._count
        parts = columns.attribute, columns.classes, columns.numbers, columns.codes, columns.texts.offsets
        self.event.source, self._buffers = columns.texts.blob, None
        self.event.is_listed = 0
        while True:
            done, used, waiting, reason = search_columns(
                *tables, moment, parts, first, counts, slots, pending
            )
            if reason == NOT_ASCII:
                self._load_folding()
            elif reason == GROW:
                self._grow(max(len(columns.attribute), len(self.event.lows)), 2 * len(self.event.words))
            if done > first or not reason:
                return done, used, waiting

    def _load_folding(self) -> None:
        folding = fold_tables()
        self.event.fold_pages, self.event.fold_places = folding.pages, folding.places
        self.event.fold_content = folding.content

    def found(self, counts: int) -> Slots:
        """The slots that the last search found, in order."""
        count = counts & _LOWER
        found = self.slots[:count]
        return np.sort(found) if count > MOST_SORTED else found

    def pending(self, counts: int) -> Slots:
        """What the last search leaves to verify, see `owner`."""
        return self._pending[: counts >> 32]

    def learn(self, attributes: Attributes) -> None:
        """Note which attributes of events are read; more may come at any time."""
        self.event.anywhere = attributes.anywhere >> 3
        if self._attributes is attributes and len(self.event.bases) == len(attributes.number):
            return
        self._attributes = attributes
        is_base = [key[-1] != ")" for key in list(attributes.number)]
        self.event.bases = np.array(is_base, np.uint8)

    def search_record(self, record: Record, numbers: Mapping[str, int], moment: int) -> Found:
        """Search for an event that was read.

        With lists all values are searched for together first. If some rule may match, the flat events are searched for one
        by one or, if they are many, such rules are to be verified.
        """
        fixed = (
            [(numbers[ANYWHERE], point(text)) for text in record.point(ANYWHERE)[1]]
            if ANYWHERE in numbers
            else []
        )
        fixed += self._known(record.points.items(), numbers)
        if not record.choices:
            self._file(fixed, [], numbers)
            return self._search(moment)
        lists = {key: some for key, some in record.possible_points().items() if key not in record.points}
        possible = self._known(((key, each) for key, some in lists.items() for each in some), numbers)
        behind = self._file(fixed, possible, numbers)
        matches, waiting = self._search(moment, is_loose=True)
        if not len(waiting) or _count_flat(record.choices) > _MOST_FLAT:
            return matches, waiting
        self._counts.matches -= len(matches)  # they are found again
        sure, pending = [], []
        for flat in islice(record.flat(), _MOST_FLAT):
            own = self._known(((key, flat[key]) for key in lists if key in flat), numbers)
            self.event.n_rows, _ = self._write(own, *behind)  # there is room: all possible values had it
            found, waiting = self._search(moment)
            sure.append(found.copy())
            pending.append(waiting.copy())
        matches = np.unique(np.concatenate(sure))
        self._counts.matches += len(matches) - sum(map(len, sure))  # the event matches once
        return matches, self._unsure(np.unique(np.concatenate(pending)), matches)

    def _unsure(self, pending: Slots, matches: Slots) -> Slots:
        """What is to be verified, without rules that match for sure by another choice of elements."""
        known = set(matches.tolist())
        owners = map(self.owner, pending.tolist())
        is_open = [segment.slot_of(owner) not in known for segment, owner in owners]
        return pending[np.array(is_open, np.bool_)]

    def _known(self, points: Iterable[tuple[str, Cut]], numbers: Mapping[str, int]) -> Places:
        """The attributes that rules are about, and where their values lie."""
        return [(numbers[key], place) for key, place in points if numbers.get(key) in self._read]

    def _file(self, fixed: Places, others: Places, numbers: Mapping[str, int]) -> tuple[int, int]:
        """Write the rows of an event; where those of `fixed` end, and their texts."""
        count = len(fixed) + len(others)
        texts = (place[1] for _, place in (*fixed, *others) if place[0] == 6)
        size = sum((2 if text.isascii() else _MOST_BYTES) * len(text) for text in texts)
        if self._is_large() or count > len(self.event.lows) or size + BEHIND > len(self.event.words):
            kept = (_ROWS, _TEXT_ROOM) if self._is_large() else (len(self.event.lows), len(self.event.words))
            self._grow(max(count, kept[0]), max(size, kept[1]))
        self.event.anywhere, self.event.is_listed = numbers.get(ANYWHERE, -1), 1
        behind = self._write(fixed, 0, 0)
        self.event.n_rows, _ = self._write(others, *behind)
        return behind

    def _write(self, known: Places, number: int, at: int) -> tuple[int, int]:
        """Write rows from `number` on, and their texts from `at` on; where both end."""
        event = self.event
        rows, words, lows, highs = event.rows, event.words, event.lows, event.highs
        for attribute, place in known:
            row = ROW_WIDTH * number
            rows[row] = 8 * attribute + place[0]
            if place[0] == 5:
                lows[number], highs[number] = _around(place[1])
            elif place[0] == 6:
                raw, folded = place[1].encode(), fold(place[1]).encode()
                middle, end = at + len(raw), at + len(raw) + len(folded)
                words[at:end] = np.frombuffer(raw + folded, np.uint8)
                rows[row + 1 : row + 5] = at, middle, middle, end
                at = end
            number += 1
        return number, at

    def _search(self, moment: int, *, is_loose: bool = False) -> Found:
        if is_loose:
            self._set_loose(value=1)
        counts = int(search_rules(self._table, self._rule_tables, self._search_tables, self._count, moment))
        if is_loose:
            self._set_loose(value=0)
        return self.found(counts), self.pending(counts)

    def _set_loose(self, *, value: int) -> None:
        self._search_tables[RuleSearch.is_loose :: RuleSearch.width] = value

    def owner(self, pending: int) -> tuple[RuleSegment, int]:
        """The segment and the rule of an entry of what is to be verified."""
        return self._segments[pending >> 32], pending & _LOWER

    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = [*self.event.arrays.values()]
        for search in self._searches:
            arrays += search.arrays.values()
        return sum(each.nbytes for each in arrays)


def _search_of(segment: RuleSegment) -> RuleSearch:
    """Room for searches in one segment."""
    table = segment.table
    attributes, rules = len(table.attributes), len(segment)
    return RuleSearch(
        atom_stamps=np.zeros(len(table.atom_kind), np.int32),
        group_stamps=np.zeros(len(segment.layout["rule_at"]) - 1, np.int32),
        rule_stamps=np.zeros(rules, np.int32),
        text_stamps=np.zeros(2 * attributes, np.int32),
        byte_stamps=np.zeros(256, np.int64),
        classes=np.zeros(attributes, np.uint8),
        kinds=np.zeros(attributes, np.uint8),
        touched=np.zeros(attributes, np.int32),
        places=np.zeros(4 * attributes, np.int64),
        lows=np.zeros(attributes),
        highs=np.zeros(attributes),
        candidates=np.zeros(rules, np.int32),
    )


def _count_flat(choices: tuple[Choice, ...]) -> int:
    """How many flat events there are, bounded by some more than are searched for one by one."""
    found = 1
    for choice in choices:
        found *= sum(_count_flat(each.choices) for each in choice.elements)
        if found > _MOST_FLAT:
            return found
    return found


def _around(value: float) -> tuple[float, float]:
    """The doubles just below and above a number, or itself twice if it is one."""
    double = float(value)
    if double == value:
        return double + 0.0, double + 0.0
    return (double, nextafter(double, inf)) if double < value else (nextafter(double, -inf), double)
