"""Match a batch of flat events: one at a time or, where that reads too much, hundreds at a time as masks.

Masks work for segments with exact codes, one box for each subscription, and nothing to verify. Whether they pay is
measured: a few events are searched first, to see how many blocks an event reads.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from thatch.compiled.records import Int32s, Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.columns import EventColumns
from thatch.matching.segments.kernels.batches import (
    DENSE,
    EVENTS,
    MASKS,
    collect_batch,
    count_grid,
    emit_grid,
    file_pairs,
    fill_masks,
    match_masks,
)
from thatch.matching.segments.records import TALLY, UNORDERED
from thatch.matching.segments.segment import Segment
from thatch.matching.segments.view import View
from thatch.matching.segments.workspace import SearchWorkspace

__all__ = ["Part", "match_parts"]

_FEWEST = 32  # events in a batch for which masks pay
_SAMPLE = 8
_MOST_CELLS = 1 << 17  # of a segment, which take 16 MB of masks
_ROOM = 1 << 21  # matches that are kept before they are handed out
_MOST_ROWS = 1 << 14  # of a grid, which takes 64 MB

# Nanoseconds, from measurements: a block that a search reads, and a side that is a mask.
_PER_BLOCK, _PER_SIDE = 20.0, 2.5

Counts = Int64s
Slots = Int32s
Part = tuple[int, Counts, Slots]  # the first event, how many matches each has from there on, their slots


def match_parts(view: View, columns: EventColumns) -> Generator[Part]:
    """The slots that match each event, in parts of bounded size. An event may be in several parts, a match is in one.

    A part has at most `_ROOM` matches and those of one event more. Who does not want the rest closes the iterator.
    """
    flags = view.pool.flags  # they may change while the parts are consumed
    room = view.pool.take(view.shape)
    try:
        if flags & TALLY:
            room.tally(view.shape.slots)
        yield from _Matching(view, columns, room, flags).parts()
    finally:  # no search was interrupted, so the workspace is clean
        room.attach(view.shape)  # undo `search_in` and `use_words`
        view.pool.free.append(room)


class _Matching:
    """One batch in one workspace."""

    def __init__(self, view: View, columns: EventColumns, room: SearchWorkspace, flags: int) -> None:
        self._view, self._columns, self._room, self._flags = view, columns, room, flags
        if room.encoder.rows < len(columns.attribute):
            room.encoder.grow(len(columns.attribute), 4_096)
        room.sync()
        room.use_words(columns.texts.blob)

    def parts(self) -> Iterator[Part]:
        shape = self._view.shape
        masked = [each for each in shape.segments if self._is_for_masks(each)]
        self._view.pool.masked = len(masked)
        searched = [number for number, each in enumerate(shape.segments) if each not in masked]
        yield from self._searched(searched)
        for segment in masked:
            yield from self._match_masked(segment)
        if self._view.has_rules:
            yield from self._match_rules()

    def _match_rules(self) -> Iterator[Part]:
        """Search the rules, and verify what is not sure."""
        if self._view.fresh:
            yield from self._match_rules_one_by_one()
            return
        rules = self._room.rules
        rules.attach(self._view.shape.rules)
        rules.learn(self._view.shape.attributes)
        counts, done = np.zeros(len(self._columns), np.int64), 0
        slots = self._room.spare("found", rules.most + _ROOM, np.int32)
        pending = np.empty((rules.most + 4_096, 2), np.int64)
        while done < len(self._columns):
            first = done
            done, used, waiting = rules.search_columns(
                self._columns, first, self._view.moment, counts, slots, pending
            )
            if used:
                yield self._part(first, counts[first:done], slots[:used].copy())
            yield from self._asked(pending[:waiting])

    def _asked(self, pending: Int64s) -> Iterator[Part]:
        """Verify rules that an event may match, and yield those that hold."""
        shape, rules = self._view.shape, self._room.rules
        self._room.counts.verified += len(pending)
        for event in np.unique(pending[:, 0]).tolist():
            more = []
            for each in pending[pending[:, 0] == event, 1].tolist():
                segment, owner = rules.owner(each)
                rule = shape.rule(segment, owner)
                if rule.holds(self._columns.read(event, rule.names)):
                    more.append(segment.slot_of(owner))
            if more:
                self._room.counts.matches += len(more)
                yield self._part(event, np.array([len(more)]), np.array(sorted(more), np.int32))

    def _match_rules_one_by_one(self) -> Iterator[Part]:
        """Search the rules for one event after the other."""
        for event in range(len(self._columns)):
            slots = self._view.match_rules(self._room, self._columns.read(event))
            if len(slots):
                yield self._part(event, np.array([len(slots)]), slots.astype(np.int32))

    def _is_for_masks(self, segment: Segment) -> bool:
        """Whether masks can and should be used for a segment."""
        events = len(self._columns)
        sides = len(segment.side_attribute)
        if self._flags & TALLY or events < _FEWEST or not segment.is_simple:
            return False
        if int(segment.tables.cells().sum()) > _MOST_CELLS:
            return False
        masked = sides * _PER_SIDE / min(events, EVENTS)
        if len(segment.bitsets):
            return segment.bitsets.nanoseconds > masked
        self._room.search_in([segment], [])
        sample = replace(
            self._columns,
            classes=np.ascontiguousarray(self._columns.classes[:, :_SAMPLE]),
            numbers=np.ascontiguousarray(self._columns.numbers[:, :_SAMPLE]),
            codes=np.ascontiguousarray(self._columns.codes[:, :_SAMPLE]),
        )
        counts = self._room.counts
        before, blocks_before = counts.table.copy(), counts.blocks
        done, _, _ = self._run(sample, 0, UNORDERED, np.zeros(len(sample), np.int64))
        blocks = int(counts.blocks - blocks_before) / done
        counts.table[:] = before  # the sample is searched again, and counted then
        return blocks * _PER_BLOCK > masked

    def _run(
        self, columns: EventColumns, first: int, flags: int, counts: Counts
    ) -> tuple[int, Slots, Int64s]:
        """Search for events from `first` on: the first not done, sure slots, and what to verify."""
        boxes = len(self._room.slots)
        slots = self._room.spare("found", boxes + _ROOM, np.int32)
        pending = np.empty((boxes + 4_096, 3), np.int64)
        done, used, waiting = collect_batch(
            self._room.table, columns.attribute, columns.classes, columns.numbers, columns.codes,
            columns.texts.offsets, first, flags, self._view.moment, self._view.boxes, slots, counts, pending,
        )  # fmt: skip
        return done, slots[:used], pending[:waiting]

    def _searched(self, segments: list[int]) -> Iterator[Part]:
        """Search these segments and the deltas for every event, and verify what is not sure."""
        shape = self._view.shape
        self._room.search_in([shape.segments[number] for number in segments], shape.deltas)
        sources = [*segments, *range(len(shape.segments), len(shape.segments) + len(shape.deltas))]
        flags = self._flags | (UNORDERED if shape.is_single(segments) else 0)
        counts, done = np.zeros(len(self._columns), np.int64), 0
        while done < len(self._columns):
            first = done
            done, slots, pending = self._run(self._columns, first, flags, counts)
            if len(slots):
                yield self._part(first, counts[first:done], slots.copy())
            if len(pending):
                yield from self._verified(first, counts[first:done], slots, pending, sources)

    def _part(self, first: int, counts: Counts, slots: Slots) -> Part:
        if self._flags & TALLY:
            np.add.at(self._room.tallies, 2 * slots.astype(np.int64) + 1, 1)
        return first, counts, slots

    def _verified(
        self, first: int, counts: Counts, slots: Slots, pending: Int64s, sources: list[int]
    ) -> Iterator[Part]:
        """Verify pending matches, and yield those that hold as parts of their own; `slots` are the sure matches."""
        shape = self._view.shape
        starts = starts_of(counts)
        self._room.counts.verified += len(pending)
        for event in np.unique(pending[:, 0]).tolist():
            record = self._columns.read(event)
            sure = set(slots[starts[event - first] : starts[event - first + 1]].tolist())
            more = set()
            for source, owner in pending[pending[:, 0] == event, 1:].tolist():
                slot = shape.source(sources[source]).slot_of(owner)
                if slot in sure or slot in more:
                    continue
                if shape.filter(sources[source], owner).holds(record):
                    more.add(slot)
            if more:
                self._room.counts.matches += len(more)
                yield self._part(event, np.array([len(more)]), np.array(sorted(more), np.int32))

    # --- masks ---------------------------------------------------------------------------------------------------

    def _match_masked(self, segment: Segment) -> Iterator[Part]:
        columns = self._columns
        cell_at = starts_of(segment.tables.cells())
        cells = int(cell_at[-1])
        below, above = (self._room.spare(name, 8 * cells, np.uint64) for name in ("below", "above"))
        for first in range(0, len(columns), EVENTS):
            count = min(EVENTS, len(columns) - first)
            fill_masks(
                segment.record.table, columns.attribute, columns.classes, columns.numbers, columns.codes,
                columns.texts.offsets, columns.texts.blob, first, count, cell_at, below, above,
            )  # fmt: skip
            yield from self._match_some(segment, first, count, (cell_at, below, above))

    def _match_some(
        self, segment: Segment, first: int, count: int, masks: tuple[Any, Any, Any]
    ) -> Iterator[Part]:
        """Match up to 512 events against a segment, as many blocks at a time as the grid has rows."""
        blocks = -(-segment.boxes // 64) + len(segment.groups)
        grid = np.empty(min(blocks, _MOST_ROWS) * EVENTS, np.uint64)
        first_boxes = np.empty(min(blocks, _MOST_ROWS), np.int64)
        everyone = np.packbits(np.arange(EVENTS) < count, bitorder="little").view(np.uint64)
        state, mask = np.zeros(2, np.int64), np.zeros(MASKS, np.uint64)
        own_slots = (segment.claims >> 1).astype(np.int32)
        events = self._room.spare("events", max(_ROOM, DENSE), np.uint16)
        pair_slots = self._room.spare("slots", max(_ROOM, DENSE), np.int32)
        while state[0] < len(segment.groups):
            rows, used = match_masks(
                segment.record.table, *masks, everyone, self._view.moment, state, mask, grid, first_boxes,
                events, pair_slots,
            )  # fmt: skip
            counts = np.bincount(events[:used], minlength=EVENTS)
            count_grid(grid, rows, counts)
            for start, end in _ranges(counts[:count], _ROOM):
                ends = starts_of(counts[start:end])
                if ends[-1]:
                    next_at, slots = np.zeros(EVENTS, np.int64), np.empty(ends[-1], np.int32)
                    next_at[start:end] = ends[:-1]
                    emit_grid(grid, first_boxes, rows, own_slots, start, end, next_at, slots)
                    file_pairs(events[:used], pair_slots[:used], start, end, next_at, slots)
                    self._room.counts.matches += int(ends[-1])
                    yield first + start, counts[start:end], slots


def _ranges(counts: Counts, most: int) -> Iterator[tuple[int, int]]:
    """Split events into ranges with at most so many matches, or of one event."""
    ends, start = np.cumsum(counts), 0
    while start < len(counts):
        most_here = ends[start] - counts[start] + most
        end = max(start + 1, int(np.searchsorted(ends, most_here, side="right")))
        yield start, end
        start = end
