"""An index by one necessary predicate per conjunction: find the few that can match, then verify each.

A filter with many alternatives is filed once, under what all of them have in common.

A conjunction is filed under the values of the attribute on which it allows the fewest, if they are finitely many;
else under an attribute that must be present; else it is a candidate for every event. An event looks only under its
own values and attributes. Simple and exact; cost grows with the conjunctions that share a value or an attribute.

Where hints say how many events satisfy a predicate, a conjunction is filed where the fewest events look, and its
constraints are tested in that order: the most selective first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from thatch.matching.problem import AccessHints, Answer, Slots
from thatch.model.conjunctions import Conjunction, points_of
from thatch.model.events import Record, read_event
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, PRESENT, Constraint, Cut, contains
from thatch.model.matching import holds
from thatch.model.names import base_of
from thatch.model.schema import Schema, line_of

__all__ = ["NecessaryIndex", "NecessaryView"]

_MOST_ALTERNATIVES = 16  # of one filter that are filed each on its own
_MAX_VALUES = 64  # a conjunction that allows more values of every attribute is filed under presence

Entry = tuple[int, int]  # a slot, and the number of the conjunction in its filter
Decider = Conjunction | Filter  # a filter with many alternatives is decided as a whole
Bucket = dict[Entry, Decider]
Access = tuple[str | None, list[Cut] | None]  # what a conjunction is filed under: an attribute, values of it
K = TypeVar("K")


class NecessaryView:
    """The index after one change. Its dicts never change: a change copies the few that it touches."""

    __slots__ = ("_by_presence", "_by_value", "_derived", "_everywhere", "_filed", "_hints", "_work")

    def __init__(self, hints: AccessHints | None, work: dict[str, int]) -> None:
        self._hints, self._work = hints, work
        self._filed: dict[int, tuple[Filter, list[Access]]] = {}
        self._by_value: dict[str, dict[Cut, Bucket]] = {}
        self._by_presence: dict[str, Bucket] = {}
        self._everywhere: Bucket = {}
        self._derived: dict[str, frozenset[str]] = {}  # derived attributes that something is filed under

    # --- changing ------------------------------------------------------------------------------------------------

    def change(self, removed: Iterable[int], added: Mapping[int, Filter]) -> NecessaryView:
        """A view without the filters at some slots, and with others; this one stays as it is."""
        view = NecessaryView(self._hints, self._work)
        view._derived = self._derived
        view._filed, view._everywhere = self._filed.copy(), self._everywhere.copy()
        view._by_value, view._by_presence = self._by_value.copy(), self._by_presence.copy()
        for slot in removed:
            view._unfile(slot)
        for slot, each in added.items():
            view._file(slot, each)
        return view

    def _file(self, slot: int, filter: Filter) -> None:
        deciders: list[Decider]
        if filter.has_more_than(_MOST_ALTERNATIVES):
            accesses, deciders = [self._access(filter.hull(), filter.schema)], [filter]
        else:
            accesses = [self._access(each, filter.schema) for each in filter.conjunctions]
            deciders = [self._ordered(each) for each in filter.conjunctions]
        self._filed[slot] = (filter, accesses)
        for number, (key, values) in enumerate(accesses):
            decider, entry = deciders[number], (slot, number)
            if key is None:
                self._everywhere[entry] = decider
                continue
            if key[-1] == ")":
                base = base_of(key)
                self._derived = {**self._derived, base: self._derived.get(base, frozenset()) | {key}}
            if values is None:
                self._by_presence[key] = {**self._by_presence.get(key, {}), entry: decider}
            else:
                buckets = self._by_value[key] = self._by_value.get(key, {}).copy()
                for value in values:
                    buckets[value] = {**buckets.get(value, {}), entry: decider}

    def _unfile(self, slot: int) -> None:
        for number, (key, values) in enumerate(self._filed.pop(slot)[1]):
            if key is None:
                del self._everywhere[slot, number]
                continue
            if values is None:
                _drop(self._by_presence, key, (slot, number))
            else:
                buckets = self._by_value[key] = self._by_value[key].copy()
                for value in values:
                    _drop(buckets, value, (slot, number))
                if not buckets:
                    del self._by_value[key]
            if key[-1] == ")" and key not in self._by_value and key not in self._by_presence:
                base = base_of(key)
                self._derived = {**self._derived, base: self._derived[base] - {key}}

    def _access(self, conjunction: Conjunction, schema: Schema | None) -> Access:
        """Where to file a conjunction; no values if that is under presence."""
        found: Access = (None, None)
        least = (inf, inf)  # the share of events that look there, and the values to file it under
        for key, constraint in conjunction.constraints:
            if contains(constraint, BOTTOM):
                continue
            is_short = len(constraint) <= 2 * _MAX_VALUES
            values = points_of(constraint, line_of(key, schema)) if is_short else None
            if values is not None and len(values) > _MAX_VALUES:
                values = None
            share = self._share(key, PRESENT if values is None else constraint)
            rank = (share, inf if values is None else len(values))
            if found[0] is None or rank < least:
                found, least = (key, values), rank
        return found

    def _ordered(self, conjunction: Conjunction) -> Conjunction:
        """A conjunction whose constraints stand in the order in which they are tested."""
        if self._hints is None:
            return conjunction
        constraints = sorted(conjunction.constraints, key=lambda each: self._share(*each))
        return Conjunction(tuple(constraints), conjunction.residuals)

    def _share(self, key: str, constraint: Constraint) -> float:
        return 1.0 if self._hints is None else self._hints.share(key, constraint)

    # --- matching ------------------------------------------------------------------------------------------------

    def match_plain(
        self, event: dict[str, Any], answer: Callable[[Slots], Answer], *, stop: bool = False
    ) -> Answer | None:
        record = read_event(event)
        return answer(self._first(record) if stop else self.match(record))

    def match(self, record: Record) -> Slots:
        return np.array(self.slots(record), np.int64)

    def any(self, record: Record) -> bool:
        return len(self._first(record)) > 0

    def slots(self, record: Record) -> list[int]:
        """The slots of all filters that match, lowest first."""
        found: set[int] = set()
        tested: set[Entry] = set()
        for bucket in self._buckets(record):
            for entry, decider in bucket.items():
                if entry[0] not in found and entry not in tested:
                    tested.add(entry)
                    if _holds(decider, record):
                        found.add(entry[0])
        self._count(len(tested), len(found))
        return sorted(found)

    def reached(self, record: Record, labels: Sequence[int]) -> tuple[list[int], list[int]]:
        """The labels of all filters that match, each once, and the slots of those whose label is negative; lowest first.

        Filters with a label that was found already are not tested.
        """
        reached: set[int] = set()
        found: set[int] = set()
        tested: set[Entry] = set()
        for bucket in self._buckets(record):
            for entry, decider in bucket.items():
                label = labels[entry[0]]
                if (entry[0] in found if label < 0 else label in reached) or entry in tested:
                    continue
                tested.add(entry)
                if _holds(decider, record):
                    if label < 0:
                        found.add(entry[0])
                    else:
                        reached.add(label)
        self._count(len(tested), len(reached) + len(found))
        return sorted(reached), sorted(found)

    def _first(self, record: Record) -> Slots:
        """The slot of one filter that matches, if any does."""
        tested = 0
        for bucket in self._buckets(record):
            for entry, decider in bucket.items():
                tested += 1
                if _holds(decider, record):
                    self._count(tested, 1)
                    return np.array(entry[:1], np.int64)
        self._count(tested, 0)
        return np.zeros(0, np.int64)

    def _count(self, candidates: int, matches: int) -> None:
        work = self._work
        work["events"] += 1
        work["candidates"] += candidates
        work["matches"] += matches

    def _buckets(self, record: Record) -> Iterator[Bucket]:
        """Every bucket that may hold a conjunction the event satisfies."""
        if self._everywhere:
            yield self._everywhere
        present: set[str] = set()
        for key, point in self._points(record):
            values = self._by_value.get(key)
            if values is not None:
                bucket = values.get(point)
                if bucket is not None:
                    yield bucket
            if key in self._by_presence and key not in present and point != BOTTOM:
                present.add(key)
                yield self._by_presence[key]

    def _points(self, record: Record) -> Iterator[tuple[str, Cut]]:
        """Every value of every attribute, derived ones that matter included, in whatever list it stands."""
        for key, point in list(record.points.items()):
            if key[-1] == ")":
                continue  # cached by an earlier question; comes again below
            yield key, point
            for derived in self._derived.get(key, ()):
                yield derived, record.point(derived)
        for choice in record.choices:
            for element in choice.elements:
                yield from self._points(element)

    def filter(self, slot: int) -> Filter:
        """The filter at a slot."""
        return self._filed[slot][0]

    def filters(self) -> dict[int, Filter]:
        """All filters by slot."""
        return {slot: filter for slot, (filter, _) in self._filed.items()}

    def __len__(self) -> int:
        return len(self._filed)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        by_value = [bucket for each in self._by_value.values() for bucket in each.values()]
        return {
            "alternatives": sum(len(accesses) for _, accesses in self._filed.values()),
            "filed_under_values": sum(map(len, by_value)),
            "filed_under_presence": sum(map(len, self._by_presence.values())),
            "looked_at_always": len(self._everywhere),
            **self._work,
        }


class NecessaryIndex:
    """Filters by one necessary predicate of each of their conjunctions.

    It has the methods of `SegmentIndex` that an engine uses, but never anything to merge.
    """

    has_work = is_merging = False
    backlog = 0
    attributes = 0  # none is numbered

    def __init__(self, hints: AccessHints | None = None) -> None:
        # Counts of all searches. Threads may lose a count to each other: they are estimates.
        self.view = NecessaryView(hints, {"events": 0, "candidates": 0, "matches": 0})

    def __len__(self) -> int:
        return len(self.view)

    def add(self, slot: int, filter: Filter) -> None:
        """Add a filter at a free slot."""
        self.view = self.view.change((), {slot: filter})

    def replace(self, slot: int, filter: Filter) -> None:
        """Put a filter in the slot of another."""
        self.view = self.view.change((slot,), {slot: filter})

    def extend(
        self,
        filters: Mapping[int, Filter],
        *,
        removed: Iterable[int] = (),
        sources: Mapping[int, str] = MappingProxyType({}),  # noqa: ARG002 - segments keep them
    ) -> None:
        """Add many filters at once; `removed` are slots that get a new one."""
        self.view = self.view.change(removed, filters)

    def remove(self, *slots: int) -> None:
        """Remove the filters at these slots, as one change."""
        self.view = self.view.change(slots, {})

    def filter(self, slot: int) -> Filter:
        """The filter at a slot."""
        return self.view.filter(slot)

    def renumber(self, new_slot: npt.NDArray[np.int64]) -> NecessaryIndex:
        """An index of the same filters at other slots, in the same order."""
        other, filters = NecessaryIndex(), self.view.filters()
        other.view = self.view.change(filters, {int(new_slot[slot]): each for slot, each in filters.items()})
        return other

    def revert(self, view: NecessaryView) -> None:
        """Go back to the view that readers have."""
        self.view = view

    def abandon(self) -> None:
        """Give up merging: there is none."""

    def tallies(self) -> npt.NDArray[np.int64]:
        """Candidates and matches of every slot; they are counted in segments only."""
        return np.zeros((max(self.view.filters(), default=-1) + 1, 2), np.int64)

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, lowest first."""
        return self.view.slots(record)

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""
        return self.view.any(record)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return self.view.stats()


def _holds(decider: Decider, record: Record) -> bool:
    return decider.holds(record) if isinstance(decider, Filter) else holds(decider, record)


def _drop(buckets: dict[K, Bucket], name: K, entry: Entry) -> None:
    """Put a bucket without an entry in the place of one with it."""
    bucket = buckets[name].copy()
    del bucket[entry]
    if bucket:
        buckets[name] = bucket
    else:
        del buckets[name]
