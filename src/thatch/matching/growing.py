"""An index that starts simple and becomes fast when it is worth it.

A few hundred filters are matched in plain Python, so that small sets need no compiled kernels; from then on they live
in segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from thatch.matching.necessary import NecessaryIndex
from thatch.model.events import Record
from thatch.model.filters import Filter

if TYPE_CHECKING:
    from thatch.matching.segments import SegmentIndex

__all__ = ["GrowingIndex"]

FEW = 256  # below this, compiled kernels are not worth loading


class GrowingIndex:
    """Filters by one necessary predicate while they are few, in segments from then on."""

    def __init__(self) -> None:
        self._few: dict[int, Filter] = {}
        self._simple = NecessaryIndex()
        self._segments: SegmentIndex | None = None

    def add(self, place: int, filter: Filter) -> None:
        if self._segments is not None:
            self._segments.add(place, filter)
            return
        self._simple.add(place, filter)
        self._few[place] = filter
        if len(self._few) >= FEW:
            self._grow({})

    def extend(self, filters: dict[int, Filter]) -> None:
        """Add many filters at once."""
        if self._segments is None and len(self._few) + len(filters) < FEW:
            for place, each in filters.items():
                self.add(place, each)
        elif self._segments is None:
            self._grow(filters)
        else:
            self._segments.extend(filters)

    def _grow(self, filters: dict[int, Filter]) -> None:
        from thatch.matching.segments import SegmentIndex  # loads the kernels

        self._segments = SegmentIndex()
        self._segments.extend({**self._few, **filters})
        self._few, self._simple = {}, NecessaryIndex()

    def remove(self, place: int) -> None:
        if self._segments is not None:
            self._segments.remove(place)
        else:
            self._simple.remove(place)
            del self._few[place]

    def match(self, record: Record) -> list[int]:
        return (self._segments or self._simple).match(record)

    def match_plain(self, event: dict[str, Any]) -> npt.NDArray[np.int64] | None:
        """The places for a flat event of plain values, None if it has to be read first."""
        return self._segments.match_plain(event) if self._segments is not None else None

    def any(self, record: Record) -> bool:
        return (self._segments or self._simple).any(record)

    def stats(self) -> dict[str, int]:
        return (self._segments or self._simple).stats()
