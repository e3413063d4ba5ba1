"""Which mergers a link could make of its active rows, and what they would cost (paper L, sections 5.1 to 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple, Protocol, runtime_checkable

from thatch.model.filters import Filter
from thatch.model.lines import Constraint
from thatch.model.schema import Schema
from thatch.reduction.forwarding.groups import groups_around
from thatch.reduction.forwarding.partners import Pair, Partners, Shelved
from thatch.reduction.forwarding.rows import Source
from thatch.reduction.merging import (
    Degree,
    Sides,
    Traffic,
    When,
    around,
    conjunction_of,
    predicates_in,
    united,
)

__all__ = ["ROUNDING", "Candidate", "Candidates", "FilterRows", "Merger", "Rules", "originals"]

ROUNDING = 1e-12  # sums of shares in another order
_MOST_PARTS = 32  # subscriptions that are taken away one by one to tell a degree exactly
_MOST_BOXES = 256  # of a merger


@runtime_checkable
class FilterRows(Source, Protocol):
    """Knows the filters of rows, and takes in those that are made here."""

    @property
    def schema(self) -> Schema | None:
        """The declared types of attributes."""

    def filter(self, row: int) -> Filter:
        """What a row asks for."""

    def invent(self, filter: Filter) -> int:
        """Take in a filter that no subscription has; gives its row, a number below 0 that is never given again."""

    def discard(self, row: int) -> None:
        """Forget such a filter."""


class Rules(Protocol):
    """What may be merged, and when: the policy `Merging`."""

    @property
    def threshold(self) -> float: ...
    @property
    def budget(self) -> float: ...
    @property
    def intervals(self) -> int: ...
    @property
    def every(self) -> int | None: ...
    @property
    def when(self) -> When | None: ...
    @property
    def groups(self) -> bool: ...


class Merger:
    """A filter around others.

    Parameters
    ----------
    row : of the filter
    parts : the rows it was made of, mergers among them
    size : how many subscriptions are in these
    degree : what it costs
    on : the one attribute in which all these subscriptions differ, and what they hold on it together; None if there are
        several
    """

    __slots__ = ("degree", "on", "parts", "row", "size")

    def __init__(
        self,
        row: int,
        parts: tuple[int, ...],
        size: int,
        degree: Degree,
        on: tuple[str, Constraint] | None = None,
    ) -> None:
        self.row, self.parts, self.size = row, parts, size
        self.degree, self.on = degree, on


def originals(mergers: Mapping[int, Merger], row: int) -> Iterator[int]:
    """The subscriptions in a merger, or the row itself if it is none."""
    pending = [row]
    while pending:
        each = pending.pop()
        if each in mergers:
            pending += mergers[each].parts
        else:
            yield each


class Candidate(NamedTuple):
    """A merger that could be made of some rows; `filter` is made when it is asked for."""

    degree: Degree
    sides: Sides
    parts: tuple[int, ...]
    size: int
    on: tuple[str, Constraint] | None
    of: Filter  # one of the parts, with all that is not in the sides

    @property
    def filter(self) -> Filter:
        """What it asks for."""
        schema = self.of.schema
        return Filter((conjunction_of(self.sides, self.of.conjunctions[0].residuals, schema),), schema, ())


class Candidates:
    """Finds mergers.

    Parameters
    ----------
    source : knows what rows ask for
    traffic : which events are expected
    policy : says what a merger may cost
    partners : the active rows
    mergers : those there are, active or not
    """

    def __init__(
        self,
        source: FilterRows,
        traffic: Traffic,
        policy: Rules,
        partners: Partners,
        mergers: Mapping[int, Merger],
    ) -> None:
        self.source, self._traffic, self._policy = source, traffic, policy
        self._partners, self._mergers = partners, mergers
        self._left = policy.budget  # of the budget, while candidates are looked for

    def cheapest(self, row: int, total: float) -> Candidate | None:
        """The merger of an active row and its partners that costs least, if one costs little enough.

        Parameters
        ----------
        total : what all active mergers of the link cost
        """
        self._left = self._policy.budget - total
        partners = self._partners
        chosen = self._least(self._on_one(row, pair) for pair in partners.near(row, partners.ones(row)))
        shelves = partners.twos(row) if chosen is None else []
        if chosen is None and self._policy.threshold:
            chosen = self._least(self._on_two(row, pair) for pair in partners.near(row, shelves))
        if chosen is None and self._policy.groups:
            chosen = self._filled_by_several(row, shelves)
        return chosen

    def _least(self, candidates: Iterable[Candidate | None]) -> Candidate | None:
        best: tuple[float, int, int, tuple[int, ...]] | None = None
        chosen = None
        for each in candidates:
            if each is None or each.degree.threshold > self._most(each.parts):
                continue
            boxes = prod(len(side) // 2 for side in each.sides.values())
            # Small ones first: so mergers of mergers are a tree that is not deep, and little is undone when a part goes.
            rank = (each.degree.threshold, boxes, each.size, each.parts)
            if boxes <= _MOST_BOXES and (best is None or rank < best):
                best, chosen = rank, each
        return chosen

    def _most(self, parts: tuple[int, ...]) -> float:
        """What a merger of some rows may cost."""
        freed = sum(self._mergers[part].degree.threshold for part in parts if part in self._mergers)
        return min(self._policy.threshold, self._left + freed) + ROUNDING

    def _on_one(self, row: int, pair: Pair) -> Candidate | None:
        """The merger of two rows that differ in one attribute: perfect, if their union is a predicate."""
        (key,), (own,), (other,) = pair.keys, pair.own, pair.other
        side = united(own, other)
        if predicates_in(side) > self._policy.intervals:
            if self._policy.threshold == 0 and not self._traffic.knows_gaps:
                return None
            side = around(key, own, other, intervals=self._policy.intervals, density=self._traffic.density)
        sides = self._sides(row)
        sides[key] = side
        parts = (row, pair.row)
        held = self._held_on(row, key, own), self._held_on(pair.row, key, other)
        if held[0] is None or held[1] is None:
            return self._candidate(sides, parts, self._degree(sides, parts))
        together = united(held[0], held[1])
        degree = self._traffic.degree_on(sides, key, together)
        return self._candidate(sides, parts, degree, (key, together))

    def _held_on(self, row: int, key: str, own: Constraint) -> Constraint | None:
        """What the subscriptions in a row hold on an attribute, None if they differ in others too."""
        merger = self._mergers.get(row)
        if merger is None or not merger.degree.imperfect:
            return own
        return merger.on[1] if merger.on is not None and merger.on[0] == key else None

    def _on_two(self, row: int, pair: Pair) -> Candidate | None:
        """The merger of two rows that differ in two attributes: a box around both."""
        density, parts = self._traffic.density, (row, pair.row)
        found = [
            around(key, own, other, intervals=self._policy.intervals, density=density)
            for key, own, other in zip(pair.keys, pair.own, pair.other, strict=True)
        ]
        if self._traffic.least(pair.rest, pair.keys, found, pair.own, pair.other) > self._most(parts):
            return None
        sides = self._sides(row)
        sides.update(zip(pair.keys, found, strict=True))
        return self._candidate(sides, parts, self._degree(sides, parts))

    def _filled_by_several(self, row: int, shelves: Iterable[Shelved]) -> Candidate | None:
        """A merger around rows that differ in two attributes, if it is proved that the rows in it fill it."""
        from thatch.reduction.covering import covered_by  # which takes a while to load, and few need it

        for keys, shelf in self._partners.beside(shelves):
            for box, parts in groups_around(row, keys, shelf, self._traffic.density):
                sides = self._sides(row)
                sides.update(zip(keys, box, strict=True))
                found = self._candidate(sides, parts, self._degree(sides, parts))
                if found.degree.threshold <= self._most(parts):
                    filters = [self.source.filter(part) for part in parts]
                    if covered_by(found.filter, filters).covered:
                        return found
        return None

    def _degree(self, sides: Sides, parts: tuple[int, ...]) -> Degree:
        if self._size(parts) <= _MOST_PARTS:
            rows = sorted(each for part in parts for each in originals(self._mergers, part))
            return self._traffic.degree_beyond(sides, [self._sides(each) for each in rows])
        # What it holds beyond its parts, and what these hold beyond theirs: at least what it costs.
        inner = [self._mergers[part].degree for part in parts if part in self._mergers]
        degree = self._traffic.degree_beyond(sides, [self._sides(part) for part in parts])
        beyond = min(degree.threshold + sum(each.threshold for each in inner), 1.0)
        return Degree(max([degree.imperfect, *(each.imperfect for each in inner)]), beyond)

    def _candidate(
        self, sides: Sides, parts: tuple[int, ...], degree: Degree, on: tuple[str, Constraint] | None = None
    ) -> Candidate:
        return Candidate(degree, sides, parts, self._size(parts), on, self.source.filter(parts[0]))

    def _size(self, parts: Iterable[int]) -> int:
        return sum(self._mergers[part].size if part in self._mergers else 1 for part in parts)

    def _sides(self, row: int) -> Sides:
        return dict(self.source.filter(row).conjunctions[0].constraints)
