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

from thatch.model.filters import Filter
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.forwarding.candidates import (
    ROUNDING,
    Candidate,
    Candidates,
    FilterRows,
    Merger,
    Rules,
    originals,
)
from thatch.reduction.forwarding.covering_set import CoveringSet
from thatch.reduction.forwarding.partners import Partners
from thatch.reduction.forwarding.rows import Source
from thatch.reduction.merging import Degree, Occasion, Traffic
from thatch.reduction.moves import NOTHING, Moves, Net

__all__ = ["FilterRows", "Merger", "MergingRows"]


class MergingRows:
    """Rows that come and go on one link, merged where that is cheap enough.

    Parameters
    ----------
    covering : an empty set that decides what is covered
    source : knows what rows ask for
    traffic : which events are expected
    policy : says what may be merged, and when
    """

    def __init__(self, covering: CoveringSet, source: FilterRows, traffic: Traffic, policy: Rules) -> None:
        self._covering, self._source, self._traffic, self._policy = covering, source, traffic, policy
        self.mergers: dict[int, Merger] = {}
        self._above: dict[int, Merger] = {}  # of parts: the merger they were made into
        self._partners = Partners(pairs=policy.threshold > 0 or policy.groups)
        self._candidates = Candidates(source, traffic, policy, self._partners, self.mergers)
        self._waiting: dict[int, None] = {}  # rows that became active and were not tried yet
        self._changes = 0  # since the last time that all were tried
        self._outputs = 0  # on the fullest tail that changed since then
        self._tried_at: float | None = None
        self._now: float | None = None
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
        self._source = self._candidates.source = source  # type: ignore[assignment]  # made as the first was
        return self._covering.moved_to(source)

    def originals(self, row: int) -> Iterator[int]:
        """The subscriptions in a merger, or the row itself if it is none."""
        return originals(self.mergers, row)

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
        moves = net.moves()  # to be told in the order in which they were judged, for a set that is restored
        return Moves(tuple(self._partners.fewest_predicates_first(moves.forward)), moves.withdraw)

    def restore(self, row: int) -> Moves:
        """Take in a row that an earlier set had; it was tried there."""
        net = Net()
        self._take(row, None, net)
        if self.mergers:
            self._pass_over()
        return net.moves()

    def restore_merger(self, filter: Filter, parts: tuple[int, ...], degree: Degree) -> int | None:
        """Take in a merger that an earlier set had, before the rows in it; None if this one would not have it."""
        cost = degree.threshold
        if cost > self._policy.threshold + ROUNDING or self.total + cost > self._policy.budget + ROUNDING:
            return None
        if any(part in self._above for part in parts):
            return None
        row = self._source.invent(filter)
        merger = self.mergers[row] = Merger(row, parts, len(parts), degree)
        self._above.update(dict.fromkeys(parts, merger))
        self._apply(self._covering.overlay(row, ()), Net())
        self._pass_over()
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
        if self._is_time():
            self._try_all(net)

    def tell(self, now: float, bandwidth: float | None = None) -> Moves:
        """Know the time, and how busy the link is; then merge, if it is time to."""
        net = Net()
        self._now = now
        if self._tried_at is None:
            self._tried_at = now
        if self._is_time(bandwidth):
            self._try_all(net)
        return net.moves()

    def next_look(self, counted_at: float | None = None) -> float | None:
        """When it may be time to merge though nothing comes or goes, None for never."""
        when = self._policy.when
        if when is None or not self._waiting or self._now is None or self._tried_at is None:
            return None
        return when.next_look(self._tried_at, self._now, counted_at)

    def merge(self) -> Moves:
        """Merge, whether it is time to or not."""
        net = Net()
        self._try_all(net)
        return net.moves()

    def _is_time(self, bandwidth: float | None = None) -> bool:
        every, when = self._policy.every, self._policy.when
        if every is not None and self._changes >= every:
            return True
        if when is None or not self._waiting:
            return False
        passed = None
        if self._now is not None and self._tried_at is not None:
            passed = self._now - self._tried_at
            if when.period is not None and self._now >= self._tried_at + when.period:
                passed = max(passed, when.period)  # as it was promised: the difference may be rounded down
        return when.holds(Occasion(len(self._partners), self._outputs, self._changes, passed, bandwidth))

    def _try_all(self, net: Net) -> None:
        self._changes = self._outputs = 0
        self._tried_at = self._now
        while self._waiting:
            row = next(iter(self._waiting))
            del self._waiting[row]
            self._merge(row, net)

    def _pass_over(self) -> None:
        """Take rows that wait as tried."""
        for row in self._waiting:
            self._partners.twos(row)
        self._waiting.clear()

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
            if row in self.mergers and self.total > self._policy.budget + ROUNDING and self.is_active(row):
                self._cancel(self.mergers[row], net)

    def _enter(self, row: int) -> None:
        self._waiting[row] = None
        outputs = self._partners.enter(row, self._source.filter(row).conjunctions)
        self._outputs = max(self._outputs, outputs)
        if row in self.mergers:
            self.total += self.mergers[row].degree.threshold

    def _leave(self, row: int) -> None:
        self._waiting.pop(row, None)
        self._partners.leave(row)
        if row in self.mergers:
            self.total = max(self.total - self.mergers[row].degree.threshold, 0.0)

    def _cancel(self, merger: Merger | None, net: Net) -> None:
        """Forget a merger and all that were made of it, at once, so that each row is looked at once."""
        rows: list[int] = []
        while merger is not None and merger.row in self.mergers:
            rows.append(merger.row)
            above = self._above.pop(merger.row, None)
            for part in merger.parts:
                self._above.pop(part, None)
            merger = above
        if not rows:
            return
        moves = self._covering.remove_all(rows)
        for row in rows:
            if row in moves.withdraw:
                self._leave(row)
            del self.mergers[row]
            self._source.discard(row)
        net.add(Moves((), tuple(row for row in rows if row in moves.withdraw)))
        self._apply(Moves(moves.forward, tuple(each for each in moves.withdraw if each not in rows)), net)

    # --- merging -------------------------------------------------------------------------------------------------------

    def _merge(self, row: int, net: Net) -> None:
        chosen = self._candidates.cheapest(row, self.total)
        if chosen is not None:
            self._create(chosen, net)

    def _create(self, chosen: Candidate, net: Net) -> None:
        row = self._source.invent(chosen.filter)
        made = Merger(row, chosen.parts, chosen.size, chosen.degree, chosen.on)
        self.mergers[row] = made
        self._apply(self._covering.overlay(row, chosen.parts), net)
        self._above.update(dict.fromkeys(chosen.parts, made))
        self._cover_held(row, net)
        self._absorb(row, net)
