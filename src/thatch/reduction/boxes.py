"""Boxes as arrays: closed intervals of whole numbers on numbered axes.

Every algorithm of the package works on these. An axis stands for an attribute. The numbers are labels of cells between
cuts, so that open and closed bounds, text, null and missing values need no special case. A box that does not constrain
an axis spans it: from `LOWEST` to `HIGHEST`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.errors import BoxError, ParameterError, shown

__all__ = [
    "HIGHEST",
    "LOWEST",
    "MOST_AXES",
    "BoxSides",
    "Boxes",
    "Ints",
    "check_box",
    "check_boxes",
    "check_labels",
    "check_question",
    "log_volume",
    "relabel_ends",
    "to_cells",
]

# Widths and sums of two ends never overflow.
LOWEST = -(2**61)
HIGHEST = 2**61 - 1
MOST_AXES = 65_536  # of boxes given as arrays

Ints = npt.NDArray[np.int64]
BoxSides = tuple[
    npt.NDArray[np.int32], Ints, Ints
]  # one box: the axes it constrains, its lows and its highs there


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """Some boxes, each with the axes that it constrains in ascending order. Immutable.

    Box `b` has the sides `offsets[b]` to `offsets[b + 1]`: `axes`, `lows` and `highs` of each.
    """

    offsets: Ints
    axes: npt.NDArray[np.int32]
    lows: Ints
    highs: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[BoxSides]:
        """Iterate over the axes, lows and highs of each box."""
        ends = self.offsets.tolist()
        for start, end in pairwise(ends):
            yield self.axes[start:end], self.lows[start:end], self.highs[start:end]

    @classmethod
    def of(cls, lows: Ints, highs: Ints) -> Boxes:
        """Make boxes of arrays with a row for each box and a column for each axis, as `check_boxes` returns them."""
        is_side = (lows > LOWEST) | (highs < HIGHEST)
        offsets = np.zeros(len(lows) + 1, np.int64)
        np.cumsum(is_side.sum(axis=1), out=offsets[1:])
        axes = np.broadcast_to(np.arange(lows.shape[1], dtype=np.int32), lows.shape)[is_side]
        return cls(offsets, axes, lows[is_side], highs[is_side])

    @classmethod
    def join(cls, boxes: Sequence[BoxSides]) -> Boxes:
        """Make boxes of the sides of each."""
        offsets = np.zeros(len(boxes) + 1, np.int64)
        np.cumsum([len(axes) for axes, _, _ in boxes], out=offsets[1:])
        if not boxes:
            nothing = np.zeros(0, np.int64)
            return cls(offsets, np.zeros(0, np.int32), nothing, nothing)
        axes, lows, highs = (np.concatenate(each) for each in zip(*boxes, strict=True))
        return cls(offsets, axes.astype(np.int32), lows, highs)

    def dense(self, axes: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Ints]:
        """Lows and highs with a column for each of these ascending axes, which include all that are constrained."""
        lows = np.full((len(self), len(axes)), LOWEST, np.int64)
        highs = np.full((len(self), len(axes)), HIGHEST, np.int64)
        row = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        column = np.searchsorted(axes, self.axes)
        lows[row, column] = self.lows
        highs[row, column] = self.highs
        return lows, highs

    def with_labels(self, axis: int, old: Ints, new: Ints) -> Boxes:
        """The same boxes with new labels on one axis; see `relabel_ends`."""
        here = np.flatnonzero(self.axes == axis)
        if not len(here):
            return self
        lows, highs = self.lows.copy(), self.highs.copy()
        lows[here], highs[here] = relabel_ends(lows[here], highs[here], old, new)
        return Boxes(self.offsets, self.axes, lows, highs)


def relabel_ends(lows: Ints, highs: Ints, old: Ints, new: Ints) -> tuple[Ints, Ints]:
    """Replace the labels of ends on one axis; `LOWEST` and `HIGHEST` stay.

    The old labels, ascending, include every low and every high + 1; the new ones are ascending, too.
    """
    ends = highs + 1
    new_lows = np.where(lows == LOWEST, LOWEST, new[np.searchsorted(old, lows) % len(old)])
    new_highs = np.where(ends == HIGHEST + 1, HIGHEST, new[np.searchsorted(old, ends) % len(old)] - 1)
    return new_lows, new_highs


def check_labels(used: Ints, old: Any, new: Any) -> tuple[Ints, Ints]:
    """Check labels and their replacements: as many of both, ascending, not beyond the ends of an axis, and all in use."""
    old, new = np.asarray(old, np.int64), np.asarray(new, np.int64)
    if len(old) != len(new):
        raise ParameterError("as many new as old labels", f"{len(new)} for {len(old)}", "the labels")
    for labels in (old, new):
        if (labels[1:] <= labels[:-1]).any():
            raise ParameterError("ascending labels", shown(labels.tolist()), "the labels")
    if len(new) and not (new[0] > LOWEST and new[-1] <= HIGHEST):
        raise ParameterError(
            f"labels above {LOWEST} and up to {HIGHEST}", f"{new[0]} to {new[-1]}", "the labels"
        )
    lost = np.setdiff1d(used, old)
    if len(lost):
        raise ParameterError("all labels in use", f"none for {lost[0]}", "the labels")
    return old, new


def to_cells(low: Ints, high: Ints, lows: Ints, highs: Ints) -> tuple[Ints, Ints, Ints, list[Ints]]:
    """Convert labels to cell numbers: cells are the intervals between neighbouring ends, counted from 0.

    Random points are drawn in cells, where all intervals have the same width: labels mean nothing but order. The boxes
    are clipped to the first one, which they meet. Returns the highest cell of the box on every axis (its lowest is 0),
    the lows and highs of the others, and for every axis the labels at which its cells begin.
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
    """The logarithm of the largest box's share of the whole space; only used to order work."""
    widths = np.log((boxes.highs - boxes.lows + 1.0) / (HIGHEST - LOWEST + 1.0))
    # Sum box by box, so that equal boxes get the same volume whatever their neighbours are.
    owner = np.repeat(np.arange(len(boxes)), np.diff(boxes.offsets))
    volumes = np.zeros(len(boxes))
    np.add.at(volumes, owner, widths)
    return float(np.max(volumes, initial=-np.inf))


def check_box(low: Any, high: Any, where: str = "the box") -> tuple[Ints, Ints]:
    """Check one box and return it as two arrays of whole numbers."""
    lows, highs = check_boxes(_vector(low, where)[None, :], _vector(high, where)[None, :], where=where)
    return lows[0], highs[0]


def check_boxes(
    lows: Any, highs: Any, axes: int | None = None, where: str = "the boxes"
) -> tuple[Ints, Ints]:
    """Check boxes, and how many axes they have; returns contiguous arrays, a row for each box, a column for each axis."""
    low, high = _matrix(lows, axes, where), _matrix(highs, axes, where)
    if low.shape != high.shape:
        raise BoxError("as many low as high ends", f"arrays of shape {low.shape} and {high.shape}", where)
    if axes is not None and low.shape[1] != axes:
        raise BoxError(f"boxes with {axes} axes", f"boxes with {low.shape[1]}", where)
    if low.shape[1] > MOST_AXES:
        raise BoxError(f"at most {MOST_AXES:,} axes", f"{low.shape[1]:,}", where)
    low, high = _whole_numbers(low, where), _whole_numbers(high, where)
    is_wrong = low > high
    if is_wrong.any():
        box, axis = np.argwhere(is_wrong)[0]
        ends = f"{low[box, axis]} and {high[box, axis]}"
        raise BoxError("a low end that is not above the high one", ends, f"{where}, box {box}, axis {axis}")
    return low, high


def check_question(low: Any, high: Any, lows: Any, highs: Any) -> tuple[Ints, Ints, Ints, Ints]:
    """Check a box and the rows that may cover it, all on the same axes."""
    low, high = check_box(low, high)
    return low, high, *check_boxes(lows, highs, axes=len(low), where="the rows")


def _vector(values: Any, where: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise BoxError("one number for each axis", shown(values), where)
    return array


def _matrix(values: Any, axes: int | None, where: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise BoxError(
            "All rows need an end for every axis, but their lengths differ", where=where
        ) from error
    if array.size == 0 and array.ndim < 2:  # no boxes
        return np.zeros((0, axes or 0), np.int64)
    if array.ndim != 2:
        raise BoxError("an array with a row for each box", f"one of shape {array.shape}", where)
    return array


def _whole_numbers(array: npt.NDArray[Any], where: str) -> Ints:
    """The same numbers as 64-bit integers between `LOWEST` and `HIGHEST`."""
    if array.dtype.kind not in "iuf":
        raise BoxError("whole numbers", f"an array of {array.dtype}", where)
    with np.errstate(invalid="ignore"):
        is_inside = (array >= LOWEST) & (array <= HIGHEST)
    _refuse_any(~is_inside, array, f"whole numbers from {LOWEST} to {HIGHEST}", where)
    whole = np.ascontiguousarray(array, np.int64)
    if array.dtype.kind == "f":
        _refuse_any(whole != array, array, "whole numbers", where)
    return whole


def _refuse_any(is_wrong: npt.NDArray[np.bool_], array: npt.NDArray[Any], expected: str, where: str) -> None:
    if is_wrong.any():
        box, axis = np.argwhere(is_wrong)[0]
        raise BoxError(expected, shown(array[box, axis].item()), f"{where}, box {box}, axis {axis}")
