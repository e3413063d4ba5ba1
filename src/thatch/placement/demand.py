"""What subscribers want, gathered from their subscriptions: boxes in one event space, several a subscriber."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from thatch.model.filters import Filter
from thatch.placement.event_space import EventSpace, Sides, counted
from thatch.placement.rows import Floats, Ints

__all__ = ["Demand", "Gathered", "Subscriptions"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Demand:
    """The boxes of subscribers.

    Parameters
    ----------
    subscribers : their names, in the order of their first subscription
    boxes : a row each: the low ends on all axes, then the high ends
    owners : whose each is, as a place in `subscribers`
    """

    subscribers: tuple[str, ...]
    boxes: Floats
    owners: Ints

    @classmethod
    def of(cls, subscribers: Iterable[str], boxes: Floats, owners: Ints) -> Demand:
        """The same whatever the order in which boxes were found: by subscriber, then by their ends, each once."""
        rows = np.unique(np.column_stack([owners, boxes]), axis=0)
        return cls(
            subscribers=tuple(subscribers),
            boxes=np.ascontiguousarray(rows[:, 1:]),
            owners=rows[:, 0].astype(np.int64),
        )


class Gathered(Protocol):
    """Subscriptions, wherever they are: asked first what their boxes have for sides, then for the boxes in a space."""

    def sides(self) -> Sides:
        """The intervals of all boxes, by attribute, with how many boxes have them."""

    def demand(self, space: EventSpace) -> Demand:
        """The boxes of all subscribers."""


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """Subscriptions in this process: a subscriber and a filter each, in the order in which they came."""

    rows: Sequence[tuple[str, Filter]]

    def sides(self) -> Sides:
        """The intervals of all boxes, by attribute, with how many boxes have them."""
        return counted(filter for _, filter in self.rows)

    def demand(self, space: EventSpace) -> Demand:
        """The boxes of all subscribers."""
        numbers: dict[str, int] = {}
        boxes = [np.zeros((0, 2 * len(space.axes)))]
        owners: list[int] = []
        for subscriber, filter in self.rows:
            number = numbers.setdefault(subscriber, len(numbers))
            boxes.append(space.boxes_of(filter))
            owners += [number] * len(boxes[-1])
        return Demand.of(numbers, np.concatenate(boxes), np.array(owners, np.int64))
