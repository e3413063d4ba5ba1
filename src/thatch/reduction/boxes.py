"""Boxes as arrays: closed intervals of whole numbers on numbered axes.

All algorithms of the room work on these. An axis stands for an attribute; the numbers are labels of cells between cuts,
so that open and closed bounds, text, null and missing need no special case. A box that says nothing of an axis lies
anywhere on it: from `LOWEST` to `HIGHEST`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.errors import BoxError, shown

__all__ = [
    "HIGHEST",
    "LOWEST",
    "MOST_AXES",
    "Boxes",
    "Ints",
    "checked",
    "checked_many",
    "in_cells",
    "log_volume",
]

# Widths and sums of two ends never overflow.
LOWEST = -(2**61)
HIGHEST = 2**61 - 1
MOST_AXES = 65_536  # of boxes given as arrays

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Some boxes; each lists the axes that it constrains, rising. Not changed once made.

    Box `b` has the sides `offsets[b]` to `offsets[b + 1]`: `axes`, `lows` and `highs` of each.
    """

    offsets: Ints
    axes: npt.NDArray[np.int32]
    lows: Ints
    highs: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.int32], Ints, Ints]]:
        """Axes, lows and highs of one box after the other."""
        ends = self.offsets.tolist()
        for start, end in pairwise(ends):
            yield self.axes[start:end], self.lows[start:end], self.highs[start:end]

    @classmethod
    def of(cls, lows: Ints, highs: Ints) -> Boxes:
        """Boxes of arrays with a row for each and a column for each axis, as `checked_many` gives them."""
        is_side = (lows > LOWEST) | (highs < HIGHEST)
        offsets = np.zeros(len(lows) + 1, np.int64)
        np.cumsum(is_side.sum(axis=1), out=offsets[1:])
        axes = np.broadcast_to(np.arange(lows.shape[1], dtype=np.int32), lows.shape)[is_side]
        return cls(offsets, axes, lows[is_side], highs[is_side])

    def dense(self, axes: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
        """Lows and highs with a column for each of these rising axes, among which are all that are constrained."""
        lows = np.full((len(self), len(axes)), LOWEST, np.int64)
        highs = np.full((len(self), len(axes)), HIGHEST, np.int64)
        row = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        column = np.searchsorted(axes, self.axes)
        lows[row, column] = self.lows
        highs[row, column] = self.highs
        return lows, highs

    def relabelled(self, axis: int, old: Ints, new: Ints) -> Boxes:
        """The same boxes with other labels on one axis.

        Parameters
        ----------
        old : rising labels, among which are all low ends and all high ends + 1 but those of whole axes
        new : what each becomes, rising
        """
        here = np.flatnonzero(self.axes == axis)
        if not len(here):
            return self
        lows, highs = self.lows.copy(), self.highs.copy()
        ends = highs[here] + 1
        lows[here] = np.where(lows[here] == LOWEST, LOWEST, new[np.searchsorted(old, lows[here]) % len(old)])
        highs[here] = np.where(ends == HIGHEST + 1, HIGHEST, new[np.searchsorted(old, ends) % len(old)] - 1)
        return Boxes(self.offsets, self.axes, lows, highs)


def in_cells(low: Ints, high: Ints, lows: Ints, highs: Ints) -> tuple[Ints, Ints, Ints, list[Ints]]:
    """Boxes that meet a box, cut to it, in cells: whole numbers that count the intervals between neighbouring ends.

    Random points are drawn in cells, where every interval is as wide as any other: labels have no meaning but order.

    Returns
    -------
    The highest cell of the box on every axis (its lowest is 0), the lows and highs of the others, and for every axis the
    labels at which its cells begin.
    """
    lows, highs = np.maximum(lows, low), np.minimum(highs, high)
    starts = [
        np.unique(np.concatenate((low[axis : axis + 1], lows[:, axis], highs[:, axis] + 1)))
        for axis in range(len(low))
    ]
    starts = [each[each <= end] for each, end in zip(starts, high, strict=True)]
    first, last = np.empty_like(lows), np.empty_like(highs)
    for axis, each in enumerate(starts):
        first[:, axis] = np.searchsorted(each, lows[:, axis])
        last[:, axis] = np.searchsorted(each, highs[:, axis] + 1) - 1
    top = np.array([len(each) - 1 for each in starts], np.int64)
    return top, first, last, starts


def log_volume(boxes: Boxes) -> float:
    """The logarithm of the volume of the largest box, relative to the whole space: only ever used to order work."""
    widths = np.log((boxes.highs - boxes.lows + 1.0) / (HIGHEST - LOWEST + 1.0))
    # Each box by itself, so that equal ones have the same volume whatever stands beside them.
    owner = np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))
    volumes = np.zeros(len(boxes))
    np.add.at(volumes, owner, widths)
    return float(np.max(volumes, initial=-np.inf))


def checked(low: Any, high: Any, where: str = "the box") -> tuple[Ints, Ints]:
    """One box as two arrays of whole numbers.

    Raises
    ------
    BoxError
        If they are none: lengths that differ, fractions, NaN, a low end above the high one.
    """
    lows, highs = checked_many(_vector(low, where)[None, :], _vector(high, where)[None, :], where=where)
    return lows[0], highs[0]


def checked_many(
    lows: Any, highs: Any, axes: int | None = None, where: str = "the boxes"
) -> tuple[Ints, Ints]:
    """Boxes as two contiguous arrays with a row for each box and a column for each axis.

    Parameters
    ----------
    axes : how many axes there must be, None for any number
    """
    low, high = _matrix(lows, axes, where), _matrix(highs, axes, where)
    if low.shape != high.shape:
        raise BoxError("as many low as high ends", f"arrays of shape {low.shape} and {high.shape}", where)
    if axes is not None and low.shape[1] != axes:
        raise BoxError(f"boxes with {axes} axes", f"boxes with {low.shape[1]}", where)
    if low.shape[1] > MOST_AXES:
        raise BoxError(f"at most {MOST_AXES:,} axes", f"{low.shape[1]:,}", where)
    low, high = _whole(low, where), _whole(high, where)
    is_wrong = low > high
    if is_wrong.any():
        box, axis = (int(each) for each in np.argwhere(is_wrong)[0])
        raise BoxError(
            "a low end that is not above the high one",
            f"{low[box, axis]} and {high[box, axis]}",
            f"{where}, box {box}, axis {axis}",
        )
    return low, high


def _vector(values: Any, where: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise BoxError("one number for each axis", shown(values), where)
    return array


def _matrix(values: Any, axes: int | None, where: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise BoxError("boxes with the same axes", "rows of different lengths", where) from error
    if array.size == 0 and array.ndim < 2:  # no boxes at all
        return np.zeros((0, axes or 0), np.int64)
    if array.ndim != 2:
        raise BoxError("an array with a row for each box", f"one of shape {array.shape}", where)
    return array


def _whole(array: npt.NDArray[Any], where: str) -> Ints:
    """The same numbers as 64-bit integers within the ends of every axis."""
    if array.dtype.kind not in "iuf":
        raise BoxError("whole numbers", f"an array of {array.dtype}", where)
    with np.errstate(invalid="ignore"):
        inside = (array >= LOWEST) & (array <= HIGHEST)
    if not inside.all():
        box, axis = (int(each) for each in np.argwhere(~inside)[0])
        raise BoxError(
            f"whole numbers from {LOWEST} to {HIGHEST}",
            shown(array[box, axis].item()),
            f"{where}, box {box}, axis {axis}",
        )
    whole = np.ascontiguousarray(array, np.int64)
    if array.dtype.kind == "f" and (whole != array).any():
        box, axis = (int(each) for each in np.argwhere(whole != array)[0])
        raise BoxError("whole numbers", shown(array[box, axis].item()), f"{where}, box {box}, axis {axis}")
    return whole
