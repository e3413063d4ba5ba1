"""What the exact and the approximate negative space share: rows that come and go, and who is active.

Some boxes, R, hold at least all that no active row covers. A row that misses R is covered, and passive: the other end
of the link need not know it. A row that meets R becomes active, is forwarded, and takes its boxes away from R. When an
active row goes, some of its space comes back to R, and the passive rows that meet that are subscribed again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np

from thatch.errors import BoxError, ParameterError, SubscriptionError, UnknownSubscriptionError, shown
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints, checked, log_volume
from thatch.reduction.moves import NOTHING, Moves
from thatch.reduction.negative_space.regions import OwnedRegions, Regions, Sides

__all__ = ["MOST_COLUMNS", "Domain", "Space"]

# A box takes 16 bytes for each axis, and one with as many sides as axes leaves twice as many boxes: half a gigabyte.
MOST_COLUMNS = 4_096

Domain = tuple[Ints, Ints]  # the low and the high end of every axis


class Space(ABC):
    """Rows on one link, and the space that they leave uncovered.

    Parameters
    ----------
    domain : the ends of all axes, for a space in which no others occur; None for whole axes, as many as come. Of boxes
        only what lies in the domain counts.
    """

    def __init__(self, domain: Domain | None = None) -> None:
        self._domain = None if domain is None else checked(*domain, where="domain")
        n_axes = 0 if self._domain is None else len(self._domain[0])
        self._columns = {axis: axis for axis in range(n_axes)}  # of axes, in the order in which they came
        self._low = np.full(n_axes, LOWEST, np.int64) if self._domain is None else self._domain[0]
        self._high = np.full(n_axes, HIGHEST, np.int64) if self._domain is None else self._domain[1]
        self._boxes: dict[int, Boxes] = {}  # of all rows, in the order in which they came
        self._active: set[int] = set()
        self._opaque: set[int] = set()
        self._forget()
        self._pieces = 0

    def _forget(self) -> None:
        """Start with R = the domain and nothing that is active or passive."""
        n_axes = len(self._columns)
        self._negative = Regions(n_axes)
        self._negative.extend(self._low[:, None], self._high[:, None])
        self._covering = OwnedRegions(n_axes)  # boxes of active rows that take away from R
        self._covered = OwnedRegions(n_axes)  # boxes of passive rows
        self._active.clear()
        # Passive rows that may meet R, and the active rows that cover them.
        self._leans_on: dict[int, set[int]] = {}
        self._leaning: dict[int, set[int]] = {}  # the other way round

    # --- what there is ---------------------------------------------------------------------------------------------

    @property
    def active(self) -> tuple[int, ...]:
        """The rows that were forwarded, in the order in which they came."""
        return tuple(row for row in self._boxes if row in self._active)

    @property
    def passive(self) -> tuple[int, ...]:
        """The rows that need not be known, in the order in which they came."""
        return tuple(row for row in self._boxes if row not in self._active)

    @property
    def negative(self) -> tuple[Ints, Ints]:
        """R as lows and highs with a row for each box and a column for each of `axes`; a copy."""
        lows, highs = self._negative.boxes()
        return lows.T.copy(), highs.T.copy()

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that are known, in the order in which they came."""
        return tuple(self._columns)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return {
            "active": len(self._active),
            "passive": len(self._boxes) - len(self._active),
            "boxes": self._negative.count,
            "pieces": self._pieces,
        }

    def covers(self, boxes: Boxes) -> bool:
        """Whether these boxes would be passive."""
        self._check(boxes)
        return self._leans_on_if_covered(list(self._inside(boxes))) is not None

    # --- what changes ----------------------------------------------------------------------------------------------

    def add(self, row: int, boxes: Boxes, *, opaque: bool = False) -> Moves:
        """Subscribe under a number that is free.

        Parameters
        ----------
        opaque : whether the row asks for less than its boxes say. It then takes nothing away from R.
        """
        if row < 0:
            raise ParameterError("a row of at least 0", shown(row), "row")
        if row in self._boxes:
            raise SubscriptionError("a row that is not in the set", shown(row))
        self._check(boxes)
        self._learn_axes(boxes)
        self._boxes[row] = boxes
        if opaque:
            self._opaque.add(row)
        return Moves(forward=(row,)) if self._subscribe(row) else NOTHING

    def remove(self, row: int) -> Moves:
        """Unsubscribe; what is no longer covered is forwarded before the row is withdrawn."""
        if row not in self._boxes:
            raise UnknownSubscriptionError(row)
        if row not in self._active:
            del self._boxes[row]
            self._opaque.discard(row)
            self._leave_passive({row})
            return NOTHING
        self._active.discard(row)
        if row in self._opaque:
            self._opaque.discard(row)
            del self._boxes[row]
            return Moves(withdraw=(row,))
        self._covering.take(np.array([row]))
        freed = self._give_back(row)
        del self._boxes[row]
        affected = self._affected(row, freed)
        self._leave_passive(affected)
        promoted = tuple(other for other in self._largest_first(affected) if self._subscribe(other))
        return Moves(promoted, (row,))

    def rebuild(self, order: Literal["arrival", "volume"] = "arrival") -> Moves:
        """Subscribe all rows anew (the rebuilding from time to time that regains what unsubscriptions cost).

        Parameters
        ----------
        order : "arrival", or "volume" for the largest first, which leaves fewer active rows
        """
        if order not in ("arrival", "volume"):
            raise ParameterError("'arrival' or 'volume'", shown(order), "order")
        before = set(self._active)
        self._forget()
        for row in self._largest_first(self._boxes) if order == "volume" else self._boxes:
            self._subscribe(row)
        forward = tuple(row for row in self.active if row not in before)
        return Moves(forward, tuple(row for row in self.passive if row in before))

    def labels(self, axis: int) -> Ints:
        """All labels in use on an axis, rising: low ends and high ends + 1. R keeps those of rows that are gone."""
        if axis not in self._columns:
            return np.zeros(0, np.int64)
        return np.unique(np.concatenate([each.labels(self._columns[axis]) for each in self._stores()]))

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends on one axis other labels, in the same order.

        Parameters
        ----------
        old : rising labels, among which are all that `labels` gives
        new : what each becomes, rising
        """
        if self._domain is not None:
            raise ParameterError("whole axes", "a domain, whose labels are fixed", "axis")
        if len(old) != len(new) or (np.diff(old) <= 0).any() or (np.diff(new) <= 0).any():
            raise ParameterError("as many new labels as old ones, both rising", shown(new), "new")
        if len(new) and not LOWEST < new[0] <= new[-1] <= HIGHEST:
            raise ParameterError(f"labels from {LOWEST + 1} to {HIGHEST}", shown(new), "new")
        used = self.labels(axis)
        if not np.isin(used, old).all():
            raise ParameterError("all labels in use", f"none for {used[~np.isin(used, old)][0]}", "old")
        if not len(used):
            return
        for store in self._stores():
            store.relabel(self._columns[axis], old, new)
        for row, boxes in self._boxes.items():
            self._boxes[row] = boxes.relabelled(axis, old, new)

    # --- what the two forms do each in their way ---------------------------------------------------------------------

    @abstractmethod
    def _take_away(self, row: int, boxes: list[Sides]) -> None:
        """Take the boxes of a new active row away from R."""

    @abstractmethod
    def _give_back(self, row: int) -> Regions:
        """Put into R what a row leaves that is no longer active; returns what was put there."""

    @abstractmethod
    def _leans_on_if_covered(self, boxes: list[Sides]) -> set[int] | None:
        """None if the boxes are not covered; else the active rows that cover some that may meet R."""

    def _stores(self) -> list[Regions]:
        return [self._negative, self._covering, self._covered]

    # --- rows ------------------------------------------------------------------------------------------------------

    def _subscribe(self, row: int) -> bool:
        """Make a row active or passive (figures 6 and 8); returns whether it is active."""
        boxes = list(self._inside(self._boxes[row]))
        leans_on = self._leans_on_if_covered(boxes)
        if leans_on is not None:
            for box in boxes:
                self._covered.put(row, *self._dense(box))
            if leans_on:
                self._leans_on[row] = leans_on
            for coverer in leans_on:
                self._leaning.setdefault(coverer, set()).add(row)
            return False
        self._active.add(row)
        if row not in self._opaque:
            for box in boxes:
                self._covering.put(row, *self._dense(box))
            self._take_away(row, boxes)
        return True

    def _affected(self, row: int, freed: Regions) -> set[int]:
        """The passive rows that may no longer be covered since a row is gone and some space came back to R."""
        leaning = self._leaning.pop(row, set())
        if not freed.count:
            return leaning
        return leaning | self._covered.owners_meeting(freed, self._sides(*freed.hull()))

    def _leave_passive(self, rows: set[int]) -> None:
        self._covered.take(np.array([*rows], np.int64))
        for row in rows:
            for coverer in self._leans_on.pop(row, set()):
                self._leaning.get(coverer, set()).discard(row)

    def _largest_first(self, rows: Iterable[int]) -> list[int]:
        """By volume, which only orders the work; equals in the order of their numbers."""
        return sorted(rows, key=lambda row: (-log_volume(self._boxes[row]), row))

    # --- boxes -----------------------------------------------------------------------------------------------------

    def _check(self, boxes: Boxes) -> None:
        if len(boxes.axes) and (boxes.lows > boxes.highs).any():
            raise BoxError("a low end that is not above the high one", "one that is", "the boxes")
        if self._domain is not None and len(boxes.axes) and boxes.axes.max() >= len(self._low):
            raise BoxError(
                f"boxes with {len(self._low)} axes", f"one with axis {boxes.axes.max()}", "the boxes"
            )

    def _learn_axes(self, boxes: Boxes) -> None:
        fresh = {axis: None for axis in boxes.axes.tolist() if axis not in self._columns}
        if not fresh:
            return
        n_axes = len(self._columns) + len(fresh)
        if n_axes > MOST_COLUMNS:
            raise BoxError(f"at most {MOST_COLUMNS:,} axes", f"{n_axes:,}", "the boxes")
        self._columns |= {axis: column for column, axis in enumerate(fresh, start=len(self._columns))}
        self._low, self._high = np.full(n_axes, LOWEST, np.int64), np.full(n_axes, HIGHEST, np.int64)
        for store in self._stores():
            store.widen(len(fresh))

    def _inside(self, boxes: Boxes) -> Iterator[Sides]:
        """What of the boxes lies in the domain, on the axes that are known: on all others R is whole."""
        for axes, low, high in boxes:
            columns = np.array([self._columns.get(axis, -1) for axis in axes.tolist()], np.int64)
            if self._domain is not None:
                low, high = np.maximum(low, self._low[columns]), np.minimum(high, self._high[columns])
                if (low > high).any():
                    continue
            order = np.argsort(columns)
            order = order[columns[order] >= 0]
            yield Sides(columns[order], low[order], high[order])

    def _dense(self, box: Sides) -> tuple[Ints, Ints]:
        """One box with ends on every axis, as the only column of two arrays."""
        low, high = self._low[:, None].copy(), self._high[:, None].copy()
        low[box.columns, 0], high[box.columns, 0] = box.low, box.high
        return low, high

    def _sides(self, low: Ints, high: Ints) -> Sides:
        """A box with ends on every axis as the sides on which it is not whole."""
        columns = np.flatnonzero((low > self._low) | (high < self._high))
        return Sides(columns, low[columns], high[columns])
