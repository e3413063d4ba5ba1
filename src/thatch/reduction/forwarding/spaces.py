"""Negative spaces in the contract of all policies.

A space keeps the boxes of all rows, also of passive ones, since it looks at them again by itself.
"""

from __future__ import annotations

from thatch.errors import SubscriptionError, UnknownSubscriptionError, shown
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.forwarding.rows import Source
from thatch.reduction.moves import Moves
from thatch.reduction.negative_space import ApproximateNegativeSpace, NegativeSpace

__all__ = ["SpaceRows"]


class SpaceRows:
    """Rows on one link, kept by a space.

    Parameters
    ----------
    space : an empty one
    source : knows what rows ask for; without one, `add` is told
    """

    def __init__(self, space: NegativeSpace | ApproximateNegativeSpace, source: Source | None) -> None:
        self._space = space
        self._source = source
        self._order: dict[int, None] = {}
        self._unbounded: set[int] = set()  # rows with too many boxes: always active, and no part of the space

    @property
    def active(self) -> tuple[int, ...]:
        """The rows that were forwarded, in the order in which they came."""
        passive = set(self._space.passive)
        return tuple(row for row in self._order if row not in passive)

    @property
    def passive(self) -> tuple[int, ...]:
        """The rows that need not be known, in the order in which they came."""
        return self._space.passive

    def is_active(self, row: int) -> bool:
        """Whether a row was forwarded."""
        return row in self._order and row not in self._space.passive

    def proof(self, row: int) -> tuple[int, ...] | None:  # noqa: ARG002 - the contract's name
        """None: a space does not know who covers what."""
        return None

    def moved_to(self, source: Source) -> bool:  # noqa: ARG002
        """False: the space itself has the labels of rows that are gone. A set that is rebuilt begins a new one."""
        return False

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        passive = len(self._space.passive)
        return {**self._space.stats(), "active": len(self._order) - passive, "passive": passive}

    def add(self, row: int, boxes: Boxes | None = None) -> Moves:
        """Take in a row under a number that is free; `boxes` is what it asks for, where no source tells it."""
        if row in self._order:
            raise SubscriptionError("a row that is not in the set", shown(row))
        if boxes is None and self._source is not None:
            boxes = self._source.boxes(row)
        if boxes is None:
            self._unbounded.add(row)
            moves = Moves((row,), ())
        else:
            moves = self._space.add(row, boxes)
        self._order[row] = None
        return moves

    def remove(self, row: int) -> Moves:
        """Forget a row."""
        if row not in self._order:
            raise UnknownSubscriptionError(row)
        if row in self._unbounded:
            self._unbounded.remove(row)
            moves = Moves((), (row,))
        else:
            moves = self._space.remove(row)
        del self._order[row]
        return moves

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order."""
        self._space.relabel(axis, old, new)
