"""An index that starts simple and becomes fast when it is worth it.

A few hundred filters are matched in plain Python, so that small sets need no compiled kernels; from then on they live
in segments. Both have the same methods and the same kind of view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from thatch.matching.necessary import NecessaryIndex, NecessaryView
from thatch.matching.problem import AccessHints, IndexView
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.names import base_of, name_of
from thatch.model.schema import Schema

if TYPE_CHECKING:
    from thatch.matching.segments import SegmentIndex

__all__ = ["FEW", "GrowingIndex"]

FEW = 256  # below this, compiled kernels are not worth loading
_MANY_EVENTS = 4_096  # from which on kernels are worth loading even for few filters

_NO_SOURCES: Mapping[int, str] = MappingProxyType({})


class GrowingIndex:
    """Filters by one necessary predicate while they are few, in segments from then on: `current` is the index of now.

    Parameters
    ----------
    background : somebody else merges segments
    schema : declared types of attributes
    hints : what planning knows of events
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
            self.grow()
        self.current.add(slot, filter)

    def extend(
        self,
        filters: Mapping[int, Filter],
        *,
        removed: Iterable[int] = (),
        sources: Mapping[int, str] = _NO_SOURCES,
    ) -> None:
        """Add many filters at once; `removed` are slots that get a new filter, `sources` texts that are at hand."""
        gone = set(removed)
        if self._outgrows(len(filters) - len(gone)):
            kept = {slot: each for slot, each in self._few().items() if slot not in gone}
            self.current = self._segments({**kept, **filters}, sources)
        else:
            self.current.extend(filters, removed=gone, sources=sources)

    def grow(self) -> SegmentIndex:
        """Move to segments; if that has happened already, nothing changes."""
        if isinstance(self.current, NecessaryIndex):
            self.current = self._segments(self._few())
        return self.current

    def _outgrows(self, more: int) -> bool:
        return isinstance(self.current, NecessaryIndex) and len(self.current) + more >= FEW

    def _few(self) -> dict[int, Filter]:
        assert isinstance(self.current, NecessaryIndex)
        return self.current.view.filters()

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

    def revert(self, current: NecessaryIndex | SegmentIndex, view: IndexView) -> None:
        """Go back to the index of a moment before, and to its view that readers have."""
        current.revert(view)  # type: ignore[arg-type]  # each kind of index has its own kind of view
        self.current = current

    def renumber(self, new_slot: npt.NDArray[np.int64]) -> GrowingIndex:
        """An index of the same filters at other slots, in the same order."""
        other = GrowingIndex(background=self.background, schema=self._schema, hints=self._hints)
        other.current = self.current.renumber(new_slot)
        return other

    def remove(self, *slots: int) -> None:
        """Remove the filters at these slots, as one change."""
        self.current.remove(*slots)

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, lowest first."""
        return self.current.match(record)

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""
        return self.current.any(record)

    def attributes(self) -> frozenset[str]:
        """The names of the attributes that filters read, and perhaps of some that removed ones read."""
        current = self.current
        if isinstance(current, NecessaryIndex):
            keys = _keys_of(self._few().values())
        else:
            keys = iter(current.attribute_keys())
        return frozenset(name_of(base_of(key)) for key in keys)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return self.current.stats()


def _keys_of(filters: Iterable[Filter]) -> Iterator[str]:
    for filter in filters:
        yield from filter.attributes()
