"""A judge of pairs that keeps its boxes as diagrams (paper L, sections 4.2 and 4.3).

The paper decides in one pass who covers a new subscription and whom it covers, where others make two. That pass may stop
at the first that covers, and may forget about being covered once it covers something, only if no known box covers another.
So the diagrams hold an antichain: a box that another covers hangs below that one, in no diagram, until it goes.

Deviations: a side on an axis that the new box lacks leaves it uncovered, and a box that lacks a side of the new one is
not inside it, which the paper does not say; without that it withdraws what nobody covers. Diagrams share their ends among
boxes with the same axes only, so that both conditions choose diagrams before any is walked. A walk goes from the terminal
to what may still hold, and evaluates a predicate where it is met. `phases=2` makes two walks, the paper's baseline.
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

_FEW_GROUPS = 64  # that are not worth building diagrams anew


class DiagramJudge:
    """Covered if a single box contains it.

    Parameters
    ----------
    phases : 1, or 2 for two walks: who covers, then who is covered
    """

    def __init__(self, phases: int = 1) -> None:
        self._asked = (COVERED | COVERS,) if phases == 1 else (COVERED, COVERS)
        self._diagrams = BoxDiagrams()
        self._boxes: dict[int, Box] = {}
        self._node_of: dict[int, int] = {}  # of boxes that are in diagrams
        self._above: dict[int, int] = {}  # of boxes that hang below another: that one
        self._below: dict[int, list[int]] = {}
        self._looked_at = 0  # in diagrams that were built anew since

    @property
    def looked_at(self) -> int:
        """Nodes, in all walks."""
        return self._looked_at + self._diagrams.looked_at

    def add(self, box: int, axes: Axes, lows: Ints, highs: Ints) -> None:
        """Know a box from now on, under a number that is free."""
        self._boxes[box] = (axes, lows, highs)
        cover, inside = self._related(axes, lows, highs)
        if cover is not None:
            self._hang(box, cover)
            return
        for each in inside:
            self._diagrams.take_out(self._node_of.pop(each))
            self._hang(each, box)
            for lower in self._below.pop(each, []):
                self._hang(lower, box)
        self._node_of[box] = self._diagrams.insert(box, axes, lows, highs)

    def remove(self, box: int) -> None:
        """Forget a box that is known; what hung below it finds another place."""
        del self._boxes[box]
        above = self._above.pop(box, None)
        if above is not None:
            self._below[above].remove(box)
            return
        self._diagrams.take_out(self._node_of.pop(box))
        for each in self._below.pop(box, []):
            del self._above[each]
            self.add(each, *self._boxes[each])
        if self._diagrams.groups > _FEW_GROUPS + 2 * len(self._node_of):
            self._build()

    def decide(self, axes: Axes, lows: Ints, highs: Ints) -> Verdict[SparsePoint]:
        """Whether a box that is known contains this one."""
        before = self.looked_at
        cover, _ = self._related(axes, lows, highs)
        work = Work(rows=self.looked_at - before)
        if cover is None:
            return Verdict(covered=False, certain=True, decided_by="pairwise", work=work)
        return Verdict(covered=True, certain=True, decided_by="pairwise", used=(cover,), work=work)

    def neighbours(self, axes: Axes, lows: Ints, highs: Ints) -> Ints:
        """The boxes inside this one, but for those below a box that is not."""
        _, inside = self._diagrams.related(axes, lows, highs, COVERS)
        found = [*inside, *(each for box in inside for each in self._below.get(box, []))]
        return np.array(found, np.int64)

    inside = neighbours

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order."""
        for box, (axes, lows, highs) in self._boxes.items():
            at = np.flatnonzero(axes == axis)
            if len(at):
                lows, highs = lows.copy(), highs.copy()
                lows[at], highs[at] = relabel_ends(lows[at], highs[at], old, new)
                self._boxes[box] = (axes, lows, highs)
        self._build()

    def _related(self, axes: Axes, lows: Ints, highs: Ints) -> tuple[int | None, list[int]]:
        """A box that contains this one, or else all boxes of diagrams that it contains."""
        inside: list[int] = []
        for asked in self._asked:
            cover, inside = self._diagrams.related(axes, lows, highs, asked)
            if cover is not None:
                return cover, []
        return None, inside

    def _hang(self, box: int, above: int) -> None:
        self._above[box] = above
        self._below.setdefault(above, []).append(box)

    def _build(self) -> None:
        """Make the diagrams anew, of the boxes that are in them."""
        self._looked_at += self._diagrams.looked_at
        self._diagrams = BoxDiagrams()
        self._node_of = {box: self._diagrams.insert(box, *self._boxes[box]) for box in self._node_of}
