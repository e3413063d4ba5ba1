"""From subscriptions to boxes in one event space, several for each subscriber."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from thatch.model.filters import Filter
from thatch.placement.arrays import Floats, Ints
from thatch.placement.event_space import EventSpace, Sides, count_sides

__all__ = ["SubscriberBoxes", "SubscriptionList", "SubscriptionSource"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SubscriberBoxes:
    """The boxes of subscribers.

    Parameters
    ----------
    subscribers : their names, in the order of their first subscription
    boxes : a row each: the low ends on all axes, then the high ends
    owners : the position in `subscribers` of the subscriber of each box
    """

    subscribers: tuple[str, ...]
    boxes: Floats
    owners: Ints

    @classmethod
    def of(cls, subscribers: Iterable[str], boxes: Floats, owners: Ints) -> SubscriberBoxes:
        """Sort boxes by subscriber, then by their ends, and drop duplicates: the order in which they come does not matter."""
        rows = np.unique(np.column_stack([owners, boxes]), axis=0)
        return cls(
            subscribers=tuple(subscribers),
            boxes=np.ascontiguousarray(rows[:, 1:]),
            owners=rows[:, 0].astype(np.int64),
        )


class SubscriptionSource(Protocol):
    """Subscriptions, wherever they are: asked first for the sides of their boxes, then for the boxes in a space."""

    def sides(self) -> Sides:
        """The intervals of all boxes, by attribute, with how many boxes have them."""

    def boxes(self, space: EventSpace) -> SubscriberBoxes:
        """The boxes of all subscribers."""


@dataclass(frozen=True, slots=True)
class SubscriptionList:
    """Subscriptions in this process: a subscriber and a filter each, in order of arrival."""

    rows: Sequence[tuple[str, Filter]]

    def sides(self) -> Sides:
        """The intervals of all boxes, by attribute, with how many boxes have them."""
        return count_sides(filter for _, filter in self.rows)

    def boxes(self, space: EventSpace) -> SubscriberBoxes:
        """The boxes of all subscribers."""
        numbers: dict[str, int] = {}
        boxes = [np.zeros((0, 2 * len(space.axes)))]
        owners: list[int] = []
        for subscriber, filter in self.rows:
            number = numbers.setdefault(subscriber, len(numbers))
            boxes.append(space.boxes_of(filter))
            owners += [number] * len(boxes[-1])
        return SubscriberBoxes.of(numbers, np.concatenate(boxes), np.array(owners, np.int64))
