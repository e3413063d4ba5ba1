"""Rows of one link, of which some are forwarded together as one filter around them (paper L, section 5).

A merger is a row like any other, which the set makes by itself: it is forwarded, and its parts, and whatever else it
covers, become passive with the merger as proof. So all that a covering set promises still holds: at every moment the
active rows contain all live ones. A merger whose part goes is cancelled: what only it covered is forwarded before it is
withdrawn. A merger that a new filter covers becomes passive, as any row, and comes back when that one goes. A merger of
mergers keeps them, passive, so that cancelling it brings them back.

Two things more must stay true: no merger's probability of letting an event through in vain exceeds the threshold, and
those of all active mergers together do not exceed the budget of the link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple, Protocol, runtime_checkable

from thatch.model.filters import Filter
from thatch.model.lines import Constraint
from thatch.model.schema import Schema
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.forwarding.covering_set import CoveringSet
from thatch.reduction.forwarding.partners import Pair, Partners
from thatch.reduction.forwarding.rows import Source
from thatch.reduction.merging import Degree, Sides, Traffic, around, conjunction_of, predicates_in, united
from thatch.reduction.moves import NOTHING, Moves, Net

__all__ = ["FilterRows", "Merger", "MergingRows"]

_MOST_PARTS = 32  # subscriptions that are taken away one by one to tell a degree exactly
_MOST_BOXES = 256  # of a merger
_DEEPEST = 4  # mergers of mergers of mergers
_ROUNDING = 1e-12  # sums of shares in another order


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


class Merger:
    """A filter around others.

    Parameters
    ----------
    row : of the filter
    parts : the rows it was made of, mergers among them
    size : how many subscriptions are in these
    degree : what it costs
    depth : how many mergers are inside each other
    on : the one attribute in which all these subscriptions differ, and what they hold on it together; None if there are
        several
    """

    __slots__ = ("degree", "depth", "on", "parts", "row", "size")

    def __init__(
        self,
        row: int,
        parts: list[int],
        size: int,
        degree: Degree,
        depth: int = 1,
        on: tuple[str, Constraint] | None = None,
    ) -> None:
        self.row, self.parts, self.size = row, parts, size
        self.degree, self.depth, self.on = degree, depth, on


class _Candidate(NamedTuple):
    """A merger that could be made of two rows."""

    degree: Degree
    sides: Sides
    parts: tuple[int, int]
    on: tuple[str, Constraint] | None


class MergingRows:
    """Rows that come and go on one link, merged where that is cheap enough.

    Parameters
    ----------
    covering : an empty set that decides what is covered
    source : knows what rows ask for
    traffic : which events are expected
    threshold, budget, intervals, every : as in the policy `Merging`
    """

    def __init__(
        self,
        covering: CoveringSet,
        source: FilterRows,
        traffic: Traffic,
        *,
        threshold: float,
        budget: float,
        intervals: int,
        every: int,
    ) -> None:
        self._covering, self._source, self._traffic = covering, source, traffic
        self._threshold, self._budget, self._intervals, self._every = threshold, budget, intervals, every
        self.mergers: dict[int, Merger] = {}
        self._above: dict[int, Merger] = {}  # of parts: the merger they were made into
        self._partners = Partners(pairs=threshold > 0)
        self._waiting: dict[int, None] = {}  # rows that became active and were not tried yet
        self._changes = 0
        self.total = 0.0  # the thresholds of all active mergers

    @property
    def active(self) -> tuple[int, ...]:
        """The rows and mergers that were forwarded."""
        return self._covering.active

    @property
    def passive(self) -> tuple[int, ...]:
        """The rows that need not be known, in the order in which they came."""
        return tuple(row for row in self._covering.passive if row >= 0)

    def is_active(self, row: int) -> bool:
        """Whether a row was forwarded by itself."""
        return self._covering.is_active(row)

    def proof(self, row: int) -> tuple[int, ...]:
        """The active rows and mergers that together cover a passive one."""
        return self._covering.proof(row)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        stats = self._covering.stats()
        active = sum(self.is_active(row) for row in self.mergers)
        idle = len(self.mergers) - active
        return {**stats, "passive": stats["passive"] - idle, "mergers": active, "idle_mergers": idle}

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order."""
        self._covering.relabel(axis, old, new)

    def moved_to(self, source: Source) -> bool:
        """Take what active rows ask for anew, from a source with other labels; nothing is decided anew."""
        self._source = source  # type: ignore[assignment]  # made by the one who gave the first
        return self._covering.moved_to(source)

    def originals(self, row: int) -> Iterator[int]:
        """The subscriptions in a merger, or the row itself if it is none."""
        pending = [row]
        while pending:
            each = pending.pop()
            if each in self.mergers:
                pending += self.mergers[each].parts
            else:
                yield each

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(self, row: int, boxes: Boxes | None = None) -> Moves:
        """Take in a row under a number that is free; then merge, if it is time to."""
        net = Net()
        self._take(row, boxes, net)
        if self.is_active(row):
            self._cover_held(row, net)
            self._absorb(row, net)
        self._settle(net)
        return net.moves()

    def extend(self, rows: Iterable[int]) -> Moves:
        """Take in many rows and merge all that are active; only what is left then is judged, the fewest predicates first.

        So of many rows most are neither judged nor known to an index: they lie in one that differs in one attribute, or
        in a merger.
        """
        net = Net()
        had_active = bool(self._partners)
        self._covering.draft()
        for row in rows:
            self._take(row, None, net)
            if self.is_active(row):
                self._cover_held(row, net)
        self._try_all(net)
        self._apply(self._covering.settle(self._partners.fewest_predicates_first), net)
        if had_active:
            for row in net.moves().forward:
                if self.is_active(row):
                    self._absorb(row, net)
        return net.moves()

    def restore(self, row: int) -> Moves:
        """Take in a row that an earlier set had; it was tried there."""
        net = Net()
        self._take(row, None, net)
        if self.mergers:
            self._waiting.clear()
        return net.moves()

    def restore_merger(self, filter: Filter, parts: tuple[int, ...], degree: Degree) -> int | None:
        """Take in a merger that an earlier set had, before the rows in it; None if this one would not have it."""
        cost = degree.threshold
        if cost > self._threshold + _ROUNDING or self.total + cost > self._budget + _ROUNDING:
            return None
        if any(part in self._above for part in parts):
            return None
        row = self._source.invent(filter)
        merger = self.mergers[row] = Merger(row, list(parts), len(parts), degree)
        self._above.update(dict.fromkeys(parts, merger))
        self._apply(self._covering.overlay(row, ()), Net())
        self._waiting.clear()
        return row

    def remove(self, row: int) -> Moves:
        """Forget a row, and cancel the mergers it is part of; then merge, if it is time to."""
        net = Net()
        above = self._above.get(row)
        self._apply(self._covering.remove(row), net)
        self._cancel(above, net)
        self._settle(net)
        return net.moves()

    def _take(self, row: int, boxes: Boxes | None, net: Net) -> None:
        conjunctions = self._source.filter(row).conjunctions
        for each in conjunctions:
            self._traffic.density.observe(each)
        holder = self._partners.holder(conjunctions)
        if holder is None:
            self._apply(self._covering.add(row, boxes), net)
        else:
            self._covering.hang(row, holder)

    def _cover_held(self, row: int, net: Net) -> None:
        """Let an active row cover those that lie in it and differ in one attribute."""
        held = dict.fromkeys(self._partners.held(row))
        if held:
            self._apply(self._covering.cover(row, held), net)

    def _absorb(self, row: int, net: Net) -> None:
        """Let an active row cover whatever else lies in it."""
        if self._partners.may_hold_others(row):
            self._apply(self._covering.absorb(row), net)

    def _settle(self, net: Net) -> None:
        self._changes += 1
        if self._changes >= self._every:
            self._try_all(net)

    def _try_all(self, net: Net) -> None:
        self._changes = 0
        while self._waiting:
            row = next(iter(self._waiting))
            del self._waiting[row]
            self._merge(row, net)

    def _apply(self, moves: Moves, net: Net) -> None:
        """Keep the books of what became active or passive."""
        if moves is NOTHING:
            return
        net.add(moves)
        for row in moves.withdraw:
            self._leave(row)
        for row in moves.forward:
            self._enter(row)
        for row in moves.forward:
            # A part that is forwarded by itself again has no merger any more, and a link no more than its budget.
            if self.is_active(row):
                self._cancel(self._above.get(row), net)
            if row in self.mergers and self.total > self._budget + _ROUNDING and self.is_active(row):
                self._cancel(self.mergers[row], net)

    def _enter(self, row: int) -> None:
        self._waiting[row] = None
        self._partners.enter(row, self._source.filter(row).conjunctions)
        if row in self.mergers:
            self.total += self.mergers[row].degree.threshold

    def _leave(self, row: int) -> None:
        self._waiting.pop(row, None)
        self._partners.leave(row)
        if row in self.mergers:
            self.total = max(self.total - self.mergers[row].degree.threshold, 0.0)

    def _cancel(self, merger: Merger | None, net: Net) -> None:
        """Forget a merger and all that were made of it, the innermost first, so that each row is looked at once."""
        while merger is not None and merger.row in self.mergers:
            row = merger.row
            above = self._above.pop(row, None)
            for part in merger.parts:
                self._above.pop(part, None)
            moves = self._covering.remove(row)
            if row in moves.withdraw:
                self._leave(row)
            del self.mergers[row]
            self._source.discard(row)
            net.add(Moves((), tuple(each for each in moves.withdraw if each == row)))
            self._apply(Moves(moves.forward, tuple(each for each in moves.withdraw if each != row)), net)
            merger = above

    # --- merging -------------------------------------------------------------------------------------------------------

    def _merge(self, row: int, net: Net) -> None:
        """Merge an active row with the partner that costs least, if one costs little enough."""
        chosen = self._cheapest(self._on_one(row, pair) for pair in self._partners.near(row, 1))
        if chosen is None:
            chosen = self._cheapest(self._on_two(row, pair) for pair in self._partners.near(row, 2))
        if chosen is not None:
            self._create(chosen, net)

    def _cheapest(self, candidates: Iterable[_Candidate | None]) -> _Candidate | None:
        best: tuple[float, int, tuple[int, int]] | None = None
        chosen = None
        for each in candidates:
            if each is None or each.degree.threshold > self._most(each.parts):
                continue
            boxes = prod(len(side) // 2 for side in each.sides.values())
            rank = (each.degree.threshold, boxes, each.parts)
            if boxes <= _MOST_BOXES and (best is None or rank < best):
                best, chosen = rank, each
        return chosen

    def _most(self, parts: tuple[int, int]) -> float:
        """What a merger of two rows may cost."""
        freed = sum(self.mergers[part].degree.threshold for part in parts if part in self.mergers)
        return min(self._threshold, self._budget - self.total + freed) + _ROUNDING

    def _on_one(self, row: int, pair: Pair) -> _Candidate | None:
        """The merger of two rows that differ in one attribute: perfect, if their union is a predicate."""
        (key,), (own,), (other,) = pair.keys, pair.own, pair.other
        side = united(own, other)
        if predicates_in(side) > self._intervals:
            if self._threshold == 0 and not self._traffic.knows_gaps:
                return None
            side = around(key, own, other, intervals=self._intervals, density=self._traffic.density)
        sides = self._sides(row)
        sides[key] = side
        parts = (row, pair.row)
        held = self._held_on(row, key, own), self._held_on(pair.row, key, other)
        if held[0] is None or held[1] is None:
            return _Candidate(self._degree(sides, parts), sides, parts, None)
        together = united(held[0], held[1])
        return _Candidate(self._traffic.degree_on(sides, key, together), sides, parts, (key, together))

    def _held_on(self, row: int, key: str, own: Constraint) -> Constraint | None:
        """What the subscriptions in a row hold on an attribute, None if they differ in others too."""
        merger = self.mergers.get(row)
        if merger is None or not merger.degree.imperfect:
            return own
        return merger.on[1] if merger.on is not None and merger.on[0] == key else None

    def _on_two(self, row: int, pair: Pair) -> _Candidate | None:
        """The merger of two rows that differ in two attributes: a box around both."""
        density, parts = self._traffic.density, (row, pair.row)
        found = [
            around(key, own, other, intervals=self._intervals, density=density)
            for key, own, other in zip(pair.keys, pair.own, pair.other, strict=True)
        ]
        if self._traffic.least(pair.rest, pair.keys, found, pair.own, pair.other) > self._most(parts):
            return None
        sides = self._sides(row)
        sides.update(zip(pair.keys, found, strict=True))
        return _Candidate(self._degree(sides, parts), sides, parts, None)

    def _degree(self, sides: Sides, parts: tuple[int, int]) -> Degree:
        if self._size(parts) <= _MOST_PARTS:
            originals = sorted(each for part in parts for each in self.originals(part))
            return self._traffic.degree_beyond(sides, [self._sides(each) for each in originals])
        # What it holds beyond its parts, and what these hold beyond theirs: at least what it costs.
        inner = [self.mergers[part].degree for part in parts if part in self.mergers]
        degree = self._traffic.degree_beyond(sides, [self._sides(part) for part in parts])
        beyond = min(degree.threshold + sum(each.threshold for each in inner), 1.0)
        return Degree(max([degree.imperfect, *(each.imperfect for each in inner)]), beyond)

    def _size(self, parts: Iterable[int]) -> int:
        return sum(self.mergers[part].size if part in self.mergers else 1 for part in parts)

    def _create(self, chosen: _Candidate, net: Net) -> None:
        schema = self._source.schema
        residuals = self._source.filter(chosen.parts[0]).conjunctions[0].residuals
        conjunction = conjunction_of(chosen.sides, residuals, schema)
        row = self._source.invent(Filter((conjunction,), schema, ()))
        depth = 1 + max(self.mergers[each].depth if each in self.mergers else 0 for each in chosen.parts)
        made = Merger(row, list(chosen.parts), self._size(chosen.parts), chosen.degree, depth, chosen.on)
        self.mergers[row] = made
        self._apply(self._covering.overlay(row, chosen.parts), net)
        if depth > _DEEPEST:
            self._flatten(made)
        else:
            self._above.update(dict.fromkeys(chosen.parts, made))
        self._cover_held(row, net)
        self._absorb(row, net)

    def _flatten(self, made: Merger) -> None:
        """Let the parts of mergers that are too deep be those of one that was made of them.

        The largest of these lives on as the new one, so that not each of its parts must be told.
        """
        deepest = [self.mergers[part] for part in made.parts if part in self.mergers]
        deepest = [each for each in deepest if each.depth == _DEEPEST]
        kept = max(deepest, key=lambda each: len(each.parts))
        gone = [each.row for each in deepest]
        fresh = [part for part in made.parts if part not in gone]
        fresh += [part for each in deepest if each is not kept for part in each.parts]
        for row in gone:
            self._covering.remove(row)
            del self.mergers[row]
            self._source.discard(row)
        kept.row, kept.size, kept.degree, kept.on = made.row, made.size, made.degree, made.on
        kept.parts += fresh
        self._above.update(dict.fromkeys(fresh, kept))
        self.mergers[made.row] = kept

    def _sides(self, row: int) -> Sides:
        return dict(self._source.filter(row).conjunctions[0].constraints)
