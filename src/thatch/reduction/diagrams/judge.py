"""A judge of pairs that keeps its boxes as diagrams (paper L, sections 4.2 and 4.3).

The paper decides in one pass who covers a new subscription and whom it covers, where others make two. That pass may stop
at the first that covers, and may forget about being covered once it covers something, only if no known box covers another.
So the diagrams hold an antichain: a box that another covers hangs below that one, in no diagram, until it goes.

Deviations: a side on an axis that the new box lacks leaves it uncovered, and a box that lacks a side of the new one is
not inside it, which the paper does not say; without that it withdraws what nobody covers. The pass goes from the
terminal to what may still hold, and so evaluates a predicate where it is met. `phases=2` is the paper's baseline. Walking so,
one pass does not always look at less than two: where most boxes are covered, a walk that only asks who covers ends sooner.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thatch.matching.diagrams.chains import Chains
from thatch.reduction.boxes import HIGHEST, LOWEST, Ints
from thatch.reduction.diagrams.kernels import COVERED, COVERS, relations
from thatch.reduction.index import SparsePoint
from thatch.reduction.problem import Verdict, Work

__all__ = ["DiagramJudge"]

Axes = npt.NDArray[np.int32]
Box = tuple[Axes, Ints, Ints]
Side = tuple[int, int, int]  # axis, low and high: a variable of these diagrams


class DiagramJudge:
    """Covered if a single box contains it.

    Parameters
    ----------
    phases : 1, or 2 for two passes: who covers, then who is covered
    """

    def __init__(self, phases: int = 1) -> None:
        self._phases = phases
        self._chains = Chains()
        self._variables: dict[Side, int] = {}
        self._uses: list[int] = [0]
        self._free: list[int] = []
        self._sides = (np.zeros(64, np.int64), np.zeros(64, np.int64), np.zeros(64, np.int64))
        self._boxes: dict[int, Box] = {}
        self._node_of: dict[int, int] = {}  # of boxes that are in diagrams
        self._box_at: dict[int, int] = {}
        self._above: dict[int, int] = {}  # of boxes that hang below another: that one
        self._below: dict[int, list[int]] = {}
        self._stacks = tuple(np.zeros(64, np.int64) for _ in range(3))
        self._found = np.zeros(64, np.int64)
        self.looked_at = 0  # nodes, in all passes

    def add(self, box: int, axes: Axes, lows: Ints, highs: Ints) -> None:
        """Know a box from now on, under a number that is free."""
        self._boxes[box] = (axes, lows, highs)
        cover, inside = self._related(axes, lows, highs)
        if cover is not None:
            self._hang(box, cover)
            return
        for each in inside:
            self._take_out(each)
            self._hang(each, box)
            for lower in self._below.pop(each, []):
                self._hang(lower, box)
        variables = [self._acquire(side) for side in _sides_of((axes, lows, highs))]
        node = self._chains.insert(variables)
        self._node_of[box], self._box_at[node] = node, box

    def remove(self, box: int) -> None:
        """Forget a box that is known; what hung below it finds another place."""
        above = self._above.pop(box, None)
        if above is not None:
            self._below[above].remove(box)
            del self._boxes[box]
            return
        self._take_out(box)
        del self._boxes[box]
        for each in self._below.pop(box, []):
            del self._above[each]
            self.add(each, *self._boxes[each])
        self._renumber()

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
        cover, inside = self._related(axes, lows, highs, wanted=COVERS)
        assert cover is None, "only covering was asked for"
        found = [*inside, *(each for box in inside for each in self._below.get(box, []))]
        return np.array(found, np.int64)

    inside = neighbours

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order."""
        renamed: dict[Side, int] = {}
        for (at, low, high), variable in self._variables.items():
            side = _relabelled((at, low, high), old, new) if at == axis else (at, low, high)
            renamed[side] = variable
            for column, end in zip(self._sides, side, strict=True):
                column[variable] = end
        self._variables = renamed
        for box, sides in self._boxes.items():
            if axis in sides[0]:
                self._boxes[box] = _box_of(
                    [_relabelled(each, old, new) if each[0] == axis else each for each in _sides_of(sides)]
                )

    # --- one pass, or two --------------------------------------------------------------------------------------------

    def _related(
        self, axes: Axes, lows: Ints, highs: Ints, wanted: int = COVERED | COVERS
    ) -> tuple[int | None, list[int]]:
        """A box that contains this one, or else all boxes of diagrams that it contains."""
        for each in (wanted,) if self._phases == 1 else (wanted & COVERED, wanted & COVERS):
            columns = self._chains.columns
            size = len(columns.variable)
            if len(self._found) < size:
                self._stacks = tuple(np.zeros(2 * size, np.int64) for _ in range(3))
                self._found = np.zeros(2 * size, np.int64)
            seen = (columns.variable, columns.first, columns.after, columns.outputs)
            cover, count, looked_at = relations(
                seen, self._sides, (axes, lows, highs), each, self._stacks, self._found
            )
            self.looked_at += looked_at
            if cover >= 0:
                return self._box_at[cover], []
        return None, [self._box_at[node] for node in self._found[:count].tolist()]

    # --- boxes in diagrams and below them ------------------------------------------------------------------------------

    def _hang(self, box: int, above: int) -> None:
        self._above[box] = above
        self._below.setdefault(above, []).append(box)

    def _take_out(self, box: int) -> None:
        node = self._node_of.pop(box)
        del self._box_at[node]
        self._chains.remove(node)
        for side in _sides_of(self._boxes[box]):
            variable = self._variables[side]
            self._uses[variable] -= 1
            if not self._uses[variable]:
                del self._variables[side]
                self._free.append(variable)

    def _renumber(self) -> None:
        new = self._chains.renumbered()
        if new is not None:
            self._box_at = {int(new[node]): box for node, box in self._box_at.items()}
            self._node_of = {box: node for node, box in self._box_at.items()}

    def _acquire(self, side: Side) -> int:
        variable = self._variables.get(side)
        if variable is None:
            if self._free:
                variable = self._free.pop()
            else:
                variable = len(self._uses)
                self._uses.append(0)
            if variable >= len(self._sides[0]):
                longer = [np.zeros(2 * variable, np.int64) for _ in range(3)]
                for old, column in zip(self._sides, longer, strict=True):
                    column[: len(old)] = old
                self._sides = (longer[0], longer[1], longer[2])
            for column, end in zip(self._sides, side, strict=True):
                column[variable] = end
            self._variables[side] = variable
        self._uses[variable] += 1
        return variable


def _sides_of(box: Box) -> list[Side]:
    return list(zip(*(each.tolist() for each in box), strict=True))


def _box_of(sides: list[Side]) -> Box:
    columns = np.array(sides, np.int64).reshape(-1, 3)
    return columns[:, 0].astype(np.int32), columns[:, 1].copy(), columns[:, 2].copy()


def _relabelled(side: Side, old: Ints, new: Ints) -> Side:
    axis, low, high = side
    if low != LOWEST:
        low = int(new[np.searchsorted(old, low)])
    if high != HIGHEST:
        high = int(new[np.searchsorted(old, high + 1)]) - 1
    return axis, low, high
