"""What the exact and the approximate negative space share: rows that come and go, and which of them are active.

The boxes R hold at least all that no active row covers. A row that misses R is covered, hence passive: the other end of
the link need not know it. A row that meets R becomes active: it is forwarded, and its boxes are subtracted from R. When an
active row goes, some of its space returns to R, and the passive rows that meet that space are subscribed again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from math import inf
from typing import Literal

import numpy as np

from thatch.errors import BoxError, ParameterError, SubscriptionError, UnknownSubscriptionError, shown
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints, check_box, check_labels, log_volume
from thatch.reduction.negative_space.regions import ColumnBox, OwnedRegions, Regions
from thatch.reduction.problem import NOTHING, Moves

__all__ = ["MOST_COLUMNS", "Domain", "Space", "growth"]

# A box takes 16 bytes for each axis, and one with as many sides as axes leaves twice as many boxes: half a gigabyte.
MOST_COLUMNS = 4_096
_CHANGE = 16  # how often one change may look at as many sides as the budget allows

Domain = tuple[Ints, Ints]  # the low and the high end of every axis


class Space(ABC):
    """Rows on one link, and the space that they leave uncovered.

    Boxes are clipped to the domain, the ends of all axes; without one, axes are whole, and added as rows use them.

    Boxes multiply: a dozen rows on axes of their own can leave millions. `budget` limits how many sides (boxes times
    axes) are held, and looked at in one change, None for no limit. What exceeds it stays in R, so that R is larger than
    need be: then more rows become active, which is always safe.
    """

    def __init__(self, domain: Domain | None = None, budget: int | None = None) -> None:
        if budget is not None and not budget >= 1:
            raise ParameterError("a budget of at least 1", shown(budget), "budget")
        self._budget = inf if budget is None else budget
        self._work = 0  # sides looked at in this change
        self._unproved = 0
        self._domain = None if domain is None else check_box(*domain, where="domain")
        n_axes = 0 if self._domain is None else len(self._domain[0])
        self._columns = {axis: axis for axis in range(n_axes)}  # by axis, in order of arrival
        self._low = np.full(n_axes, LOWEST, np.int64) if self._domain is None else self._domain[0]
        self._high = np.full(n_axes, HIGHEST, np.int64) if self._domain is None else self._domain[1]
        self._boxes: dict[int, Boxes] = {}  # of all rows, in order of arrival
        self._active: set[int] = set()
        self._clear()
        self._pieces = 0

    def _clear(self) -> None:
        """Start with R = the domain, and no active or passive rows."""
        n_axes = len(self._columns)
        self._negative = Regions(n_axes)
        self._negative.extend(self._low[:, None], self._high[:, None])
        self._active_boxes = OwnedRegions(n_axes)  # of active rows
        self._passive_boxes = OwnedRegions(n_axes)  # of passive rows
        self._active.clear()
        # Of passive rows that may meet R: the active rows that contain their boxes.
        self._covering_rows: dict[int, set[int]] = {}
        self._covered_rows: dict[int, set[int]] = {}  # the reverse

    # --- queries ---------------------------------------------------------------------------------------------------

    @property
    def active(self) -> tuple[int, ...]:
        """The rows that were forwarded, in order of arrival."""
        return tuple(row for row in self._boxes if row in self._active)

    @property
    def passive(self) -> tuple[int, ...]:
        """The rows that need not be forwarded, in order of arrival."""
        return tuple(row for row in self._boxes if row not in self._active)

    @property
    def negative(self) -> tuple[Ints, Ints]:
        """R as lows and highs with a line for each box and a column for each of `axes`; a copy."""
        lows, highs = self._negative.boxes()
        return lows.T.copy(), highs.T.copy()

    @property
    def axes(self) -> tuple[int, ...]:
        """The known axes, in order of arrival."""
        return tuple(self._columns)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return {
            "active": len(self._active),
            "passive": len(self._boxes) - len(self._active),
            "boxes": self._negative.count,
            "pieces": self._pieces,
            "unproved": self._unproved,
        }

    # --- changes ---------------------------------------------------------------------------------------------------

    def add(self, row: int, boxes: Boxes) -> Moves:
        """Subscribe a row under an unused number."""
        if row < 0:
            raise ParameterError("a row of at least 0", shown(row), "row")
        if row in self._boxes:
            raise SubscriptionError("a row that is not in the set", shown(row))
        self._check(boxes)
        self._work = 0
        self._add_axes(boxes)
        self._boxes[row] = boxes
        return Moves(forward=(row,)) if self._subscribe(row) else NOTHING

    def remove(self, row: int) -> Moves:
        """Unsubscribe a row; rows that it no longer covers are forwarded before it is withdrawn."""
        if row not in self._boxes:
            raise UnknownSubscriptionError(row)
        if row not in self._active:
            del self._boxes[row]
            self._remove_passive({row})
            return NOTHING
        self._work = 0
        self._active.discard(row)
        self._active_boxes.take(np.array([row]))
        freed = self._give_back(row)
        del self._boxes[row]
        affected = self._find_affected(row, freed)
        self._remove_passive(affected)
        promoted = tuple(other for other in self._sort_by_volume(affected) if self._subscribe(other))
        return Moves(promoted, (row,))

    def rebuild(self, order: Literal["arrival", "volume"] = "arrival") -> Moves:
        """Subscribe all rows again, which undoes the damage of unsubscriptions.

        In the order of arrival, or by volume, the largest first, which leaves fewer active rows.
        """
        if order not in ("arrival", "volume"):
            raise ParameterError("'arrival' or 'volume'", shown(order), "order")
        before = set(self._active)
        self._work = 0
        self._clear()
        for row in self._sort_by_volume(self._boxes) if order == "volume" else self._boxes:
            self._subscribe(row)
        forward = tuple(row for row in self.active if row not in before)
        return Moves(forward, tuple(row for row in self.passive if row in before))

    def labels(self, axis: int) -> Ints:
        """All labels in use on an axis, ascending: lows and highs + 1. R keeps those of removed rows."""
        if axis not in self._columns:
            return np.zeros(0, np.int64)
        return np.unique(np.concatenate([each.labels(self._columns[axis]) for each in self._regions()]))

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Replace ascending labels of one axis, which include all that `labels` returns, by ascending new ones."""
        if self._domain is not None:
            raise ParameterError("A space with a domain cannot be relabelled: its labels are fixed")
        used = self.labels(axis)
        old, new = check_labels(used, old, new)
        if not len(used):
            return
        for store in self._regions():
            store.relabel(self._columns[axis], old, new)
        for row, boxes in self._boxes.items():
            self._boxes[row] = boxes.with_labels(axis, old, new)

    # --- what the two forms do differently ---------------------------------------------------------------------------

    @abstractmethod
    def _subtract(self, row: int, boxes: list[ColumnBox]) -> list[ColumnBox]:
        """Subtract the boxes of a new active row from R; returns those for which the budget was enough."""

    @abstractmethod
    def _give_back(self, row: int) -> Regions:
        """Add to R the space of a row that is no longer active; returns what was added."""

    @abstractmethod
    def _find_covering_rows(self, boxes: list[ColumnBox]) -> set[int] | None:
        """None if the boxes are not covered; otherwise the active rows that contain those that may meet R."""

    def _regions(self) -> list[Regions]:
        return [self._negative, self._active_boxes, self._passive_boxes]

    # --- rows ------------------------------------------------------------------------------------------------------

    def _subscribe(self, row: int) -> bool:
        """Make a row active or passive (figures 6 and 8); returns whether it is active."""
        boxes = list(self._clip(self._boxes[row]))
        is_spent = self._work > _CHANGE * self._budget
        self._work += self._held()
        covering = None if is_spent else self._find_covering_rows(boxes)
        if covering is not None:
            for box in boxes:
                self._passive_boxes.put(row, *self._dense(box))
            if covering:
                self._covering_rows[row] = covering
            for coverer in covering:
                self._covered_rows.setdefault(coverer, set()).add(row)
            return False
        self._active.add(row)
        # What is not subtracted from R does not cover anything.
        taken = [] if is_spent else self._subtract(row, boxes)
        for box in taken:
            self._active_boxes.put(row, *self._dense(box))
        self._unproved += len(taken) < len(boxes)
        return True

    def _held(self) -> int:
        """How many sides are held."""
        return len(self._columns) * sum(each.count for each in self._regions())

    def _has_room(self, boxes: int) -> bool:
        """Whether the budget allows so many boxes more; counts the work of making them."""
        held = self._held() + boxes * len(self._columns)
        self._work += held
        return held <= self._budget and self._work <= _CHANGE * self._budget

    def _return(self, freed: Regions) -> None:
        """Add freed space to R; if that is too much, R becomes the whole domain, which holds it."""
        if self._held() + freed.count * len(self._columns) <= self._budget:
            self._negative.extend(*freed.boxes())
        else:
            self._unproved += 1
            self._negative = Regions(len(self._columns))
            self._negative.extend(self._low[:, None], self._high[:, None])

    def _remove_covered(self, freed: Regions, shares: OwnedRegions | None = None) -> None:
        """Subtract the boxes of active rows from freed space; with `shares`, each row keeps what it takes over."""
        if not freed.count:
            return
        for slot in self._active_boxes.find_meeting(self._column_box(*freed.hull())):
            box = self._column_box(self._active_boxes.lows[:, slot], self._active_boxes.highs[:, slot])
            slots = freed.find_meeting(box)
            if not self._has_room(freed.count + growth(slots, box)):
                self._unproved += 1
                return
            if shares is not None:
                shares.put(int(self._active_boxes.owners[slot]), *freed.overlaps(slots, box))
            freed.cut(slots, box)
            if not freed.count:
                return

    def _find_affected(self, row: int, freed: Regions) -> set[int]:
        """The passive rows that may no longer be covered after a row is gone and space returned to R."""
        covered = self._covered_rows.pop(row, set())
        if freed.count:
            covered |= self._passive_boxes.find_owners_meeting(freed, self._column_box(*freed.hull()))
        return covered

    def _remove_passive(self, rows: set[int]) -> None:
        self._passive_boxes.take(np.array([*rows], np.int64))
        for row in rows:
            for coverer in self._covering_rows.pop(row, set()):
                self._covered_rows.get(coverer, set()).discard(row)

    def _sort_by_volume(self, rows: Iterable[int]) -> list[int]:
        """The largest first, which only orders the work; equal ones by number."""
        return sorted(rows, key=lambda row: (-log_volume(self._boxes[row]), row))

    # --- boxes -----------------------------------------------------------------------------------------------------

    def _check(self, boxes: Boxes) -> None:
        if len(boxes.axes) and (boxes.lows > boxes.highs).any():
            raise BoxError("A box has a low end above its high one")
        if self._domain is not None and len(boxes.axes) and boxes.axes.max() >= len(self._low):
            raise BoxError(
                f"boxes with {len(self._low)} axes", f"one with axis {boxes.axes.max()}", "the boxes"
            )

    def _add_axes(self, boxes: Boxes) -> None:
        fresh = {axis: None for axis in boxes.axes.tolist() if axis not in self._columns}
        if not fresh:
            return
        n_axes = len(self._columns) + len(fresh)
        if n_axes > MOST_COLUMNS:
            raise BoxError(f"at most {MOST_COLUMNS:,} axes", f"{n_axes:,}", "the boxes")
        self._columns |= {axis: column for column, axis in enumerate(fresh, start=len(self._columns))}
        self._low, self._high = np.full(n_axes, LOWEST, np.int64), np.full(n_axes, HIGHEST, np.int64)
        for store in self._regions():
            store.widen(len(fresh))

    def _clip(self, boxes: Boxes) -> Iterator[ColumnBox]:
        """Clip boxes to the domain."""
        for axes, low, high in boxes:
            columns = np.array([self._columns[axis] for axis in axes.tolist()], np.int64)
            if self._domain is not None:
                low, high = np.maximum(low, self._low[columns]), np.minimum(high, self._high[columns])
                if (low > high).any():
                    continue
            order = np.argsort(columns)
            yield ColumnBox(columns[order], low[order], high[order])

    def _dense(self, box: ColumnBox) -> tuple[Ints, Ints]:
        """One box with ends on every axis, as the only column of two arrays."""
        low, high = self._low[:, None].copy(), self._high[:, None].copy()
        low[box.columns, 0], high[box.columns, 0] = box.low, box.high
        return low, high

    def _column_box(self, low: Ints, high: Ints) -> ColumnBox:
        """A box with ends on every axis, without the axes that it spans."""
        columns = np.flatnonzero((low > self._low) | (high < self._high))
        return ColumnBox(columns, low[columns], high[columns])


def growth(slots: Ints, box: ColumnBox) -> int:
    """At most how many boxes more there are after a box was subtracted from those in some slots."""
    return len(slots) * max(0, 2 * len(box.columns) - 1)
