"""Which mergers a link could make of its active rows, and what they would cost (li2005, sections 5.1 to 5.4).

Beyond the paper there are perfect mergers of three or more rows, no two of which have one: five boxes may lie around and
in each other like the blades of a windmill, and fill a box together. Candidates are boxes around a row and one or two
others that differ from it in two attributes only; the parts are all rows of the same tail inside such a box. If by their
measure they could fill it, the exact checker decides whether they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod
from typing import NamedTuple

from thatch.model.conjunctions import close
from thatch.model.filters import Filter
from thatch.model.lines import EMPTY, Constraint, covers
from thatch.model.selectivity import Selectivity
from thatch.reduction.forwarding.link_filters import LinkFilters
from thatch.reduction.forwarding.partners import Keys, Pair, Partners, Shelved, ShelvedSides
from thatch.reduction.forwarding.policies import Merging
from thatch.reduction.merging import Degree, ExpectedTraffic, Sides, around, predicates_in, unite

__all__ = ["ROUNDING", "Candidate", "Candidates", "MergedRow"]

ROUNDING = 1e-12  # of shares summed in another order
_MOST_PARTS = 32  # subscriptions that are subtracted one by one to find a degree exactly
_MOST_BOXES = 256  # of a merger
_FEWEST_PARTS = 3  # of a group; two rows are merged by the rules
_GROUP_REACH = 4  # rows of a tail on each side with which a box is tried
_SMALL_ROUNDING = 1e-9


@dataclass(slots=True, eq=False)
class MergedRow:
    """A row around others."""

    row: int
    parts: tuple[int, ...]  # the rows it was made of, which may be mergers
    size: int  # how many subscriptions are in these
    degree: Degree  # what it costs
    # The one attribute in which all these subscriptions differ, and what they hold on it together; None if they differ
    # in several.
    on: tuple[str, Constraint] | None = None

    def subscriptions(self, mergers: Mapping[int, MergedRow]) -> Iterator[int]:
        """The rows of all subscriptions in it, through the mergers among its parts."""
        pending = list(self.parts)
        while pending:
            row = pending.pop()
            if row in mergers:
                pending += mergers[row].parts
            else:
                yield row


class Candidate(NamedTuple):
    """A merger that could be made of some rows; its filter is only made on demand."""

    degree: Degree
    sides: Sides
    parts: tuple[int, ...]
    size: int
    on: tuple[str, Constraint] | None
    of: Filter  # one of the parts, which has what the sides lack: schema and residuals

    @property
    def filter(self) -> Filter:
        """The filter of the merger."""
        schema = self.of.schema
        return Filter((close(self.sides, self.of.conjunctions[0].residuals, schema),), schema, ())


class Candidates:
    """Finds mergers of active rows; `mergers` has those there are, active or passive."""

    def __init__(
        self,
        filters: LinkFilters,
        traffic: ExpectedTraffic,
        policy: Merging,
        partners: Partners,
        mergers: Mapping[int, MergedRow],
    ) -> None:
        self.filters, self._traffic, self._policy = filters, traffic, policy
        self._partners, self._mergers = partners, mergers
        self._budget_left = policy.budget

    def cheapest(self, row: int, spent: float) -> Candidate | None:
        """The cheapest merger of an active row, if it is cheap enough; active mergers of the link cost `spent`."""
        self._budget_left = self._policy.budget - spent
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
            # Small ones first: so mergers of mergers form a shallow tree, and little is undone when a part goes.
            rank = (each.degree.threshold, boxes, each.size, each.parts)
            if boxes <= _MOST_BOXES and (best is None or rank < best):
                best, chosen = rank, each
        return chosen

    def _most(self, parts: tuple[int, ...]) -> float:
        """What a merger of some rows may cost."""
        freed = sum(self._mergers[part].degree.threshold for part in parts if part in self._mergers)
        return min(self._policy.threshold, self._budget_left + freed) + ROUNDING

    def _on_one(self, row: int, pair: Pair) -> Candidate | None:
        """The merger of two rows that differ in one attribute: perfect, if their union is a predicate."""
        (key,), (own,), (other,) = pair.keys, pair.own, pair.other
        side = unite(own, other)
        if predicates_in(side) > self._policy.intervals:
            if self._policy.threshold == 0 and not self._traffic.knows_gaps:
                return None
            side = around(
                key, own, other, intervals=self._policy.intervals, selectivity=self._traffic.selectivity
            )
        sides = self._sides(row)
        sides[key] = side
        parts = (row, pair.row)
        held = self._held_on(row, key, own), self._held_on(pair.row, key, other)
        if held[0] is None or held[1] is None:
            return self._candidate(sides, parts, self._degree(sides, parts))
        together = unite(held[0], held[1])
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
        selectivity, parts = self._traffic.selectivity, (row, pair.row)
        found = [
            around(key, own, other, intervals=self._policy.intervals, selectivity=selectivity)
            for key, own, other in zip(pair.keys, pair.own, pair.other, strict=True)
        ]
        if self._traffic.least(pair.rest, pair.keys, found, pair.own, pair.other) > self._most(parts):
            return None
        sides = self._sides(row)
        sides.update(zip(pair.keys, found, strict=True))
        return self._candidate(sides, parts, self._degree(sides, parts))

    def _filled_by_several(self, row: int, shelves: Iterable[Shelved]) -> Candidate | None:
        """A merger around rows that differ in two attributes, if they provably fill it."""
        from thatch.reduction.covering import covered_by  # slow to load, and rarely needed

        for keys, shelf in self._partners.beside(shelves):
            for box, parts in _groups_around(row, keys, shelf, self._traffic.selectivity):
                sides = self._sides(row)
                sides.update(zip(keys, box, strict=True))
                found = self._candidate(sides, parts, self._degree(sides, parts))
                if found.degree.threshold <= self._most(parts):
                    filters = [self.filters.filter(part) for part in parts]
                    if covered_by(found.filter, filters).covered:
                        return found
        return None

    def _degree(self, sides: Sides, parts: tuple[int, ...]) -> Degree:
        if self._size(parts) <= _MOST_PARTS:
            rows = sorted(each for part in parts for each in self._subscriptions(part))
            return self._traffic.degree_beyond(sides, [self._sides(each) for each in rows])
        # An upper bound: what it holds beyond its parts, and what these hold beyond theirs.
        inner = [self._mergers[part].degree for part in parts if part in self._mergers]
        degree = self._traffic.degree_beyond(sides, [self._sides(part) for part in parts])
        beyond = min(degree.threshold + sum(each.threshold for each in inner), 1.0)
        return Degree(max([degree.imperfect, *(each.imperfect for each in inner)]), beyond)

    def _candidate(
        self, sides: Sides, parts: tuple[int, ...], degree: Degree, on: tuple[str, Constraint] | None = None
    ) -> Candidate:
        return Candidate(degree, sides, parts, self._size(parts), on, self.filters.filter(parts[0]))

    def _subscriptions(self, row: int) -> Iterable[int]:
        merger = self._mergers.get(row)
        return (row,) if merger is None else merger.subscriptions(self._mergers)

    def _size(self, parts: Iterable[int]) -> int:
        return sum(self._mergers[part].size if part in self._mergers else 1 for part in parts)

    def _sides(self, row: int) -> Sides:
        return dict(self.filters.filter(row).conjunctions[0].constraints)


def _groups_around(
    row: int, keys: Keys, shelf: Sequence[tuple[ShelvedSides, int]], selectivity: Selectivity
) -> Iterator[tuple[ShelvedSides, tuple[int, ...]]]:
    """Boxes around a row and others, by their sides on two attributes, each with the rows in it that may fill it.

    The shelf has all rows that differ in these two only, with their sides on them, rising.
    """
    at = next(index for index, (_, each) in enumerate(shelf) if each == row)
    near = [sides for sides, each in shelf[max(at - _GROUP_REACH, 0) : at + _GROUP_REACH + 1] if each != row]
    tried = set()
    for others in chain(combinations(near, 1), combinations(near, 2)):
        box = tuple(_hull(sides) for sides in zip(shelf[at][0], *others, strict=True))
        if box in tried or () in box:
            continue
        tried.add(box)
        inside = [
            each for each in shelf if all(covers(side, part) for side, part in zip(box, each[0], strict=True))
        ]
        filled = sum(prod(map(selectivity.upper, keys, sides)) for sides, _ in inside)
        if (
            len(inside) >= _FEWEST_PARTS
            and filled >= prod(map(selectivity.upper, keys, box)) - _SMALL_ROUNDING
        ):
            yield box, tuple(part for _, part in inside)


def _hull(constraints: Sequence[Constraint]) -> Constraint:
    """The interval around several of the same type, empty if there is none."""
    if any(len(each) != 2 for each in constraints):
        return EMPTY
    lows, highs = zip(*constraints, strict=True)
    is_one_type = len({low[0] for low in lows}) == len({high[0] for high in highs}) == 1
    return (min(lows), max(highs)) if is_one_type else EMPTY
