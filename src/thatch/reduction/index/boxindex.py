"""An index over boxes: which of them contain a box, meet it or lie inside it, and whether they cover it together.

Boxes are vectors of ends, and every question is one of dominance (`records.py`), which k-d trees over the ends answer in
less than linear time. Group subsumption is decided by refinement (`kernels/deciding.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, BoxSides, Ints, check_labels
from thatch.reduction.index.arrays import SAVED, IndexArrays
from thatch.reduction.index.kernels import deciding, search, tree
from thatch.reduction.index.questions import (
    ALL,
    check_befores,
    check_budget,
    check_numbers,
    check_sparse_box,
    check_sparse_boxes,
)
from thatch.reduction.index.records import ROW, IndexRow
from thatch.reduction.index.workspace import Answers, DecisionWorkspace, SparsePoint, borrow_workspace
from thatch.reduction.problem import Verdict, Work

__all__ = ["BoxIndex"]


class BoxIndex:
    """Boxes under numbers of the caller's choice, from 0 on. Not safe for concurrent use.

    A box is given by the `axes` that it constrains, ascending, and its closed ends `lows` and `highs` on each. Where a
    question has a limit `before`, only boxes with lower numbers count.
    """

    def __init__(self, arrays: dict[str, Ints] | None = None) -> None:
        self._arrays = IndexArrays(arrays)
        self._rows: dict[int, int] | None = None  # by number, once needed

    @classmethod
    def of(cls, boxes: Boxes, numbers: Any = None) -> BoxIndex:
        """An index of many boxes at once, under these numbers or 0, 1, 2, and so on."""
        boxes = check_sparse_boxes(boxes)
        numbers = check_numbers(numbers, len(boxes))
        index = cls()
        index._arrays.append(boxes, numbers)
        index._arrays.build()
        return index

    def arrays(self) -> dict[str, Ints]:
        """Copies of all arrays that the index consists of, for `from_arrays`."""
        return self._arrays.save()

    @classmethod
    def from_arrays(cls, arrays: dict[str, Ints]) -> BoxIndex:
        """An index of the arrays that `arrays` returned. Read-only arrays, such as mapped files, are copied on change."""
        missing = [name for name in SAVED if name not in arrays]
        if missing:
            raise ParameterError(f"the arrays {', '.join(SAVED)}", f"none called {missing[0]}", "arrays")
        return cls({name: np.asarray(arrays[name]) for name in SAVED})

    # --- adding and removing -----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._arrays.state.live)

    def __contains__(self, box: object) -> bool:
        return box in self._row_of()

    def _row_of(self) -> dict[int, int]:
        if self._rows is None:
            rows = self._arrays.rows()
            live = np.flatnonzero(rows[:, IndexRow.leaf] >= 0)
            self._rows = dict(zip(rows[live, IndexRow.number].tolist(), live.tolist(), strict=True))
        return self._rows

    def add(self, box: int, axes: Any, lows: Any, highs: Any) -> None:
        """Add a box under an unused number."""
        axes, lows, highs = check_sparse_box(axes, lows, highs)
        rows = self._row_of()
        if not isinstance(box, int | np.integer) or not 0 <= box < ALL:
            raise ParameterError("a number of at least 0", shown(box), "box")
        if box in rows:
            raise ParameterError(f"The number {box} is in use (remove its box first)", where="box")
        arrays = self._arrays
        arrays.make_writable()
        if len(axes):
            arrays.add_axes(int(axes[-1]))
        wish = tree.add(arrays.table, box, axes, lows, highs)
        if wish == tree.FULL:
            arrays.make_room(1, len(axes))
            wish = tree.add(arrays.table, box, axes, lows, highs)
        rows[int(box)] = int(arrays.state.n_rows) - 1
        self._improve(wish)

    def remove(self, box: int) -> None:
        """Remove a box."""
        rows = self._row_of()
        if box not in rows:
            raise ParameterError("the number of a box", shown(box), "box")
        self._arrays.make_writable()
        self._improve(tree.remove(self._arrays.table, rows.pop(box)))

    def _improve(self, wish: int) -> None:
        """Build one tree again, or all of them, if the last change asks for it."""
        if wish != tree.ADDED and (wish == tree.STALE or not tree.rebuild(self._arrays.table, wish)):
            self._arrays.rebuild()
            self._rows = None

    def relabel(self, axis: int, old: Any, new: Any) -> None:
        """Replace the labels of all boxes on one axis by others, both ascending, and build all trees again.

        The old labels include every low and every high + 1, except the ends of the axis.
        """
        rows = self._arrays.live_rows()
        boxes = self._arrays.boxes(rows)
        here = boxes.axes == axis
        ends = np.concatenate((boxes.lows[here], boxes.highs[here] + 1))
        old, new = check_labels(ends[(ends > LOWEST) & (ends <= HIGHEST)], old, new)
        self._arrays = IndexArrays()
        self._arrays.append(boxes.with_labels(axis, old, new), rows[:, IndexRow.number].copy())
        self._arrays.build()
        self._rows = None

    def boxes(self, numbers: Any) -> Boxes:
        """The boxes with these numbers, in this order, without sides that span their axis."""
        rows = self._row_of()
        try:
            chosen = [rows[int(each)] for each in numbers]
        except KeyError as error:
            raise ParameterError("numbers of boxes", shown(error.args[0]), "numbers") from None
        return self._arrays.boxes(self._arrays.rows()[np.array(chosen, np.int64)])

    # --- pairs -------------------------------------------------------------------------------------------------------

    def find_container(self, axes: Any, lows: Any, highs: Any, *, before: int | None = None) -> int:
        """The number of a box that contains the given one, -1 if there is none. Large boxes are tried first."""
        box = check_sparse_box(axes, lows, highs)
        return int(search.container_number(self._arrays.table, *box, ALL if before is None else before))

    def find_meeting(self, axes: Any, lows: Any, highs: Any, *, before: int | None = None) -> Ints:
        """The numbers of all boxes that share a point with the given one, ascending."""
        return self._collect(search.meeting_numbers, check_sparse_box(axes, lows, highs), before)

    def find_inside(self, axes: Any, lows: Any, highs: Any, *, before: int | None = None) -> Ints:
        """The numbers of all boxes inside the given one, ascending."""
        box = axes, lows, highs = check_sparse_box(axes, lows, highs)
        unknown = axes >= self._arrays.state.n_axes
        if (unknown & ((lows > LOWEST) | (highs < HIGHEST))).any():
            return np.zeros(0, np.int64)  # all boxes span that axis
        return self._collect(search.inside_numbers, box, before)

    def _collect(self, kernel: Any, box: BoxSides, before: int | None) -> Ints:
        last = ALL if before is None else before
        with borrow_workspace() as work:
            count = kernel(self._arrays.table, *box, last, work.found)
            if count > len(work.found):
                work.found = np.empty(2 * count, np.int64)
                count = kernel(self._arrays.table, *box, last, work.found)
            return np.sort(work.found[:count])

    # --- groups ------------------------------------------------------------------------------------------------------

    def decide(
        self, axes: Any, lows: Any, highs: Any, *, budget: float | None = None, before: int | None = None
    ) -> Verdict[SparsePoint]:
        """Decide whether the boxes together contain the given one.

        The budget is the most cells to search, `math.inf` for no limit, None for `DEFAULT_BUDGET`.

        Returns
        -------
        An exact verdict, or `covered` None, decided by "budget". `used` has the numbers of boxes that together contain
        the given one. The witness is a point on some axes; on all others it lies at `LOWEST`.
        """
        box = check_sparse_box(axes, lows, highs)
        limit, last = check_budget(budget), ALL if before is None else before
        with borrow_workspace() as work:
            return self._decide(box, last, limit, work)

    def _decide(self, box: BoxSides, last: int, limit: int, work: DecisionWorkspace) -> Verdict[SparsePoint]:
        arrays = self._arrays
        needs_room = True
        while needs_room:
            code, nodes, rounds, k, m = deciding.decide(
                arrays.table, work.arrays, *box, 0, len(box[0]), last, limit, 0
            )
            needs_room = work.enlarge(code, len(box[0]))
        cost = Work(rows=k, nodes=nodes, rounds=rounds)
        if code == deciding.COVERED:
            used = arrays.record.rows[work.rows[:k][work.used[:k]] * ROW + IndexRow.number]
            rule = "branch_and_bound" if rounds else "pairwise"
            proof = tuple(sorted(used.tolist()))
            return Verdict(covered=True, certain=True, decided_by=rule, used=proof, work=cost)
        if code == deciding.OPEN:
            rule = "branch_and_bound" if k else "empty"
            witness = self._witness(work.local[:m], work.witness[:m], box)
            return Verdict(covered=False, certain=True, decided_by=rule, witness=witness, work=cost)
        return Verdict(covered=None, certain=False, decided_by="budget", work=cost)

    def _witness(self, local: Ints, point: Ints, box: BoxSides) -> SparsePoint:
        """The point that the search found, with the axes that it left out because no box constrains them."""
        axes, lows, _ = box
        unknown = axes >= self._arrays.state.n_axes
        if unknown.any():
            local, point = np.concatenate((local, axes[unknown])), np.concatenate((point, lows[unknown]))
        order = np.argsort(local)
        return local[order].astype(np.int32), point[order]

    def decide_many(
        self, boxes: Boxes, *, before: Any = None, budget: float | None = None, pairwise_only: bool = False
    ) -> Answers:
        """Decide for each of the given boxes whether the boxes of the index together contain it.

        With `pairwise_only`, only a single box that contains it counts.
        """
        boxes = check_sparse_boxes(boxes)
        befores, limit = check_befores(before, len(boxes)), check_budget(budget)
        return self._decide_many(boxes, befores, np.zeros(0, np.int64), limit, pairwise_only=pairwise_only)

    def stream(
        self, boxes: Boxes, numbers: Any = None, *, budget: float | None = None, pairwise_only: bool = False
    ) -> Answers:
        """Decide boxes one after the other, each against those in the index by then, and add those not covered.

        They are added under these numbers, or 0, 1, 2, and so on.
        """
        boxes = check_sparse_boxes(boxes)
        numbers, limit = check_numbers(numbers, len(boxes)), check_budget(budget)
        if len(self) and not self._row_of().keys().isdisjoint(numbers.tolist()):
            raise ParameterError("Some of the numbers are in use", where="numbers")
        self._arrays.make_writable()
        self._arrays.add_axes(int(boxes.axes.max(initial=-1)))
        self._rows = None
        befores = check_befores(None, len(boxes))
        answers = self._decide_many(boxes, befores, numbers, limit, pairwise_only=pairwise_only)
        if tree.is_stale(self._arrays.table):
            self._arrays.rebuild()
        return answers

    def _decide_many(
        self, boxes: Boxes, befores: Ints, numbers: Ints, limit: int, *, pairwise_only: bool
    ) -> Answers:
        arrays, count = self._arrays, len(boxes)
        columns = boxes.offsets, boxes.axes, boxes.lows, boxes.highs
        options = befores, numbers, limit, int(pairwise_only)
        codes, used_at = np.zeros(count, np.int8), np.zeros(count + 1, np.int64)
        used, cost = np.empty(max(64, 2 * count), np.int64), np.zeros((count, 2), np.int64)
        done = 0
        with borrow_workspace() as work:
            while done < count:
                done, code, wish = deciding.decide_many(
                    arrays.table, work.arrays, columns, *options, done, codes, used_at, used, cost
                )
                sides = int(boxes.offsets[done + 1] - boxes.offsets[done]) if done < count else 0
                if code == deciding.LONGER:
                    used = np.concatenate((used, np.empty_like(used)))
                elif code != deciding.DONE:
                    work.enlarge(code, sides)
                elif wish == tree.FULL:
                    arrays.make_room(1, sides)
                else:
                    self._improve(wish)
        return Answers(codes, used_at, used[: used_at[-1]].copy(), cost[:, 0].copy(), cost[:, 1].copy())
