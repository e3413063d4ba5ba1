"""An index that starts simple and becomes fast when it is worth it.

A few hundred filters are matched in plain Python, so that small sets need no compiled kernels; from then on they live
in segments, and readers use their view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from thatch.matching.necessary import NecessaryIndex
from thatch.matching.problem import AccessHints
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

if TYPE_CHECKING:
    from thatch.matching.segments import SegmentIndex

__all__ = ["FEW", "GrowingIndex"]

FEW = 256  # below this, compiled kernels are not worth loading


class GrowingIndex:
    """Filters by one necessary predicate while they are few, in `segments` from then on."""

    def __init__(
        self, *, background: bool = False, schema: Schema | None = None, hints: AccessHints | None = None
    ) -> None:
        self._background, self._schema, self._hints = background, schema, hints
        self._few: dict[int, Filter] = {}
        self._simple = NecessaryIndex(hints)
        self.segments: SegmentIndex | None = None

    def add(self, place: int, filter: Filter) -> None:
        if self.segments is not None:
            self.segments.add(place, filter)
        elif len(self._few) + 1 >= FEW:
            self.grow({place: filter})
        else:
            self._simple.add(place, filter)
            self._few[place] = filter

    def replace(self, place: int, filter: Filter) -> None:
        """Put a filter in place of another."""
        if self.segments is not None:
            self.segments.replace(place, filter)
        else:
            self.remove(place)
            self.add(place, filter)

    def extend(
        self,
        filters: Mapping[int, Filter],
        *,
        removed: Iterable[int] = (),
        sources: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Add many filters at once; `removed` are places that get a new filter, `sources` texts that are at hand."""
        if self.segments is not None:
            self.segments.extend(filters, removed=removed, sources=sources)
            return
        for place in removed:
            self.remove(place)
        if len(self._few) + len(filters) >= FEW:
            self.grow(filters)
        else:
            for place, each in filters.items():
                self.add(place, each)

    def grow(
        self, filters: Mapping[int, Filter], sources: Mapping[int, str] = MappingProxyType({})
    ) -> SegmentIndex:
        """Move to segments, if that has not happened yet, with more filters."""
        if self.segments is None:
            from thatch.matching.segments import SegmentIndex  # loads the kernels

            segments = SegmentIndex(background=self._background, schema=self._schema, hints=self._hints)
            together = dict(sorted({**self._few, **filters}.items()))
            if together:
                segments.extend(together, sources=sources)
            self.segments = segments
            self._few, self._simple = {}, NecessaryIndex(self._hints)
        return self.segments

    def grown(
        self,
        filters: Mapping[int, Filter],
        *,
        removed: Iterable[int] = (),
        sources: Mapping[int, str] = MappingProxyType({}),
    ) -> GrowingIndex:
        """Another index, in segments, with the filters of this small one and more; this one does not change."""
        other = GrowingIndex(background=self._background, schema=self._schema, hints=self._hints)
        gone = set(removed)
        kept = {place: each for place, each in self._few.items() if place not in gone}
        other.grow({**kept, **filters}, sources)
        return other

    def renumbered(self, new_place: npt.NDArray[np.int64]) -> GrowingIndex:
        """An index of the same filters whose places are numbered anew, in the same order."""
        other = GrowingIndex(background=self._background, schema=self._schema, hints=self._hints)
        if self.segments is not None:
            other.segments = self.segments.renumber(new_place)
        else:
            for place, each in self._few.items():
                other.add(int(new_place[place]), each)
        return other

    def copied(self) -> GrowingIndex:
        """A copy of a small index, for a reader who takes long."""
        assert self.segments is None
        other = GrowingIndex(background=False, schema=self._schema, hints=self._hints)
        for place, each in self._few.items():
            other.add(place, each)
        return other

    def remove(self, place: int) -> None:
        if self.segments is not None:
            self.segments.remove(place)
        else:
            self._simple.remove(place)
            del self._few[place]

    def remove_many(self, places: Iterable[int]) -> None:
        """Forget several filters at once."""
        if self.segments is not None:
            self.segments.remove_many(places)
        else:
            for place in places:
                self.remove(place)

    def filter(self, place: int) -> Filter:
        """The filter at a place that is taken."""
        return self.segments.filter(place) if self.segments is not None else self._few[place]

    def match(self, record: Record) -> list[int]:
        return (self.segments or self._simple).match(record)

    def any(self, record: Record) -> bool:
        return (self.segments or self._simple).any(record)

    def stats(self) -> dict[str, int]:
        return (self.segments or self._simple).stats()
