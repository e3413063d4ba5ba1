"""What subscribers want: closed boxes in event space, several for a subscriber with several filters.

Many subscribers want the same, so distinct interests are kept once, and each subscriber has the number of its interest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.errors import BoxError, shown
from thatch.placement.arrays import ArrayLike, Floats, Ints, distinct_rows

__all__ = ["Interests"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Interests:
    """The distinct interests; number `q` has the rows `start[q]` to `start[q + 1]` of `boxes`, lows before highs."""

    boxes: Floats
    start: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def axes(self) -> int:
        """How many axes event space has."""
        return int(self.boxes.shape[1]) // 2

    def of(self, interest: int) -> Floats:
        """The boxes of one interest."""
        return self.boxes[self.start[interest] : self.start[interest + 1]]

    def rows_of(self, interests: Ints) -> tuple[Ints, Ints]:
        """The rows of `boxes` that belong to these interests, and for each row the position of its interest in the argument."""
        sizes = self.start[interests + 1] - self.start[interests]
        owner = np.repeat(np.arange(len(interests)), sizes)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.start[interests][owner] + within, owner

    @classmethod
    def read(
        cls, lows: ArrayLike, highs: ArrayLike, owners: ArrayLike | None, subscribers: int
    ) -> tuple[Interests, Ints]:
        """Check boxes and find the distinct interests; also which of them each subscriber has.

        Parameters
        ----------
        lows, highs : a row for each box, a column for each axis
        owners : the subscriber of each box; None if box j belongs to subscriber j

        Raises
        ------
        BoxError
            If an array does not hold boxes, or a subscriber has none.
        """
        boxes = _read_boxes(lows, highs)
        if owners is None:
            if len(boxes) != subscribers:
                raise BoxError(
                    f"a box for each of {subscribers} subscribers", f"{len(boxes)} boxes", "interests"
                )
            first, number = distinct_rows(boxes)
            return cls(boxes=boxes[first], start=np.arange(len(first) + 1)), number
        return cls._with_owners(boxes, _read_owners(owners, len(boxes), subscribers), subscribers)

    @classmethod
    def _with_owners(cls, boxes: Floats, owners: Ints, subscribers: int) -> tuple[Interests, Ints]:
        first, number = distinct_rows(boxes)
        pairs = np.unique(np.column_stack([owners, number]), axis=0)  # a box given twice counts once
        ends = np.searchsorted(pairs[:, 0], np.arange(subscribers + 1))
        if (np.diff(ends) == 0).any():
            lonely = int(np.flatnonzero(np.diff(ends) == 0)[0])
            raise BoxError("Subscriber has no box", where=f"subscriber {lonely}")
        known: dict[bytes, int] = {}
        interest_of = np.empty(subscribers, np.int64)
        rows: list[Ints] = []
        for subscriber in range(subscribers):
            mine = pairs[ends[subscriber] : ends[subscriber + 1], 1]
            interest_of[subscriber] = known.setdefault(mine.tobytes(), len(known))
            if len(known) > len(rows):
                rows.append(first[mine])
        start = np.concatenate([[0], np.cumsum([len(each) for each in rows])]).astype(np.int64)
        return cls(boxes=np.ascontiguousarray(boxes[np.concatenate(rows)]), start=start), interest_of


def _read_boxes(lows: ArrayLike, highs: ArrayLike) -> Floats:
    try:
        low, high = np.asarray(lows, np.float64), np.asarray(highs, np.float64)
    except (TypeError, ValueError) as error:
        raise BoxError("rows of numbers", shown(lows), "interests") from error
    if low.ndim != 2 or low.shape != high.shape or low.shape[1] < 1:
        raise BoxError(
            "low and high ends of the same shape, a row for each box",
            f"arrays of shape {low.shape} and {high.shape}",
            "interests",
        )
    bad = ~np.isfinite(low) | ~np.isfinite(high) | (low > high)
    if bad.any():
        box, axis = (int(each) for each in np.argwhere(bad)[0])
        raise BoxError(
            "finite ends, low ≤ high",
            f"{low[box, axis]} and {high[box, axis]}",
            f"interests, box {box}, axis {axis}",
        )
    return np.ascontiguousarray(np.hstack([low, high]) + 0.0)


def _read_owners(owners: ArrayLike, boxes: int, subscribers: int) -> Ints:
    array = np.asarray(owners)
    if array.shape != (boxes,) or array.dtype.kind not in "iu":
        raise BoxError(f"the subscriber of each of {boxes} boxes", shown(owners), "owners")
    if len(array) and (array.min() < 0 or array.max() >= subscribers):
        raise BoxError(
            f"subscribers from 0 to {subscribers - 1}", f"{array.min()} to {array.max()}", "owners"
        )
    return array.astype(np.int64)
