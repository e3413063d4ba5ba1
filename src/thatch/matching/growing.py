"""An index that starts simple and becomes fast when it is worth it.

A few hundred filters are matched in plain Python, so that small sets need no compiled kernels; from then on they live
in segments. Both have the same methods and the same kind of view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from thatch.matching.necessary import NecessaryIndex, NecessaryView
from thatch.matching.problem import AccessHints, IndexView
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

if TYPE_CHECKING:
    from thatch.matching.segments import SegmentIndex

__all__ = ["FEW", "GrowingIndex"]

FEW = 256  # below this, compiled kernels are not worth loading
_MANY_EVENTS = 4_096  # from which on kernels are worth loading even for few filters

_NO_FILTERS: Mapping[int, Filter] = MappingProxyType({})
_NO_SOURCES: Mapping[int, str] = MappingProxyType({})


class GrowingIndex:
    """Filters by one necessary predicate while they are few, in segments from then on.

    Parameters
    ----------
    background : somebody else merges segments
    schema : declared types of attributes
    hints : what planning knows of events

    `current` is the index of the moment.
    """

    def __init__(
        self, *, background: bool = False, schema: Schema | None = None, hints: AccessHints | None = None
    ) -> None:
        self.background, self._schema, self._hints = background, schema, hints
        self.current: NecessaryIndex | SegmentIndex = NecessaryIndex(hints)

    @property
    def view(self) -> IndexView:
        """The filters as they are now, for readers."""
        return self.current.view

    def add(self, slot: int, filter: Filter) -> None:
        """Add a filter at a free slot."""
        if self._outgrows(1):
            self.grow({slot: filter})
        else:
            self.current.add(slot, filter)

    def extend(
        self,
        filters: Mapping[int, Filter],
        *,
        removed: Iterable[int] = (),
        sources: Mapping[int, str] = _NO_SOURCES,
    ) -> None:
        """Add many filters at once; `removed` are slots that get a new filter, `sources` texts that are at hand."""
        gone = list(removed)
        if self._outgrows(len(filters) - len(gone)):
            self.grow(filters, removed=gone, sources=sources)
        else:
            self.current.extend(filters, removed=gone, sources=sources)

    def _outgrows(self, more: int) -> bool:
        return isinstance(self.current, NecessaryIndex) and len(self.current) + more >= FEW

    def grow(
        self,
        filters: Mapping[int, Filter] = _NO_FILTERS,
        *,
        removed: Iterable[int] = (),
        sources: Mapping[int, str] = _NO_SOURCES,
    ) -> SegmentIndex:
        """Move to segments with more filters; if that has happened already, nothing changes."""
        if isinstance(self.current, NecessaryIndex):
            gone = set(removed)
            kept = {slot: each for slot, each in self.current.view.filters().items() if slot not in gone}
            self.current = self._segments({**kept, **filters}, sources)
        return self.current

    def _segments(
        self, filters: Mapping[int, Filter], sources: Mapping[int, str] = _NO_SOURCES
    ) -> SegmentIndex:
        from thatch.matching.segments import SegmentIndex  # loads the kernels

        segments = SegmentIndex(background=self.background, schema=self._schema, hints=self._hints)
        if filters:
            segments.extend(dict(sorted(filters.items())), sources=sources)
        return segments

    def view_for(self, view: IndexView, events: int) -> IndexView:
        """A view with the same answers as one of this index, the quickest for so many events."""
        if isinstance(view, NecessaryView) and len(view) and events >= _MANY_EVENTS:
            return self._segments(view.filters()).view
        return view

    def renumbered(self, new_slot: npt.NDArray[np.int64]) -> GrowingIndex:
        """An index of the same filters at other slots, in the same order."""
        other = GrowingIndex(background=self.background, schema=self._schema, hints=self._hints)
        other.current = self.current.renumber(new_slot)
        return other

    def remove(self, slot: int) -> None:
        """Remove the filter at a slot."""
        self.current.remove(slot)

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, lowest first."""
        return self.current.match(record)

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""
        return self.current.any(record)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return self.current.stats()
