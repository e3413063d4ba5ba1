"""Judges: do the boxes of active rows cover a box? One class for each policy; `CoveringRows` decides what follows.

A judge holds the boxes that were forwarded, each under a number, and answers with those numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.index import BoxIndex, SparsePoint
from thatch.reduction.probabilistic import BoxDecider, decide_in_cells
from thatch.reduction.problem import Verdict

if TYPE_CHECKING:
    from thatch.reduction.diagrams import DiagramJudge

__all__ = ["MOST_POINTS", "ExactJudge", "Judge", "PairwiseJudge", "ProbabilisticJudge"]

Axes = npt.NDArray[np.int32]
Answer = Verdict[SparsePoint]

MOST_POINTS = 1_000_000  # for one decision, if nobody says

_EMPTY: Answer = Verdict(covered=False, certain=True, decided_by="empty")


class IndexJudge(ABC):
    """A judge with an index, made for the first box: most links of a broker are idle."""

    def __init__(self) -> None:
        self._index: BoxIndex | None = None

    def add(self, box: int, axes: Axes, lows: Ints, highs: Ints) -> None:
        """Add a box under a number that is free."""
        if self._index is None:
            self._index = BoxIndex()
        self._index.add(box, axes, lows, highs)

    def remove(self, box: int) -> None:
        """Remove a box."""
        assert self._index is not None, "a box that was added"
        self._index.remove(box)

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Replace the labels of all box ends on one axis, in the same order."""
        if self._index is not None:
            self._index.relabel(axis, old, new)

    def decide(self, axes: Axes, lows: Ints, highs: Ints) -> Answer:
        """Whether the boxes here cover this one; `used` are the numbers of those that do."""
        return _EMPTY if self._index is None else self._decide(self._index, axes, lows, highs)

    @abstractmethod
    def _decide(self, index: BoxIndex, axes: Axes, lows: Ints, highs: Ints) -> Answer:
        """Whether the boxes of an index that is not empty cover this one."""

    def neighbours(self, axes: Axes, lows: Ints, highs: Ints) -> Ints:
        """The numbers of boxes that may be covered after this one was added."""
        assert self._index is not None, "a box that was added"
        return self._index.find_meeting(axes, lows, highs)

    def inside(self, axes: Axes, lows: Ints, highs: Ints) -> Ints:
        """The numbers of boxes that lie inside this one."""
        assert self._index is not None, "a box that was added"
        return self._index.find_inside(axes, lows, highs)


class PairwiseJudge(IndexJudge):
    """Covered if a single box contains it: the classical covering relation."""

    def _decide(self, index: BoxIndex, axes: Axes, lows: Ints, highs: Ints) -> Answer:
        """Look for a box that contains this one."""
        found = index.find_container(axes, lows, highs)
        used = () if found < 0 else (found,)
        return Verdict(covered=bool(used), certain=True, decided_by="pairwise", used=used)

    def neighbours(self, axes: Axes, lows: Ints, highs: Ints) -> Ints:
        """The boxes inside this one."""
        return self.inside(axes, lows, highs)


class ExactJudge(IndexJudge):
    """Covered if the union of all boxes contains it, decided exactly within a budget of work."""

    def __init__(self, budget: float | None) -> None:
        super().__init__()
        self._budget = budget

    def _decide(self, index: BoxIndex, axes: Axes, lows: Ints, highs: Ints) -> Answer:
        """Refine a small set of boxes until it covers, or leaves a point that no box contains."""
        return index.decide(axes, lows, highs, budget=self._budget)


class ProbabilisticJudge(IndexJudge):
    """Covered unless random points say otherwise (ouksel2006): may be wrong, and then loses deliveries."""

    def __init__(self, decide: BoxDecider, *, may_be_capped: bool = True) -> None:
        super().__init__()
        self._may_be_capped = may_be_capped
        self._decide_box = decide

    def _decide(self, index: BoxIndex, axes: Axes, lows: Ints, highs: Ints) -> Answer:
        """Conflict table, its fast decisions, MCS and RSPC over the boxes that meet this one."""
        numbers = index.find_meeting(axes, lows, highs)
        if not len(numbers):
            return _EMPTY
        rows = index.boxes(numbers)
        local = np.union1d(axes, rows.axes).astype(np.int32)
        (low,), (high,) = Boxes.join([(axes, lows, highs)]).dense(local)
        verdict = decide_in_cells(self._decide_box, low, high, *rows.dense(local))
        is_enough = self._may_be_capped or verdict.decided_by != "rspc capped"
        return Verdict(
            covered=verdict.covered if is_enough else None,
            certain=verdict.certain,
            decided_by=verdict.decided_by,
            witness=None if verdict.witness is None else (local, verdict.witness),
            used=tuple(int(numbers[each]) for each in verdict.used),
            work=verdict.work,
        )


Judge: TypeAlias = "IndexJudge | DiagramJudge"  # what rows ask
