"""Rows of one link, some of which are forwarded together as one filter around them (li2005, section 5).

A merger is a row like any other, made by the rows themselves: it is forwarded, and its parts, and whatever else it
covers, become passive with the merger as proof. So all that covering rows promise still holds: at every moment the
active rows contain all live ones. When a part of a merger goes, the merger is cancelled: what only it covered is
forwarded before it is withdrawn. A merger that a new filter covers becomes passive, as any row, and comes back when that
filter goes. A merger of mergers keeps them, passive, so that cancelling it brings them back.

Two more things must stay true: no merger lets through more events in vain than the threshold, and all active mergers
together no more than the budget of the link.
"""

from __future__ import annotations

from collections.abc import Iterable

from thatch.model.filters import Filter
from thatch.reduction.forwarding.candidates import ROUNDING, Candidate, Candidates, MergedRow
from thatch.reduction.forwarding.covering_rows import CoveringRows
from thatch.reduction.forwarding.judges import ExactJudge
from thatch.reduction.forwarding.link_filters import LinkFilters
from thatch.reduction.forwarding.partners import Partners
from thatch.reduction.forwarding.policies import Merging
from thatch.reduction.merging import Degree, ExpectedTraffic, Occasion
from thatch.reduction.problem import NOTHING, Moves, Net

__all__ = ["MergingRows"]


class MergingRows(CoveringRows):
    """Rows on one link, decided exactly, and merged where that is cheap enough."""

    def __init__(self, filters: LinkFilters, traffic: ExpectedTraffic, policy: Merging) -> None:
        super().__init__(lambda: ExactJudge(None), filters)
        self.mergers: dict[int, MergedRow] = {}
        self._traffic, self._policy = traffic, policy
        self._above: dict[int, MergedRow] = {}  # of parts: the merger they were made into
        self._partners = Partners(pairs=policy.threshold > 0 or policy.groups)
        self._candidates = Candidates(filters, traffic, policy, self._partners, self.mergers)
        self._waiting: dict[int, None] = {}  # rows that became active and were not tried yet
        self._changes = 0  # since all were last tried
        self._outputs = 0  # on the fullest tail that changed since then
        self._tried_at: float | None = None
        self._now: float | None = None
        self._cost = 0.0  # what all active mergers let through in vain

    @property
    def passive(self) -> tuple[int, ...]:
        """The subscriptions that are covered, in the order of arrival."""
        return tuple(row for row in super().passive if row >= 0)

    def stats(self) -> dict[str, int]:
        stats = super().stats()
        active = sum(self.is_active(row) for row in self.mergers)
        idle = len(self.mergers) - active
        return {**stats, "passive": stats["passive"] - idle, "mergers": active, "idle_mergers": idle}

    def relabel(self, filters: LinkFilters) -> bool:
        self._candidates.filters = filters
        return super().relabel(filters)

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(self, row: int) -> Moves:
        """Add a row under a number that is free; then merge, if it is due."""
        net = Net()
        self._take(row, net)
        if self.is_active(row):
            self._cover_held(row, net)
            self._absorb(row, net)
        self._merge_after_change(net)
        return net.moves()

    def extend(self, rows: Iterable[int]) -> Moves:
        """Add many rows and merge all active ones; only what is left then is decided, fewest predicates first.

        So most of many rows are neither decided nor indexed: they lie in one that differs in one attribute, or in a
        merger.
        """
        net = Net()
        had_active = bool(self._partners)
        self._begin_bulk()
        for row in rows:
            self._take(row, net)
            if self.is_active(row):
                self._cover_held(row, net)
        self._try_all(net)
        self._apply(self._end_bulk(self._partners.fewest_predicates_first), net)
        if had_active:
            for row in net.moves().forward:
                if self.is_active(row):
                    self._absorb(row, net)
        moves = net.moves()  # forwarded in the order of decision, so that a restored set decides the same
        return Moves(tuple(self._partners.fewest_predicates_first(moves.forward)), moves.withdraw)

    def restore(self, row: int) -> None:
        self._take(row, Net())
        if self.mergers:
            self._skip_waiting()

    def restore_merger(self, filter: Filter, parts: tuple[int, ...], degree: Degree) -> int | None:
        cost = degree.threshold
        if cost > self._policy.threshold + ROUNDING or self._cost + cost > self._policy.budget + ROUNDING:
            return None
        if any(part in self._above for part in parts):
            return None
        row = self._filters.put_merger(filter)
        merger = self.mergers[row] = MergedRow(row, parts, len(parts), degree)
        self._above.update(dict.fromkeys(parts, merger))
        self._apply(self._add_around(row, ()), Net())
        self._skip_waiting()
        return row

    def remove(self, row: int) -> Moves:
        """Remove a row, and cancel the mergers it is part of; then merge, if it is due."""
        net = Net()
        above = self._above.get(row)
        self._apply(super().remove(row), net)
        self._cancel(above, net)
        self._merge_after_change(net)
        return net.moves()

    def _take(self, row: int, net: Net) -> None:
        """Add a row; whether it is covered need not be decided if a partner holds it."""
        filter = self._filters.filter(row)
        for each in filter.outer_conjunctions:
            self._traffic.selectivity.observe(each)
        holder = self._partners.holder(filter)
        if holder is None:
            self._apply(super().add(row), net)
        else:
            self._add_covered(row, holder)

    def _cover_held(self, row: int, net: Net) -> None:
        """Let an active row cover those that lie in it and differ in one attribute."""
        held = dict.fromkeys(self._partners.find_held(row))
        if held:
            self._apply(self._cover(row, held), net)

    def _absorb(self, row: int, net: Net) -> None:
        """Let an active row cover whatever else lies in it."""
        if self._partners.may_hold_others(row):
            self._apply(self._cover_inside(row), net)

    # --- when to merge -------------------------------------------------------------------------------------------------

    def merge(self) -> Moves:
        net = Net()
        self._try_all(net)
        return net.moves()

    def merge_if_due(self, now: float, bandwidth: float | None = None) -> Moves:
        net = Net()
        self._now = now
        if self._tried_at is None:
            self._tried_at = now
        if self._is_due(bandwidth):
            self._try_all(net)
        return net.moves()

    def next_merge_check(self, counted_at: float | None = None) -> float | None:
        when = self._policy.when
        if when is None or not self._waiting or self._now is None or self._tried_at is None:
            return None
        return when.next_check(self._tried_at, self._now, counted_at)

    def _merge_after_change(self, net: Net) -> None:
        self._changes += 1
        if self._is_due():
            self._try_all(net)

    def _is_due(self, bandwidth: float | None = None) -> bool:
        every, when = self._policy.every, self._policy.when
        if every is not None and self._changes >= every:
            return True
        if when is None or not self._waiting:
            return False
        passed = None
        if self._now is not None and self._tried_at is not None:
            passed = self._now - self._tried_at
            if when.period is not None and self._now >= self._tried_at + when.period:
                passed = max(passed, when.period)  # the difference may be rounded down
        return when.holds(Occasion(len(self._partners), self._outputs, self._changes, passed, bandwidth))

    def _try_all(self, net: Net) -> None:
        """Look for a merger with each row that waits; mergers that are made wait in turn."""
        self._changes = self._outputs = 0
        self._tried_at = self._now
        while self._waiting:
            row = next(iter(self._waiting))
            del self._waiting[row]
            chosen = self._candidates.cheapest(row, self._cost)
            if chosen is not None:
                self._create(chosen, net)

    def _skip_waiting(self) -> None:
        """Take rows that wait as tried: an earlier set has tried them."""
        for row in self._waiting:
            self._partners.twos(row)
        self._waiting.clear()

    # --- mergers -------------------------------------------------------------------------------------------------------

    def _create(self, chosen: Candidate, net: Net) -> None:
        row = self._filters.put_merger(chosen.filter)
        merger = MergedRow(row, chosen.parts, chosen.size, chosen.degree, chosen.on)
        self.mergers[row] = merger
        self._apply(self._add_around(row, chosen.parts), net)
        self._above.update(dict.fromkeys(chosen.parts, merger))
        self._cover_held(row, net)
        self._absorb(row, net)

    def _cancel(self, merger: MergedRow | None, net: Net) -> None:
        """Remove a merger and all mergers made of it, at once, so that each row is decided once."""
        rows: list[int] = []
        while merger is not None and merger.row in self.mergers:
            rows.append(merger.row)
            above = self._above.pop(merger.row, None)
            for part in merger.parts:
                self._above.pop(part, None)
            merger = above
        if not rows:
            return
        moves = self._remove_all(rows)
        for row in rows:
            if row in moves.withdraw:
                self._leave(row)
            del self.mergers[row]
            self._filters.drop_merger(row)
        net.add(Moves((), tuple(row for row in rows if row in moves.withdraw)))
        self._apply(Moves(moves.forward, tuple(each for each in moves.withdraw if each not in rows)), net)

    def _apply(self, moves: Moves, net: Net) -> None:
        """Record which rows became active or passive."""
        if moves is NOTHING:
            return
        net.add(moves)
        for row in moves.withdraw:
            self._leave(row)
        for row in moves.forward:
            self._enter(row)
        for row in moves.forward:
            # A part that is forwarded again by itself ends its merger, and so does a merger beyond the budget.
            if self.is_active(row):
                self._cancel(self._above.get(row), net)
            if row in self.mergers and self._cost > self._policy.budget + ROUNDING and self.is_active(row):
                self._cancel(self.mergers[row], net)

    def _enter(self, row: int) -> None:
        self._waiting[row] = None
        outputs = self._partners.enter(row, self._filters.filter(row))
        self._outputs = max(self._outputs, outputs)
        if row in self.mergers:
            self._cost += self.mergers[row].degree.threshold

    def _leave(self, row: int) -> None:
        self._waiting.pop(row, None)
        self._partners.leave(row)
        if row in self.mergers:
            self._cost = max(self._cost - self.mergers[row].degree.threshold, 0.0)
