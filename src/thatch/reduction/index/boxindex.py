"""An index over boxes: which of them contain a box, meet it, lie inside it, and whether they cover it together.

Boxes are vectors of ends, and every question is one of dominance (`fields.py`), which k-d trees over the ends answer in
less than linear time. Group subsumption is decided by refinement (`deciding/`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, BoxSides, Ints
from thatch.reduction.index.answers import Answers, Draft, SparsePoint
from thatch.reduction.index.kernels import deciding, search, tree
from thatch.reduction.index.kernels import layout as f
from thatch.reduction.index.questions import (
    ALL,
    check_befores,
    check_budget,
    check_labels,
    check_numbers,
    check_sparse_box,
    check_sparse_boxes,
)
from thatch.reduction.index.store import TREE, Store
from thatch.reduction.index.workspace import Workspace, lent
from thatch.reduction.problem import Verdict, Work

__all__ = ["BoxIndex"]

_MOST_GARBAGE = 1 << 13  # words, below which leaves are not worth moving


class BoxIndex:
    """Boxes under numbers of the caller's choice, from 0 on. One thread at a time.

    A box is given by the `axes` that it constrains, rising, and its closed ends `lows` and `highs` on each.

    Parameters
    ----------
    arrays : what `from_arrays` checks, None for an index without boxes
    """

    def __init__(self, arrays: dict[str, Ints] | None = None) -> None:
        self._store = Store(arrays)
        self._rows: dict[int, int] | None = None  # by number, once somebody asks

    @classmethod
    def of(cls, boxes: Boxes, numbers: Any = None) -> BoxIndex:
        """An index of many boxes at once, under these numbers or 0, 1, 2, and so on."""
        boxes = check_sparse_boxes(boxes)
        numbers = check_numbers(numbers, len(boxes))
        index = cls()
        index._store.append(boxes, numbers)
        index._store.build()
        return index

    def arrays(self) -> dict[str, Ints]:
        """All that an index consists of, for `from_arrays`."""
        return self._store.arrays()

    @classmethod
    def from_arrays(cls, arrays: dict[str, Ints]) -> BoxIndex:
        """An index of what `arrays` gave. Arrays that are read-only, like mapped files, are copied when it changes."""
        missing = [name for name in TREE if name not in arrays]
        if missing:
            raise ParameterError(f"the arrays {', '.join(TREE)}", f"none called {missing[0]}", "arrays")
        return cls({name: np.asarray(arrays[name]) for name in TREE})

    # --- boxes come and go -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return int(self._store["state"][f.LIVE])

    def __contains__(self, box: object) -> bool:
        return box in self._row_of()

    def _row_of(self) -> dict[int, int]:
        if self._rows is None:
            rows = self._store.rows()
            live = np.flatnonzero(rows[:, f.ROW_LEAF] >= 0)
            self._rows = dict(zip(rows[live, f.ROW_NUMBER].tolist(), live.tolist(), strict=True))
        return self._rows

    def add(self, box: int, axes: Any, lows: Any, highs: Any) -> None:
        """Add a box under a number that is free.

        Raises
        ------
        BoxError
            If it is no box.
        ParameterError
            If the number is below 0 or taken.
        """
        axes, lows, highs = check_sparse_box(axes, lows, highs)
        rows = self._row_of()
        if not isinstance(box, int | np.integer) or not 0 <= box < ALL:
            raise ParameterError("a number from 0 on", shown(box), "box")
        if box in rows:
            raise ParameterError("a number that is free", f"{box}, which is taken", "box")
        store = self._store
        store.own()
        if len(axes):
            store.reach_axis(int(axes[-1]))
        wish = tree.add(store.description, box, axes, lows, highs)
        if wish == tree.FULL:
            store.make_room(1, len(axes))
            wish = tree.add(store.description, box, axes, lows, highs)
        rows[int(box)] = int(store["state"][f.N_ROWS]) - 1
        self._improve(wish)

    def remove(self, box: int) -> None:
        """Remove a box.

        Raises
        ------
        ParameterError
            If there is none under this number.
        """
        rows = self._row_of()
        if box not in rows:
            raise ParameterError("the number of a box", shown(box), "box")
        store = self._store
        store.own()
        tree.remove(store.description, rows.pop(box))
        self._improve(tree.ADDED)

    def _improve(self, wish: int) -> None:
        """Build trees anew: one that has become too deep, or all once half of what is kept is of no use."""
        store, state = self._store, self._store["state"]
        is_whole = wish == tree.ADDED or tree.rebuild(store.description, wish)
        if (
            not is_whole
            or state[f.N_ROWS] > 2 * state[f.LIVE] + 64
            or state[f.GARBAGE] > _MOST_GARBAGE + state[f.N_LEAVES] // 2
        ):
            store.rebuild()
            self._rows = None

    def relabel(self, axis: int, old: Any, new: Any) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order. Builds all trees anew.

        Parameters
        ----------
        old : rising labels, among which are all low ends and all high ends + 1 but those of whole axes
        new : what each becomes, rising

        Raises
        ------
        ParameterError
            If they are not rising, not as many, or lack an end.
        """
        old, new = check_labels(old, new)
        store = self._store
        rows = store.rows()
        rows = rows[rows[:, f.ROW_LEAF] >= 0]
        boxes = store.boxes(rows)
        here = boxes.axes == axis
        ends = np.concatenate((boxes.lows[here], boxes.highs[here] + 1))
        lost = np.setdiff1d(ends, np.concatenate((old, [LOWEST, HIGHEST + 1])))
        if len(lost):
            raise ParameterError("all labels of the axis", f"none for {lost[0]}", f"axis {axis}")
        renewed = Store()
        renewed.append(boxes.with_labels(axis, old, new), rows[:, f.ROW_NUMBER].copy())
        renewed.build()
        self._store, self._rows = renewed, None

    def boxes(self, numbers: Any) -> Boxes:
        """The boxes under these numbers, in this order; sides that say nothing are left out."""
        rows = self._row_of()
        try:
            places = [rows[int(each)] for each in numbers]
        except KeyError as error:
            raise ParameterError("numbers of boxes", shown(error.args[0]), "numbers") from None
        return self._store.boxes(self._store.rows()[np.array(places, np.int64)])

    # --- pairs -------------------------------------------------------------------------------------------------------

    def containing(self, axes: Any, lows: Any, highs: Any, *, before: int | None = None) -> int:
        """The number of a box that contains the given one, -1 if there is none. Large ones are looked at first.

        Parameters
        ----------
        before : only boxes with lower numbers count
        """
        axes, lows, highs = check_sparse_box(axes, lows, highs)
        with lent() as work:
            work.ends[1] = len(axes)
            work.before[0] = ALL if before is None else before
            search.containing(self._store.description, axes, lows, highs, work.ends, work.before, work.one)
            row = int(work.one[0])
        return -1 if row < 0 else int(self._store["rows"][row * f.ROW + f.ROW_NUMBER])

    def meeting(self, axes: Any, lows: Any, highs: Any, *, before: int | None = None) -> Ints:
        """The numbers of all boxes that share a point with the given one, rising."""
        return self._collected(search.meeting, check_sparse_box(axes, lows, highs), before)

    def inside(self, axes: Any, lows: Any, highs: Any, *, before: int | None = None) -> Ints:
        """The numbers of all boxes that lie inside the given one, rising."""
        box = axes, lows, highs = check_sparse_box(axes, lows, highs)
        beyond = axes >= self._store["state"][f.N_AXES]
        if (beyond & ((lows > LOWEST) | (highs < HIGHEST))).any():
            return np.zeros(0, np.int64)  # all boxes are whole on that axis
        return self._collected(search.inside, box, before)

    def _collected(self, kernel: Any, box: BoxSides, before: int | None) -> Ints:
        last = ALL if before is None else before
        with lent() as work:
            rows = work.found
            count = kernel(self._store.description, *box, last, rows)
            if count > len(rows):
                rows = work.found = np.empty(2 * count, np.int64)
                count = kernel(self._store.description, *box, last, rows)
            return np.sort(self._store["rows"][rows[:count] * f.ROW + f.ROW_NUMBER])

    # --- groups ------------------------------------------------------------------------------------------------------

    def covered(
        self, axes: Any, lows: Any, highs: Any, *, budget: float | None = None, before: int | None = None
    ) -> Verdict[SparsePoint]:
        """Whether the boxes together contain the given one.

        Parameters
        ----------
        budget : most cells that are looked at, `math.inf` for as many as it takes, None for `DEFAULT_BUDGET`
        before : only boxes with lower numbers count

        Returns
        -------
        An exact verdict, or `covered` None, decided by "budget". `used` are numbers of boxes that together contain it;
        the witness says where a point lies on some axes: on all others at `LOWEST`.
        """
        box = check_sparse_box(axes, lows, highs)
        limit, last = check_budget(budget), ALL if before is None else before
        with lent() as work:
            return self._decided(box, last, limit, work)

    def _decided(self, box: BoxSides, last: int, limit: int, work: Workspace) -> Verdict[SparsePoint]:
        store = self._store
        is_open = True
        while is_open:
            code, nodes, rounds, k, m = deciding.decide(
                store.description, work.arrays, *box, 0, len(box[0]), last, limit, 0
            )
            is_open = work.enlarge(code, len(box[0]))
        cost = Work(rows=k, nodes=nodes, rounds=rounds)
        if code == deciding.COVERED:
            used = store["rows"][work.rows[:k][work.used[:k]] * f.ROW + f.ROW_NUMBER]
            return Verdict(
                covered=True,
                certain=True,
                decided_by="branch_and_bound" if rounds else "pairwise",
                used=tuple(sorted(used.tolist())),
                work=cost,
            )
        if code == deciding.OPEN:
            return Verdict(
                covered=False,
                certain=True,
                decided_by="branch_and_bound" if k else "empty",
                witness=self._witness(work.local[:m], work.witness[:m], box),
                work=cost,
            )
        return Verdict(covered=None, certain=False, decided_by="budget", work=cost)

    def _witness(self, local: Ints, point: Ints, box: BoxSides) -> SparsePoint:
        """The point that was found last; axes that no box speaks of were left out of the search."""
        axes, lows, _ = box
        beyond = axes >= self._store["state"][f.N_AXES]
        if beyond.any():
            local, point = np.concatenate((local, axes[beyond])), np.concatenate((point, lows[beyond]))
        order = np.argsort(local)
        return local[order].astype(np.int32), point[order]

    def covered_many(
        self, boxes: Boxes, *, before: Any = None, budget: float | None = None, pairwise_only: bool = False
    ) -> Answers:
        """Whether the boxes together contain each of the given ones.

        Parameters
        ----------
        before : for each of them, only boxes with lower numbers count
        pairwise_only : only a single box that contains it counts
        """
        boxes = check_sparse_boxes(boxes)
        befores, limit = check_befores(before, len(boxes)), check_budget(budget)
        draft = Draft(len(boxes))
        columns = boxes.offsets, boxes.axes, boxes.lows, boxes.highs
        done = 0
        with lent() as work:
            while done < len(boxes):
                done, code = deciding.covered_many(
                    self._store.description,
                    work.arrays,
                    columns,
                    befores,
                    limit,
                    int(pairwise_only),
                    done,
                    *draft.arrays,
                )
                self._make_room(code, draft, work, _sides(boxes, done))
        return draft.answers()

    def stream(
        self, boxes: Boxes, numbers: Any = None, *, budget: float | None = None, pairwise_only: bool = False
    ) -> Answers:
        """Decide boxes one after the other, each against those that are here by then, and add what is not covered.

        Parameters
        ----------
        numbers : under which boxes are added; None for 0, 1, 2, and so on
        """
        boxes = check_sparse_boxes(boxes)
        numbers, limit = check_numbers(numbers, len(boxes)), check_budget(budget)
        if len(self) and not self._row_of().keys().isdisjoint(numbers.tolist()):
            raise ParameterError("numbers that are free", "some that are taken", "numbers")
        store = self._store
        store.own()
        store.reach_axis(int(boxes.axes.max(initial=-1)))
        self._rows = None
        draft = Draft(len(boxes))
        columns = boxes.offsets, boxes.axes, boxes.lows, boxes.highs
        done = 0
        with lent() as work:
            while done < len(boxes):
                done, code, wish = deciding.stream(
                    store.description,
                    work.arrays,
                    columns,
                    numbers,
                    limit,
                    int(pairwise_only),
                    done,
                    *draft.arrays,
                )
                self._make_room(code, draft, work, _sides(boxes, done))
                if wish == tree.FULL:
                    store.make_room(1, _sides(boxes, done))
                else:
                    self._improve(wish)
        return draft.answers()

    def _make_room(self, code: int, draft: Draft, work: Workspace, sides: int) -> None:
        """Do what a kernel stopped for, at a box with so many sides."""
        if code == deciding.LONGER:
            draft.lengthen()
        elif code != deciding.DONE:
            work.enlarge(code, sides)


def _sides(boxes: Boxes, box: int) -> int:
    """How many sides a box has; 0 beyond the last."""
    return int(boxes.offsets[box + 1] - boxes.offsets[box]) if box < len(boxes) else 0
