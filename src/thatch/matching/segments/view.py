"""A view: the index after one change. Any number of threads may search it without a lock."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from thatch.compiled.records import Int64s
from thatch.matching.problem import Answer, Slots
from thatch.matching.segments.kernels.search import collect
from thatch.matching.segments.records import (
    MOST_SORTED,
    NO_BOXES,
    NO_KERNEL,
    NUMERIC,
    STOP,
    TALLY,
    WAITING,
    SearchCounts,
)
from thatch.matching.segments.rules.merging import Fresh
from thatch.matching.segments.shape import ReadRule, Shape
from thatch.matching.segments.workspace import SearchWorkspace
from thatch.model.events import PlainRecord, Record, read_event

__all__ = ["Pool", "View"]

_TOTALS = ("events", "blocks", "candidates", "verified", "matches")
_SURE = 2**32 - 1

_NONE: Fresh = MappingProxyType({})


class Pool:
    """All workspaces, and those that no search is using."""

    def __init__(self) -> None:
        self.free: list[SearchWorkspace] = []
        self.every: list[SearchWorkspace] = []
        self.flags = 0
        self.masked = 0  # segments that the last batch matched by masks
        self._dropped = SearchCounts().table

    def take(self, shape: Shape) -> SearchWorkspace:
        """A workspace for a search; the caller puts it back into `free`."""
        try:
            room = self.free.pop()
        except IndexError:
            room = SearchWorkspace()
            self.every.append(room)
        if room.shape is not shape:
            room.attach(shape)
        if self.flags & TALLY:
            room.tally(shape.slots)
        return room

    def drop(self, room: SearchWorkspace) -> None:
        """Forget the workspace of a search that raised, which may have left anything in it; what it counted stays."""
        if room in self.every:
            self.every.remove(room)
            self._dropped += room.counts.table

    # --- counts ------------------------------------------------------------------------------------------------------

    def tally(self, *, on: bool) -> None:
        """Start to count candidates and matches of every slot, or stop and drop the counts."""
        self.flags = TALLY if on else 0
        for room in self.every:
            room.tally(0, on=False)  # each search begins again
            room.tallies[:] = 0

    def tallies(self, slots: int) -> Int64s:
        """Candidates and matches of every slot, as far as they were counted."""
        total = np.zeros((slots, 2), np.int64)
        for room in self.every:
            counted = room.tallies.reshape(-1, 2)[:slots]
            total[: len(counted)] += counted
        return total

    def renumber(self, new_slot: Int64s) -> None:
        """Move the counts of slots that get other numbers."""
        for room in self.every:
            counted = room.tallies.reshape(-1, 2)
            moved = np.zeros_like(counted)
            known = np.flatnonzero(new_slot[: len(counted)] >= 0)
            moved[new_slot[known]] = counted[known]
            counted[:] = moved

    def totals(self) -> dict[str, int]:
        """What all searches counted, by name."""
        tables = [self._dropped, *(room.counts.table for room in self.every)]
        counts = SearchCounts(np.sum(tables, axis=0))
        return {name: int(getattr(counts, name)) for name in _TOTALS}


class View:
    """An index after a change: its shape, the number of the change, and how many boxes of the last delta count."""

    __slots__ = ("_has_boxes", "_newest", "boxes", "fresh", "has_rules", "moment", "pool", "shape")

    def __init__(self, shape: Shape, moment: int, boxes: int, pool: Pool, fresh: Fresh = _NONE) -> None:
        self.shape, self.moment, self.boxes, self.pool, self.fresh = shape, moment, boxes, pool, fresh
        self.has_rules = bool(shape.rules or fresh)
        self._has_boxes = shape.has_boxes(boxes)
        self._newest = NO_KERNEL if fresh else boxes if self._has_boxes else NO_BOXES

    def match_plain(
        self, event: dict[str, Any], answer: Callable[[Slots], Answer], *, stop: bool = False
    ) -> Answer | None:
        """Match a flat event of plain values without reading it; searches with `stop` are not tallied."""
        pool = self.pool
        free = pool.free
        try:  # as `take` does, without the call
            room = free.pop()
        except IndexError:
            room = pool.take(self.shape)
        if room.shape is not self.shape:
            room.attach(self.shape)
        if pool.flags & TALLY:
            room.tally(self.shape.slots, on=not stop)
        try:
            if self.has_rules:
                return self._match_plain_rules(room, event, answer, stop=stop)
            asked = STOP if stop else pool.flags
            encoder = room.encoder
            rows, flags = encoder.numeric(event), NUMERIC
            if rows < 0:
                rows = encoder.plain(event)
                flags = encoder.flags
                room.sync()
            counts = collect(room.table, rows, flags | asked, self.moment, self.boxes) if rows >= 0 else -1
            if counts < 0:
                free.append(room)
                return None
            if counts <= _SURE:
                slots = room.slots[:counts]
            elif stop and counts & _SURE:
                slots = room.slots[: counts & _SURE]
            else:
                slots = self._verified(room, counts, read_event(event))
            if asked & TALLY:
                room.tallies[2 * slots + 1] += 1
            result = answer(slots)
            free.append(room)
            return result
        except BaseException:
            pool.drop(room)
            raise

    def match(self, record: Record) -> Slots:
        """The slots of all filters that match, lowest first."""
        room = self.pool.take(self.shape)
        try:
            counts = self._search(room, record, self.pool.flags)
            slots = self._verified(room, counts, record)
            if self.has_rules:
                slots = self._join(slots, self.match_rules(room, record))
            if slots.base is not None:
                slots = slots.copy()
            if self.pool.flags & TALLY:
                room.tallies[2 * slots + 1] += 1
        except BaseException:
            self.pool.drop(room)
            raise
        self.pool.free.append(room)
        return slots

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first that is sure, and is not tallied."""
        room = self.pool.take(self.shape)
        room.tally(0, on=False)
        try:
            counts = self._search(room, record, STOP)
            result = counts & _SURE != 0 or len(self._verified(room, counts, record)) > 0
            if not result and self.has_rules:
                result = len(self.match_rules(room, record)) > 0
        except BaseException:
            self.pool.drop(room)
            raise
        self.pool.free.append(room)
        return result

    # --- rules -------------------------------------------------------------------------------------------------------

    def _match_plain_rules(
        self, room: SearchWorkspace, event: dict[str, Any], answer: Callable[[Slots], Answer], *, stop: bool
    ) -> Answer | None:
        """The same where there are rules; gives back the workspace."""
        pool = self.pool
        counts = room.plain.match(event, pool.flags, self.moment, self._newest)
        if 0 <= counts <= MOST_SORTED and not pool.flags:  # by far the most common
            result = answer(room.rules.slots[:counts])
        else:
            found = self._match_with_rules(room, event, counts)
            if found is None:
                pool.free.append(room)
                return None
            if pool.flags & TALLY and not stop:
                room.tallies[2 * found + 1] += 1
            result = answer(found)
        pool.free.append(room)
        return result

    def _match_with_rules(self, room: SearchWorkspace, event: dict[str, Any], counts: int) -> Slots | None:
        """The slots of boxes and rules that a plain event matches, given what a kernel said; None if it has to be read first."""
        if counts >= 0:
            return self._asked_of_both(room, counts & ~WAITING, event)
        encoder = room.encoder
        rows = encoder.plain(event)
        if rows < 0:
            return None
        room.sync()
        counts = 0
        if self._has_boxes:
            counts = collect(room.table, rows, encoder.flags | self.pool.flags, self.moment, self.boxes)
            if counts < 0:
                return None
        else:
            room.counts.table[SearchCounts.events] += 1
        if self.fresh:
            return self._join(self._confirmed(room, counts, event), self.match_rules(room, read_event(event)))
        rules = room.rules
        rules.attach(self.shape.rules)
        if encoder.is_listed:
            return self._join(self._confirmed(room, counts, event), self._match_listed(room, rows, event))
        found = rules.search_encoded(encoder, rows, self.moment)
        if found < 0:
            return None
        if not counts:
            return rules.found(found) if found <= _SURE else self._asked(room, found, event)
        slots = self._confirmed(room, counts, event)
        if found:
            slots = self._join(slots, self._asked(room, found, event))
        return slots

    def _match_listed(self, room: SearchWorkspace, rows: int, event: dict[str, Any]) -> Slots:
        """The slots of rules that an event with lists matches: what one of its values may satisfy is verified."""
        found = room.rules.search_listed(room.encoder, rows, self.moment)
        if found is None:
            return self.match_rules(room, read_event(event))
        slots, pending = found
        if not len(pending):
            return slots
        return self._with_asked(room, slots, pending, lambda rule: _part_of(event, rule))

    def _asked_of_both(self, room: SearchWorkspace, found: int, event: dict[str, Any]) -> Slots:
        """The slots of rules and boxes that one search found for an event."""
        slots = room.rules.found(found) if found <= _SURE else self._asked(room, found, event)
        waiting = room.plain.waiting
        return self._join(slots, self._verified(room, waiting << 32, read_event(event))) if waiting else slots

    def _confirmed(self, room: SearchWorkspace, counts: int, event: dict[str, Any]) -> Slots:
        """The slots of boxes that a search found for an event."""
        return room.slots[:counts] if counts <= _SURE else self._verified(room, counts, read_event(event))

    def _asked(self, room: SearchWorkspace, counts: int, event: dict[str, Any]) -> Slots:
        """The slots of rules that a search found for an event."""
        slots = room.rules.found(counts)
        if counts <= _SURE:
            return slots
        part = PlainRecord(event)  # one for all rules, with what they ask for
        pending = room.rules.pending(counts)
        return self._with_asked(
            room, slots, pending, lambda rule: read_event(event) if rule.names is None else part
        )

    def match_rules(self, room: SearchWorkspace, record: Record) -> Slots:
        """The slots of rules that an event matches, in order."""
        rules = room.rules
        rules.attach(self.shape.rules)
        slots, pending = rules.search_record(record, self.shape.attributes.number, self.moment)
        found = self._with_asked(room, slots, pending, lambda _: record)
        return self._join(found, self._match_fresh(room, record)) if self.fresh else found

    def _match_fresh(self, room: SearchWorkspace, record: Record) -> Slots:
        """The slots of new rules that an event matches: all of them are candidates."""
        slots = [slot for slot, each in self.fresh.items() if each.holds(record)]
        room.count_tested(list(self.fresh), len(slots))
        return np.array(sorted(slots), np.int64)

    def _with_asked(
        self, room: SearchWorkspace, slots: Slots, pending: Slots, read: Callable[[ReadRule], Record]
    ) -> Slots:
        """The slots found, and those of the rules to verify whose filter holds; `read` reads the event for a rule."""
        room.counts.verified += len(pending)
        more = []
        for each in pending.tolist():
            segment, owner = room.rules.owner(each)
            rule = self.shape.rule(segment, owner)
            if rule.holds(read(rule)):
                more.append(segment.slot_of(owner))
        room.counts.matches += len(more)
        return self._join(slots, np.array(sorted(more), np.int64)) if more else slots

    def _join(self, slots: Slots, more: Slots) -> Slots:
        """Two sorted sets of slots that have none in common as one."""
        if not len(more):
            return slots
        return np.sort(np.concatenate((slots, more))) if len(slots) else more

    def _search(self, room: SearchWorkspace, record: Record, flags: int) -> int:
        rows = room.encoder.record(record)
        room.sync()
        return int(collect(room.table, rows, flags | room.encoder.flags, self.moment, self.boxes))

    def _verified(self, room: SearchWorkspace, counts: int, record: Record) -> Slots:
        """The sure matches of a search, and those that verifying confirms, in order."""
        found = room.slots[: counts & _SURE]
        waiting = counts >> 32
        if not waiting:
            return found
        room.counts.verified += waiting
        more = set()
        for pending in room.pending[:waiting].tolist():
            source, owner = pending >> 32, pending & _SURE
            slot = self.shape.source(source).slot_of(owner)
            if slot not in more and self.shape.filter(source, owner).holds(record):
                more.add(slot)
        room.counts.matches += len(more)
        if not more:
            return found
        return np.union1d(found, np.fromiter(more, np.int64, len(more)))


def _part_of(event: dict[str, Any], rule: ReadRule) -> Record:
    """An event of plain values and lists of them as a record, as far as a rule reads it."""
    if rule.names is None:
        return read_event(event)
    return read_event({name: event[name] for name in rule.names if name in event})
