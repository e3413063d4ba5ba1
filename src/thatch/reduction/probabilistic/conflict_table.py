"""The conflict table of a box and some rows (ouksel2006, section 3), and what follows from counting its entries.

An entry is the negation of one bound of a row: `x < low` or `x > high`. It is *defined* if some point of the box satisfies
it. A witness against the cover satisfies a defined entry of each row. Two entries of different rows *conflict* if no
point of the box satisfies both, which is only possible for `x < low` and `x > high` on the same axis.

Deviations from the paper:

- Our attributes are whole numbers, so entries with nothing between them conflict even if their bounds differ: the test is
  `high >= low - 1`. `literal` uses the continuous `high >= low`, under which adjacent rows seem to leave a gap, so that
  some covered boxes are declared uncovered.
- Algorithm 2, line 8, is read as `fc >= 1` (as printed, it removes every row), and `k` is the number of rows left.
- Ends are compared with the nearest ones only: O(mk) a pass instead of O(m²k³).
- An empty minimised cover set and corollary 3 also yield a point as witness.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.reduction.boxes import Ints, check_question
from thatch.reduction.probabilistic import kernels
from thatch.reduction.problem import BoxVerdict, Point, Verdict, Work

__all__ = ["ConflictTable", "MinimisedCover"]

_UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True, eq=False)
class MinimisedCover:
    """The minimised cover set: the rows `kept`, ascending, and those `removed`, in the order of removal.

    The order does not matter: a row that can be removed can still be removed after others.
    """

    kept: Ints
    removed: Ints


class ConflictTable:
    """How a box relates to some rows. Immutable.

    Parameters
    ----------
    low, high : closed ends of the box, one whole number for each axis
    lows, highs : the same for the rows, one line each
    literal : conflicts as in the paper, for continuous attributes
    is_checked : the arrays come from `check_question`

    Raises
    ------
    BoxError
        If the arrays are not boxes, or not all on the same axes.
    """

    def __init__(
        self, low: Any, high: Any, lows: Any, highs: Any, *, literal: bool = False, is_checked: bool = False
    ) -> None:
        if not is_checked:
            low, high, lows, highs = check_question(low, high, lows, highs)
        self._boxes: tuple[Ints, Ints, Ints, Ints] = low, high, lows, highs
        self._step = 0 if literal else 1

    def __len__(self) -> int:
        return len(self._boxes[2])

    @property
    def lower(self) -> npt.NDArray[np.bool_]:
        """Whether the entry `x < low` is defined, for each row and axis."""
        low, _, lows, _ = self._boxes
        return lows > low

    @property
    def upper(self) -> npt.NDArray[np.bool_]:
        """Whether the entry `x > high` is defined, for each row and axis."""
        _, high, _, highs = self._boxes
        return highs < high

    @property
    def counts(self) -> Ints:
        """The number of defined entries of each row: the paper's t."""
        return self._tallies[0]

    @property
    def free_counts(self) -> Ints:
        """The number of defined entries of each row that conflict with nothing: the paper's fc."""
        return self._tallies[1]

    @cached_property
    def _tallies(self) -> tuple[Ints, Ints]:
        defined, free = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        kernels.tally(*self._boxes, self._step, defined, free)
        return defined, free

    def coverer(self) -> int | None:
        """A row that covers the box by itself, if there is one: no entry is defined (corollary 1)."""
        bare = np.flatnonzero(self.counts == 0)
        return int(bare[0]) if len(bare) else None

    def leaves_room(self) -> bool:
        """Whether counting shows that the box is not covered (corollary 3).

        That is so if the j-th row, in ascending order of defined entries, has at least j of them: each row before it
        rules out at most one, so that one is left to choose.
        """
        return bool(np.all(np.sort(self.counts) >= np.arange(1, len(self) + 1)))

    @cached_property
    def minimised_cover(self) -> MinimisedCover:
        """The minimised cover set (algorithm 2): the box is covered iff the rows that are kept cover it.

        A row is removed if it has an entry without conflict, or as many entries as there are rows left (proposition 3).
        """
        kept, removed = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        left = kernels.reduce(*self._boxes, self._step, kept, removed)
        return MinimisedCover(kept[:left], removed[: len(self) - left])

    def decide(self) -> BoxVerdict | None:
        """Decide by corollary 1, corollary 3 or an empty minimised cover set; None if none of them applies.

        With `literal`, a no holds for continuous attributes and may lack a witness in whole numbers.
        """
        work = Work(rows=len(self))
        if not len(self):
            return self._no("empty", np.zeros(0, np.int64), work)
        coverer = self.coverer()
        if coverer is not None:
            return Verdict(covered=True, certain=True, decided_by="pairwise", used=(coverer,), work=work)
        if self.leaves_room():
            return self._no("counting", np.argsort(self.counts, kind="stable"), work)
        if not len(self.minimised_cover.kept):
            return self._no("mcs", self.minimised_cover.removed[::-1], work)
        return None

    def witness_beside(self, point: Point) -> Point | None:
        """A witness against all rows, given a point of the box outside the rows that `minimised_cover` keeps.

        The point itself may lie in a removed row. None only with `literal`, where there may be no whole number.
        """
        return self._witness(self.minimised_cover.kept, self.minimised_cover.removed[::-1], point)

    def _witness(self, kept: Ints, order: Ints, point: Point) -> Point | None:
        found = point.copy()
        is_found = kernels.find_beside(*self._boxes, kept, np.ascontiguousarray(order), found)
        return found if is_found else None

    def _no(self, rule: str, order: Ints, work: Work) -> BoxVerdict:
        """Not covered; in this order every row finds an entry to choose."""
        witness = self._witness(order[:0], order, self._boxes[0])
        return Verdict(covered=False, certain=True, decided_by=rule, witness=witness, work=work)

    def __str__(self) -> str:
        """The table as the paper prints it (tables 4 and 7)."""
        _, _, lows, highs = self._boxes
        axes = range(1, lows.shape[1] + 1)
        heads = [f"x{axis} {bound}{axis}" for axis in axes for bound in ("< low", "> high")]
        lines = [["", *heads]]
        for row in range(len(self)):
            line = [f"s{row + 1}"]
            for axis in range(lows.shape[1]):
                line.append(f"x{axis + 1} < {lows[row, axis]}" if self.lower[row, axis] else _UNDEFINED)
                line.append(f"x{axis + 1} > {highs[row, axis]}" if self.upper[row, axis] else _UNDEFINED)
            lines.append(line)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
