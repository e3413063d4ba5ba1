"""An index by one necessary predicate per conjunction: find the few that can match, then verify each.

A conjunction is filed under the values of the attribute on which it allows the fewest, if they are finitely many;
else under an attribute that must be present; else it is looked at for every event. An event looks only under its
own values and attributes. Simple and exact; cost grows with the conjunctions that share a value or an attribute.

Where hints tell how many events satisfy a predicate, a conjunction is filed where the fewest come by, and its
constraints are tested in the order in which they let through more and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TypeVar

from thatch.matching.problem import AccessHints
from thatch.model.conjunctions import Conjunction, points_of
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.lines import BOTTOM, PRESENT, Constraint, Cut, contains
from thatch.model.matching import holds
from thatch.model.names import base_of
from thatch.model.schema import Schema, line_of

__all__ = ["NecessaryIndex"]

_MAX_VALUES = 64  # a conjunction that allows more values of every attribute is filed under presence

Entry = tuple[int, int]  # a place, and the number of the conjunction in its filter
Bucket = dict[Entry, Conjunction]
K = TypeVar("K")


class NecessaryIndex:
    """Filters by one necessary predicate of each of their conjunctions.

    Parameters
    ----------
    hints : what planning knows of events
    """

    def __init__(self, hints: AccessHints | None = None) -> None:
        self._hints = hints
        self._by_value: dict[str, dict[Cut, Bucket]] = {}
        self._by_presence: dict[str, Bucket] = {}
        self._everywhere: Bucket = {}
        self._derived: dict[
            str, set[str]
        ] = {}  # attribute -> derived attributes that something is filed under
        self._filters: dict[int, Filter] = {}
        self._events = self._candidates = self._matches = 0

    def add(self, place: int, filter: Filter) -> None:
        self._filters[place] = filter
        for number, conjunction in enumerate(filter.conjunctions):
            key, values = self._access(conjunction, filter.schema)
            conjunction = self._ordered(conjunction)
            if key is None:
                self._everywhere[place, number] = conjunction
                continue
            if key[-1] == ")":
                self._derived.setdefault(base_of(key), set()).add(key)
            if values is None:
                self._by_presence.setdefault(key, {})[place, number] = conjunction
            else:
                buckets = self._by_value.setdefault(key, {})
                for value in values:
                    buckets.setdefault(value, {})[place, number] = conjunction

    def remove(self, place: int) -> None:
        filter = self._filters.pop(place)
        for number, conjunction in enumerate(filter.conjunctions):
            key, values = self._access(conjunction, filter.schema)
            if key is None:
                del self._everywhere[place, number]
                continue
            if values is None:
                _drop(self._by_presence, key, (place, number))
            else:
                for value in values:
                    _drop(self._by_value[key], value, (place, number))
                if not self._by_value[key]:
                    del self._by_value[key]
            if key[-1] == ")" and key not in self._by_value and key not in self._by_presence:
                self._derived[base_of(key)].discard(key)
                if not self._derived[base_of(key)]:
                    del self._derived[base_of(key)]

    def _access(self, conjunction: Conjunction, schema: Schema | None) -> tuple[str | None, list[Cut] | None]:
        """The attribute a conjunction is filed under, and its values there if it is filed by value."""
        found: tuple[str | None, list[Cut] | None] = (None, None)
        least = (inf, inf)  # the share of events that come by, and the values to file it under
        for key, constraint in conjunction.constraints:
            if contains(constraint, BOTTOM):
                continue
            values = (
                points_of(constraint, line_of(key, schema)) if len(constraint) <= 2 * _MAX_VALUES else None
            )
            if values is not None and len(values) > _MAX_VALUES:
                values = None
            come_by = self._share(key, PRESENT if values is None else constraint)
            rank = (come_by, inf if values is None else len(values))
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

    def match(self, record: Record) -> list[int]:
        found: set[int] = set()
        tested: set[Entry] = set()
        for bucket in self._buckets(record):
            for entry, conjunction in bucket.items():
                if entry[0] not in found and entry not in tested:
                    tested.add(entry)
                    if holds(conjunction, record):
                        found.add(entry[0])
        self._events += 1
        self._candidates += len(tested)
        self._matches += len(found)
        return sorted(found)

    def any(self, record: Record) -> bool:
        self._events += 1
        for bucket in self._buckets(record):
            for conjunction in bucket.values():
                self._candidates += 1
                if holds(conjunction, record):
                    self._matches += 1
                    return True
        return False

    def _buckets(self, record: Record) -> Iterator[Bucket]:
        """Every bucket that may hold a conjunction the event satisfies."""
        if self._everywhere:
            yield self._everywhere
        present: set[str] = set()
        for key, place in self._places(record):
            values = self._by_value.get(key)
            if values is not None:
                bucket = values.get(place)
                if bucket is not None:
                    yield bucket
            if key in self._by_presence and key not in present and place != BOTTOM:
                present.add(key)
                yield self._by_presence[key]

    def _places(self, record: Record) -> Iterator[tuple[str, Cut]]:
        """Every value of every attribute, derived ones that matter included, in whatever list it stands."""
        for key, place in list(record.points.items()):
            if key[-1] == ")":
                continue  # remembered from an earlier question; comes again below
            yield key, place
            for derived in self._derived.get(key, ()):
                yield derived, record.point(derived)
        for choice in record.choices:
            for element in choice.elements:
                yield from self._places(element)

    def stats(self) -> dict[str, int]:
        return {
            "alternatives": sum(len(each.conjunctions) for each in self._filters.values()),
            "filed_under_values": sum(
                len(bucket) for each in self._by_value.values() for bucket in each.values()
            ),
            "filed_under_presence": sum(map(len, self._by_presence.values())),
            "looked_at_always": len(self._everywhere),
            "events": self._events,
            "candidates": self._candidates,
            "matches": self._matches,
        }


def _drop(buckets: dict[K, Bucket], name: K, entry: Entry) -> None:
    del buckets[name][entry]
    if not buckets[name]:
        del buckets[name]
