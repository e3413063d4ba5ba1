"""The questions of `BoxIndex`, answered by looking at every box: their definition, for tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints
from thatch.reduction.boxes import BoxSides as Box

__all__ = ["ScannedBoxes"]


class ScannedBoxes:
    """Boxes under numbers, in no order."""

    def __init__(self) -> None:
        self._boxes: dict[int, Box] = {}

    def __len__(self) -> int:
        return len(self._boxes)

    def __iter__(self) -> Iterator[tuple[int, Box]]:
        yield from self._boxes.items()

    def __getitem__(self, box: int) -> Box:
        return self._boxes[box]

    def add(self, box: int, axes: Ints, lows: Ints, highs: Ints) -> None:
        """Add a box under a number that is free."""
        self._boxes[box] = (np.asarray(axes, np.int32), np.asarray(lows), np.asarray(highs))

    def remove(self, box: int) -> None:
        """Remove a box."""
        del self._boxes[box]

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels."""
        labels = dict(zip(old.tolist(), new.tolist(), strict=True))
        for axes, lows, highs in self._boxes.values():
            for side in np.flatnonzero(axes == axis).tolist():
                if lows[side] > LOWEST:
                    lows[side] = labels[int(lows[side])]
                if highs[side] < HIGHEST:
                    highs[side] = labels[int(highs[side]) + 1] - 1

    def containing(self, axes: Ints, lows: Ints, highs: Ints, before: int | None = None) -> Ints:
        """The numbers of all boxes that contain the given one."""
        low, high, all_lows, all_highs, numbers = self._dense(axes, lows, highs, before)
        return numbers[((all_lows <= low) & (all_highs >= high)).all(axis=1)]

    def meeting(self, axes: Ints, lows: Ints, highs: Ints, before: int | None = None) -> Ints:
        """The numbers of all boxes that share a point with the given one."""
        low, high, all_lows, all_highs, numbers = self._dense(axes, lows, highs, before)
        return numbers[((all_lows <= high) & (all_highs >= low)).all(axis=1)]

    def inside(self, axes: Ints, lows: Ints, highs: Ints, before: int | None = None) -> Ints:
        """The numbers of all boxes that lie inside the given one."""
        low, high, all_lows, all_highs, numbers = self._dense(axes, lows, highs, before)
        return numbers[((all_lows >= low) & (all_highs <= high)).all(axis=1)]

    def question(
        self, axes: Ints, lows: Ints, highs: Ints, before: int | None = None
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Whether the boxes cover the given one, as the room's slow answers take it: only what meets it counts."""
        low, high, all_lows, all_highs, _ = self._dense(axes, lows, highs, before)
        meets = ((all_lows <= high) & (all_highs >= low)).all(axis=1)
        return low, high, all_lows[meets], all_highs[meets]

    def chosen(self, numbers: list[int]) -> ScannedBoxes:
        """Only the boxes with these numbers."""
        those = ScannedBoxes()
        those._boxes = {each: self._boxes[each] for each in numbers}
        return those

    def _dense(
        self, axes: Ints, lows: Ints, highs: Ints, before: int | None
    ) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The given box and all others, with rising numbers, on every axis that one of them constrains."""
        numbers = sorted(each for each in self._boxes if before is None or each < before)
        boxes = [(np.asarray(axes, np.int32), lows, highs)] + [self._boxes[each] for each in numbers]
        counts = [0] + [len(each[0]) for each in boxes]
        columns = (np.concatenate([each[place] for each in boxes]) for place in range(3))
        together = Boxes(np.cumsum(counts), *columns)
        all_lows, all_highs = together.dense(np.unique(together.axes))
        return all_lows[0], all_highs[0], all_lows[1:], all_highs[1:], np.array(numbers, np.int64)
