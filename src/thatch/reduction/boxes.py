"""Boxes as arrays: closed intervals of whole numbers on numbered axes.

All algorithms of the room work on these. An axis stands for an attribute; the numbers are labels of cells between cuts,
so that open and closed bounds, text, null and missing need no special case. A box that says nothing of an axis lies
anywhere on it: from `LOWEST` to `HIGHEST`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.errors import BoxError, shown

__all__ = ["HIGHEST", "LOWEST", "MOST_AXES", "Boxes", "Ints", "checked", "checked_many"]

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
