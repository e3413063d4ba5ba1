"""Lists of different lengths in flat arrays: of numbers, and of boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.reduction.boxes import Boxes, Ints

__all__ = ["Grouped", "Lists"]


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Lists of numbers, one after the other; list `i` is `items[starts[i] : starts[i + 1]]`."""

    starts: Ints
    items: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def owners(self) -> Ints:
        """The list that each item is in."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def take(self, lists: Ints) -> Lists:
        """Some of the lists, in this order."""
        items, starts = _members(self.starts, lists)
        return Lists(starts, self.items[items])

    def replaced(self, lists: Ints, others: Lists) -> Lists:
        """The same with others in the place of some."""
        source = np.arange(len(self))
        source[lists] = len(self) + np.arange(len(lists))
        both = Lists(_lined_up(self.starts, others.starts), np.concatenate((self.items, others.items)))
        return both.take(source)


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Boxes in groups, one after the other; group `g` has the boxes `starts[g]` to `starts[g + 1]`."""

    starts: Ints
    boxes: Boxes

    def __len__(self) -> int:
        return len(self.starts) - 1

    def counts(self) -> Ints:
        """How many boxes each group has."""
        return np.diff(self.starts)

    def owners(self) -> Ints:
        """The group of each box."""
        return np.repeat(np.arange(len(self)), self.counts())

    def take(self, groups: Ints) -> Grouped:
        """Some of the groups, in this order."""
        boxes, starts = _members(self.starts, groups)
        sides, offsets = _members(self.boxes.offsets, boxes)
        of = self.boxes
        return Grouped(starts, Boxes(offsets, of.axes[sides], of.lows[sides], of.highs[sides]))

    def replaced(self, groups: Ints, others: Grouped) -> Grouped:
        """The same with others in the place of some."""
        source = np.arange(len(self))
        source[groups] = len(self) + np.arange(len(groups))
        a, b = self.boxes, others.boxes
        boxes = Boxes(
            _lined_up(a.offsets, b.offsets),
            np.concatenate((a.axes, b.axes)),
            np.concatenate((a.lows, b.lows)),
            np.concatenate((a.highs, b.highs)),
        )
        return Grouped(_lined_up(self.starts, others.starts), boxes).take(source)


def _members(starts: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The members of chosen groups, and where those of each begin."""
    sizes = starts[chosen + 1] - starts[chosen]
    ends = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    return np.arange(ends[-1]) + np.repeat(starts[chosen] - ends[:-1], sizes), ends


def _lined_up(starts: Ints, others: Ints) -> Ints:
    return np.concatenate((starts, starts[-1] + others[1:]))
