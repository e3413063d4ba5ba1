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

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Protocol, runtime_checkable

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint
from thatch.model.schema import Schema
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.forwarding.covering_set import CoveringSet
from thatch.reduction.forwarding.rows import Source
from thatch.reduction.merging import Degree, Traffic, merged
from thatch.reduction.moves import Moves

__all__ = ["FilterRows", "Merger", "MergingRows"]

_NEAR = 2  # rows on each side that are tried as partners
_MOST_PARTS = 32  # subscriptions that are taken away from a merger to tell its degree exactly
_MOST_PAIRED = 8  # attributes of a row that is looked for by all but two of them
_MOST_BOXES = 256  # of a merger
_DEEPEST = 4  # mergers of mergers of mergers
_ROUNDING = 1e-12  # sums of shares in another order

Tail = tuple[object, ...]  # what rows that may be merged have in common


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


@dataclass(frozen=True, slots=True)
class Merger:
    """A filter around others.

    Parameters
    ----------
    parts : the rows it was made of, mergers among them
    originals : the subscriptions in these
    degree : what it costs
    depth : how many mergers are inside each other
    """

    parts: tuple[int, ...]
    originals: frozenset[int]
    degree: Degree
    depth: int = 1


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
        self._merger_of: dict[int, int] = {}  # of parts: the merger they were made into
        self._partners: dict[Tail, list[tuple[tuple[Constraint, ...], int]]] = {}  # active rows, rising
        self._tails_at: dict[int, tuple[tuple[Tail, tuple[Constraint, ...]], ...]] = {}  # of active rows
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

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(self, row: int, boxes: Boxes | None = None) -> Moves:
        """Take in a row under a number that is free; then merge, if it is time to."""
        net = _Net()
        self._apply(self._covering.add(row, boxes), net)
        if self.is_active(row):
            self._apply(self._covering.absorb(row), net)
        for each in self._source.filter(row).conjunctions:
            self._traffic.density.observe(each)
        self._settle(net)
        return net.moves()

    def remove(self, row: int) -> Moves:
        """Forget a row, and cancel the mergers it is part of; then merge, if it is time to."""
        net = _Net()
        above = self._merger_of.get(row)
        self._apply(self._covering.remove(row), net)
        self._cancel(above, net)
        self._settle(net)
        return net.moves()

    def restore(self, row: int) -> Moves:
        """Take in a row that an earlier set had; it was tried there."""
        net = _Net()
        self._apply(self._covering.add(row), net)
        for each in self._source.filter(row).conjunctions:
            self._traffic.density.observe(each)
        if self.mergers:
            self._waiting.clear()
        return net.moves()

    def restore_merger(self, filter: Filter, parts: tuple[int, ...], degree: Degree) -> int | None:
        """Take in a merger that an earlier set had, before the rows in it; None if this one would not have it."""
        cost = degree.threshold
        if cost > self._threshold + _ROUNDING or self.total + cost > self._budget + _ROUNDING:
            return None
        if any(part in self._merger_of for part in parts):
            return None
        row = self._source.invent(filter)
        self.mergers[row] = Merger(parts, frozenset(parts), degree)
        self._merger_of.update(dict.fromkeys(parts, row))
        self._apply(self._covering.overlay(row, ()), _Net())
        self._waiting.clear()
        return row

    def _settle(self, net: _Net) -> None:
        self._changes += 1
        if self._changes >= self._every:
            self._changes = 0
            while self._waiting:
                row = next(iter(self._waiting))
                del self._waiting[row]
                if self._tails_at[row]:
                    self._merge(row, net)

    def _apply(self, moves: Moves, net: _Net) -> None:
        """Keep the books of what became active or passive."""
        net.add(moves)
        for row in moves.withdraw:
            self._leave(row)
        for row in moves.forward:
            self._enter(row)
        for row in moves.forward:
            # A part that is forwarded by itself again has no merger any more, and a link no more than its budget.
            if self.is_active(row):
                self._cancel(self._merger_of.get(row), net)
            if row in self.mergers and self.total > self._budget + _ROUNDING and self.is_active(row):
                self._cancel(row, net)

    def _enter(self, row: int) -> None:
        self._waiting[row] = None
        if row in self.mergers:
            self.total += self.mergers[row].degree.threshold
        self._tails_at[row] = tuple(self._tails(row))
        for tail, sides in self._tails_at[row]:
            insort(self._partners.setdefault(tail, []), (sides, row))

    def _leave(self, row: int) -> None:
        self._waiting.pop(row, None)
        if row in self.mergers:
            self.total = max(self.total - self.mergers[row].degree.threshold, 0.0)
        for tail, sides in self._tails_at.pop(row, ()):
            rows = self._partners[tail]
            del rows[bisect_left(rows, (sides, row))]
            if not rows:
                del self._partners[tail]

    def _cancel(self, row: int | None, net: _Net) -> None:
        """Forget a merger and all that were made of it, the innermost first, so that each row is looked at once."""
        while row is not None and row in self.mergers:
            above = self._merger_of.pop(row, None)
            for part in self.mergers[row].parts:
                self._merger_of.pop(part, None)
            moves = self._covering.remove(row)
            if row in moves.withdraw:
                self._leave(row)
            del self.mergers[row]
            self._source.discard(row)
            net.add(Moves((), tuple(each for each in moves.withdraw if each == row)))
            self._apply(Moves(moves.forward, tuple(each for each in moves.withdraw if each != row)), net)
            row = above

    # --- merging -------------------------------------------------------------------------------------------------------

    def _merge(self, row: int, net: _Net) -> None:
        """Merge an active row with the partner that costs least, if one costs little enough."""
        best: tuple[float, int, int] | None = None
        chosen: tuple[Conjunction, Merger] | None = None
        own = self._conjunction(row)
        for other in self._near(row):
            found = merged(
                own,
                self._conjunction(other),
                intervals=self._intervals,
                density=self._traffic.density,
                schema=self._source.schema,
            )
            if found is None or found.box_count() > _MOST_BOXES:
                continue
            merger = self._record(found, (row, other))
            freed = sum(self.mergers[each].degree.threshold for each in (row, other) if each in self.mergers)
            cost = merger.degree.threshold
            if cost > self._threshold + _ROUNDING or self.total - freed + cost > self._budget + _ROUNDING:
                continue
            rank = (cost, found.box_count(), other)
            if best is None or rank < best:
                best, chosen = rank, (found, merger)
        if chosen is not None:
            self._create(*chosen, net)

    def _record(self, found: Conjunction, parts: tuple[int, ...]) -> Merger:
        originals = frozenset().union(*(self._originals(part) for part in parts))
        inner = [self.mergers[part] for part in parts if part in self.mergers]
        if len(originals) <= _MOST_PARTS:
            degree = self._traffic.degree(found, [self._conjunction(each) for each in sorted(originals)])
        else:  # what it holds beyond its parts, and what these hold beyond theirs: at least what it costs
            degree = self._traffic.degree(found, [self._conjunction(part) for part in parts])
            beyond = min(degree.threshold + sum(each.degree.threshold for each in inner), 1.0)
            worst = max([degree.imperfect, *(each.degree.imperfect for each in inner)])
            degree = Degree(worst, beyond)
        depth = 1 + max((each.depth for each in inner), default=0)
        return Merger(parts, originals, degree, depth)

    def _create(self, found: Conjunction, merger: Merger, net: _Net) -> None:
        row = self._source.invent(Filter((found,), self._source.schema, ()))
        old = merger.parts
        if merger.depth > _DEEPEST:
            flat = [
                each
                for part in old
                for each in (self.mergers[part].parts if part in self.mergers else (part,))
            ]
            inner = (self.mergers[part].depth - 1 for part in old if part in self.mergers)
            merger = Merger(tuple(flat), merger.originals, merger.degree, 1 + max(inner))
        self.mergers[row] = merger
        self._apply(self._covering.overlay(row, old), net)
        for part in old:
            if part not in merger.parts:  # too deep: its parts are now this one's
                self._covering.remove(part)
                del self.mergers[part]
                self._source.discard(part)
        for part in merger.parts:
            self._merger_of[part] = row

    def _originals(self, row: int) -> frozenset[int]:
        return self.mergers[row].originals if row in self.mergers else frozenset((row,))

    # --- who may be merged with whom -------------------------------------------------------------------------------------

    def _conjunction(self, row: int) -> Conjunction:
        return self._source.filter(row).conjunctions[0]

    def _near(self, row: int) -> Iterable[int]:
        """Active rows that differ from this one in one attribute, or if some error is allowed in two, nearby in order."""
        found: dict[int, None] = {}
        for tail, sides in self._tails_at[row]:
            rows = self._partners[tail]
            at = bisect_left(rows, (sides, row))
            for _, other in islice(rows, max(at - _NEAR, 0), at + _NEAR + 1):
                if other != row:
                    found[other] = None
        return found

    def _tails(self, row: int) -> Iterator[tuple[Tail, tuple[Constraint, ...]]]:
        """What a row has in common with those it may be merged with, and what it has by itself."""
        conjunctions = self._source.filter(row).conjunctions
        if len(conjunctions) != 1:
            return
        constraints, residuals = conjunctions[0].constraints, conjunctions[0].residuals
        sizes = (1, 2) if self._threshold and len(constraints) <= _MOST_PAIRED else (1,)
        for size in sizes:
            for chosen in combinations(constraints, size):
                rest = tuple(each for each in constraints if each not in chosen)
                tail = (tuple(key for key, _ in chosen), rest, residuals)
                yield tail, tuple(constraint for _, constraint in chosen)


class _Net:
    """Several moves as one: what becomes known and is taken back in the same step is never sent."""

    def __init__(self) -> None:
        self._forward: dict[int, None] = {}
        self._withdraw: dict[int, None] = {}

    def add(self, moves: Moves) -> None:
        for row in moves.forward:
            if row in self._withdraw:
                del self._withdraw[row]
            else:
                self._forward[row] = None
        for row in moves.withdraw:
            if row in self._forward:
                del self._forward[row]
            else:
                self._withdraw[row] = None

    def moves(self) -> Moves:
        return Moves(tuple(self._forward), tuple(self._withdraw))
