"""A judge of pairs that keeps its boxes as diagrams (li2005, sections 4.2 and 4.3).

The paper decides in one pass who covers a new subscription and whom it covers, where others need two. The pass may stop at
the first box that covers, and may ignore covering boxes once it found a covered one, only if no known box covers another.
So the diagrams hold an antichain: a covered box hangs below one that covers it, in no diagram, until that one goes.

Deviations from the paper:

- A box is not covered by one with a side on an axis that it lacks, and does not cover one that lacks one of its sides.
  The paper omits this, and so withdraws subscriptions that nobody covers.
- Only boxes with the same axes share diagrams, so that both conditions select diagrams before any is walked.
- A walk starts at the terminal, and evaluates a predicate when it reaches it.
- `phases=2` makes two walks, the paper's baseline.
"""

from __future__ import annotations

import numpy as np

from thatch.reduction.boxes import Ints, relabel_ends
from thatch.reduction.diagrams.box_diagrams import Axes, BoxDiagrams
from thatch.reduction.diagrams.kernels.walks import COVERED, COVERS
from thatch.reduction.index import SparsePoint
from thatch.reduction.problem import Verdict, Work

__all__ = ["DiagramJudge"]

Box = tuple[Axes, Ints, Ints]

_FEW_GROUPS = 64  # not worth building diagrams again


class DiagramJudge:
    """Decides whether a single box contains another, in one walk, or in two phases: who covers, then who is covered."""

    def __init__(self, phases: int = 1) -> None:
        self._asked = (COVERED | COVERS,) if phases == 1 else (COVERED, COVERS)
        self._diagrams = BoxDiagrams()
        self._boxes: dict[int, Box] = {}
        self._node_of: dict[int, int] = {}  # of boxes in diagrams
        self._above: dict[int, int] = {}  # of covered boxes: the one they hang below
        self._below: dict[int, list[int]] = {}
        self._looked_at = 0  # in former diagrams

    @property
    def looked_at(self) -> int:
        """How many nodes all walks have looked at."""
        return self._looked_at + self._diagrams.looked_at

    def add(self, box: int, axes: Axes, lows: Ints, highs: Ints) -> None:
        """Add a box under an unused number."""
        self._boxes[box] = (axes, lows, highs)
        cover, inside = self._find_related(axes, lows, highs)
        if cover is not None:
            self._hang(box, cover)
            return
        for each in inside:
            self._diagrams.remove(self._node_of.pop(each))
            self._hang(each, box)
            for lower in self._below.pop(each, []):
                self._hang(lower, box)
        self._node_of[box] = self._diagrams.insert(box, axes, lows, highs)

    def remove(self, box: int) -> None:
        """Remove a box; those that hung below it are added again."""
        del self._boxes[box]
        above = self._above.pop(box, None)
        if above is not None:
            self._below[above].remove(box)
            return
        self._diagrams.remove(self._node_of.pop(box))
        for each in self._below.pop(box, []):
            del self._above[each]
            self.add(each, *self._boxes[each])
        if self._diagrams.groups > _FEW_GROUPS + 2 * len(self._node_of):
            self._build()

    def decide(self, axes: Axes, lows: Ints, highs: Ints) -> Verdict[SparsePoint]:
        """Decide whether a known box contains this one."""
        before = self.looked_at
        cover, _ = self._find_related(axes, lows, highs)
        used, work = () if cover is None else (cover,), Work(rows=self.looked_at - before)
        return Verdict(covered=bool(used), certain=True, decided_by="pairwise", used=used, work=work)

    def neighbours(self, axes: Axes, lows: Ints, highs: Ints) -> Ints:
        """The boxes inside this one, except those that hang below a box outside."""
        _, inside = self._diagrams.find_related(axes, lows, highs, COVERS)
        found = [*inside, *(each for box in inside for each in self._below.get(box, []))]
        return np.array(found, np.int64)

    inside = neighbours

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Replace the labels of all boxes on one axis."""
        for box, (axes, lows, highs) in self._boxes.items():
            at = np.flatnonzero(axes == axis)
            if len(at):
                lows, highs = lows.copy(), highs.copy()
                lows[at], highs[at] = relabel_ends(lows[at], highs[at], old, new)
                self._boxes[box] = (axes, lows, highs)
        self._build()

    def _find_related(self, axes: Axes, lows: Ints, highs: Ints) -> tuple[int | None, list[int]]:
        """A box that contains this one, or else all boxes in diagrams that it contains."""
        inside: list[int] = []
        for asked in self._asked:
            cover, inside = self._diagrams.find_related(axes, lows, highs, asked)
            if cover is not None:
                return cover, []
        return None, inside

    def _hang(self, box: int, above: int) -> None:
        self._above[box] = above
        self._below.setdefault(above, []).append(box)

    def _build(self) -> None:
        """Build the diagrams again."""
        self._looked_at += self._diagrams.looked_at
        self._diagrams = BoxDiagrams()
        self._node_of = {box: self._diagrams.insert(box, *self._boxes[box]) for box in self._node_of}
