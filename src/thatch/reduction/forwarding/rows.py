"""What rows ask for: given as boxes, or known by somebody who can say it anew."""

from __future__ import annotations

from typing import Protocol

from thatch.reduction.boxes import Boxes, Ints

__all__ = ["Source", "Stored"]


class Source(Protocol):
    """Knows the boxes of rows, under the labels of the moment."""

    def boxes(self, row: int) -> Boxes | None:
        """The boxes that hold just what a row asks for, None if there would be too many."""

    def question(self, row: int) -> Boxes | None:
        """Boxes around what a row asks for, as tight as is known, None if there would be too many."""


class Stored:
    """Rows that were given as boxes."""

    def __init__(self) -> None:
        self._boxes: dict[int, Boxes] = {}

    def put(self, row: int, boxes: Boxes) -> None:
        """Keep what a row asks for."""
        self._boxes[row] = boxes

    def drop(self, row: int) -> None:
        """Forget a row, if it is kept here."""
        self._boxes.pop(row, None)

    def boxes(self, row: int) -> Boxes | None:
        """What was given."""
        return self._boxes[row]

    question = boxes

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order."""
        for row, boxes in self._boxes.items():
            self._boxes[row] = boxes.relabelled(axis, old, new)
