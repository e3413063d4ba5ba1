"""Segments and what is newer than they are, behind the contract of an index.

New filters wait in a small index of their own; when there are enough they become a segment, and segments of like size
are merged, so that there are only logarithmically many. Removing marks; marked ones are dropped by the next merge.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.matching.necessary import NecessaryIndex
from thatch.matching.segments import kernels
from thatch.matching.segments.encoding import Attributes, Encoder
from thatch.matching.segments.segment import Segment
from thatch.matching.segments.sides import Draft, Sides
from thatch.model.events import Record, read_event
from thatch.model.filters import Filter
from thatch.model.matching import holds

__all__ = ["SegmentIndex"]

FLUSH = 256  # filters that wait before they become a segment
_SURE = 2**32 - 1
_NO_RECORD = Record({})
_NO_SEGMENTS = np.zeros((0, 36), np.int64)
MOST_ATTRIBUTES = 60_000  # of one segment
PATIENCE = 64  # events without a change after which even a few recent filters are worth a segment
FAN_OUT = 8  # a segment is merged with the ones before it once together they are this much of it


class SegmentIndex:
    """Filters in segments of geometric sizes."""

    def __init__(self, flush: int | None = None) -> None:
        self._flush = FLUSH if flush is None else flush
        self._filters: dict[int, Filter] = {}
        self._recent = NecessaryIndex()
        self._recent_places: dict[int, Filter] = {}
        self._asked = 0  # events since the last change
        self._unfiled: list[int] = []  # recent ones that no event has asked for yet
        self._attributes = Attributes()
        self._segments: list[Segment] = []
        self._encoder = Encoder(self._attributes)
        self._events = self._matches = self._verified = 0
        self._prepare()

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, place: int, filter: Filter) -> None:
        self._filters[place] = filter
        self._recent_places[place] = filter
        self._unfiled.append(place)
        self._asked = 0
        if len(self._recent_places) >= self._flush:
            self.flush()

    def remove(self, place: int) -> None:
        del self._filters[place]
        if place in self._recent_places:
            self._file_recent()
            self._recent.remove(place)
            del self._recent_places[place]
            return
        for segment in self._segments:
            subscription = segment.find(place)
            if subscription >= 0:
                segment.remove(subscription)
                if segment.dead * 2 > len(segment):
                    self._rebuild(segment)
                return

    def extend(self, filters: dict[int, Filter]) -> None:
        """Add many filters at once, as one segment."""
        self.flush()
        draft = Draft()
        for place, each in filters.items():
            draft.add(place, each, self._attributes.number)
            self._filters[place] = each
        if len(draft):
            self._add_segment(draft.sides())

    def flush(self) -> None:
        """Turn what waits into a segment, and merge segments that have grown alike."""
        if not self._recent_places:
            return
        draft = Draft()
        for place, each in self._recent_places.items():
            draft.add(place, each, self._attributes.number)
        self._recent, self._recent_places, self._unfiled = NecessaryIndex(), {}, []
        self._add_segment(draft.sides())

    def _file_recent(self) -> None:
        """Make recent filters ready to be matched; those that become a segment before anyone asks never are."""
        for place in self._unfiled:
            self._recent.add(place, self._recent_places[place])
        self._unfiled = []

    def _add_segment(self, sides: Sides) -> None:
        merged = [sides]
        size = len(sides.place)
        while self._segments and len(self._segments[-1]) < FAN_OUT * size:
            last = self._segments.pop()
            merged.insert(0, last.sides())
            size += len(last)
        if len(merged) > 1:
            sides = Sides.joined(merged)
        self._segments += [Segment.build(part) for part in _narrow(sides)]
        self._attributes.learn()
        self._prepare()

    def _rebuild(self, segment: Segment) -> None:
        position = self._segments.index(segment)
        if segment.dead == len(segment):
            del self._segments[position]
        else:
            self._segments[position] = Segment.build(segment.sides())
        self._prepare()

    def _prepare(self) -> None:
        """Room for the answers of the segments there are now."""
        self._descs = (
            np.stack([segment.desc for segment in self._segments]) if self._segments else _NO_SEGMENTS
        )
        attributes = max((len(segment.tables.attributes) for segment in self._segments), default=0) + 64
        boxes = sum(len(segment.box_subscription) for segment in self._segments) + 64
        first = min((int(segment.place.min()) for segment in self._segments), default=0)
        span = max((int(segment.place.max()) for segment in self._segments), default=0) - first + 1
        self._places = np.empty(boxes, np.int64)
        self._verify = np.empty(2 * boxes, np.int64)
        self._counts = np.zeros(3, np.int64)
        words = (span >> 6) + 1
        room: dict[int, npt.NDArray[Any]] = {
            kernels.DESCS: self._descs,
            kernels.LOW: np.zeros(attributes, np.uint16),
            kernels.HIGH: np.zeros(attributes, np.uint16),
            kernels.STRICT_LOW: np.zeros(attributes, np.uint16),
            kernels.STRICT_HIGH: np.zeros(attributes, np.uint16),
            kernels.CELL_LOW: np.zeros(attributes, np.int32),
            kernels.CELL_HIGH: np.zeros(attributes, np.int32),
            kernels.HEADS: np.full(attributes, -1, np.int32),
            kernels.JOINTS: np.zeros(attributes, np.uint8),
            kernels.TOUCHED: np.zeros(attributes, np.int32),
            kernels.BITS: np.zeros(words, np.uint64),
            kernels.SUMMARY: np.zeros((words >> 6) + 1, np.uint64),
            kernels.PLACES: self._places,
            kernels.TO_VERIFY: self._verify,
            kernels.COUNTS: self._counts,
        }
        self._owned = room  # addresses do not keep arrays alive
        self._context = np.zeros(kernels.CONTEXT_SIZE, np.int64)
        for field, owned in room.items():
            self._context[field] = owned.ctypes.data
        self._context[kernels.N_SEGMENTS], self._context[kernels.DESC_WIDTH] = self._descs.shape
        self._context[kernels.ROOM] = attributes
        self._context[kernels.N_SUMMARY] = (words >> 6) + 1
        self._context[kernels.FIRST_PLACE] = first
        self._encoder.attach(self._context)

    # --- asking --------------------------------------------------------------------------------------------------

    def match(self, record: Record) -> list[int]:
        counts = kernels.collect(self._context, self._encoder.record(record), 0)
        places: list[int] = self._answer(counts, record).tolist()
        return places

    def match_plain(self, event: dict[str, Any]) -> npt.NDArray[np.int64] | None:
        """The places for a flat event of plain values, straight from its object; None if it has to be read first.

        The array is only good until the next call.
        """
        rows, flags = self._encoder.numeric(event), kernels.NUMERIC
        if rows < 0:
            rows, flags = self._encoder.plain(event), 0
        counts = kernels.collect(self._context, rows, flags) if rows >= 0 else -1
        if counts < 0:
            return None
        # What is read here is a dict of plain values already, so reading it cannot fail.
        needs_record = counts >> 32 or self._recent_places
        return self._answer(counts, read_event(event) if needs_record else _NO_RECORD)

    def _answer(self, counts: int, record: Record) -> npt.NDArray[np.int64]:
        """The sure matches of the last call, those verified now, and those among the recent filters; in order."""
        found = self._places[: counts & _SURE]
        more: set[int] = set()
        if counts >> 32:
            waiting = self._to_verify()
            self._verified += len(waiting)
            more |= {place for place in waiting if holds_any(self._filters[place], record)}
        if self._recent_places:
            more |= set(self._match_recent(record))
        if more:
            found = np.union1d(found, np.fromiter(more, np.int64, len(more)))
        self._events += 1
        self._matches += len(found)
        return found

    def _match_recent(self, record: Record) -> list[int]:
        self._file_recent()
        found = self._recent.match(record)
        self._asked += 1
        if self._asked >= PATIENCE:
            self.flush()
        return found

    def any(self, record: Record) -> bool:
        self._events += 1
        self._file_recent()
        if self._recent_places and self._recent.any(record):
            return True
        rows = self._encoder.record(record)
        if kernels.collect(self._context, rows, kernels.STOP) & _SURE:
            return True
        return any(holds_any(self._filters[place], record) for place in self._to_verify())

    def _to_verify(self) -> set[int]:
        pairs = self._verify[: 2 * int(self._counts[1])].reshape(-1, 2).tolist()
        return {int(self._segments[segment].place[subscription]) for segment, subscription in pairs}

    def stats(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for segment in self._segments:
            for part, size in segment.sizes().items():
                sizes[f"bytes_{part}"] = sizes.get(f"bytes_{part}", 0) + size
        return {
            "alternatives": sum(len(each.conjunctions) for each in self._filters.values()),
            "segments": len(self._segments),
            "boxes": sum(len(segment.box_subscription) for segment in self._segments),
            "dead": sum(segment.dead for segment in self._segments),
            "waiting": len(self._recent_places),
            **sizes,
            "events": self._events,
            "candidates": int(self._counts[2]),
            "verified": self._verified,
            "matches": self._matches,
        }


def _narrow(sides: Sides) -> Iterator[Sides]:
    """The same boxes in parts whose attributes can be numbered in sixteen bits. One subscription has fewer."""
    if len(np.unique(sides.attribute)) <= MOST_ATTRIBUTES:
        yield sides
        return
    is_first = np.arange(len(sides.place)) < len(sides.place) // 2
    yield from _narrow(sides.without(~is_first))
    yield from _narrow(sides.without(is_first))


def holds_any(filter: Filter, record: Record) -> bool:
    """Whether some conjunction of the filter holds."""
    return any(holds(conjunction, record) for conjunction in filter.conjunctions)
