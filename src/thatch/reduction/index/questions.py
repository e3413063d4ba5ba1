"""Check what callers pass to the index, and convert it to the arrays that kernels take."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.errors import BoxError, ParameterError, shown
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, BoxSides, Ints, check_box
from thatch.reduction.index.kernels.questions import fault, fault_of_many

__all__ = [
    "ALL",
    "DEFAULT_BUDGET",
    "MOST_AXIS",
    "check_befores",
    "check_budget",
    "check_numbers",
    "check_sparse_box",
    "check_sparse_boxes",
]

# Cells: small sets have about sixty boxes, and to compare with 1.5e6 boxes takes a tenth of a second.
DEFAULT_BUDGET = 20_000
ALL = np.iinfo(np.int64).max  # larger than every number
_ENDLESS = 1 << 62
MOST_AXIS = (1 << 22) - 1  # questions have a key for every axis up to the highest


def check_sparse_box(axes: Any, lows: Any, highs: Any) -> BoxSides:
    """Check one sparse box: ascending axes, and two ends for each that are whole numbers in order."""
    if not (_is_plain(axes, np.int32) and _is_plain(lows, np.int64) and _is_plain(highs, np.int64)):
        axes = _as_axes(axes)
        lows, highs = check_box(lows, highs)
    if len(axes) != len(lows) or len(lows) != len(highs):
        raise BoxError(
            "two ends for each axis", f"{len(lows)} and {len(highs)} for {len(axes)} axes", "the box"
        )
    wrong = fault(axes, lows, highs, MOST_AXIS)
    if wrong >= 0:
        raise _error(axes, lows, highs, wrong, "the box")
    return axes, lows, highs


def check_sparse_boxes(boxes: Boxes) -> Boxes:
    """Check boxes, and copy arrays that kernels cannot take."""
    offsets, axes = _plain(boxes.offsets, np.int64), _plain(boxes.axes, np.int32)
    lows, highs = _plain(boxes.lows, np.int64), _plain(boxes.highs, np.int64)
    box, side = fault_of_many(offsets, axes, lows, highs, MOST_AXIS)
    if box >= 0:
        here = slice(offsets[box], offsets[box + 1])
        raise _error(axes[here], lows[here], highs[here], side - here.start, f"the boxes, box {box}")
    return Boxes(offsets, axes, lows, highs)


def check_numbers(numbers: Any, boxes: int) -> Ints:
    """Check that there is a number for each box, all different and at least 0; None for 0, 1, 2, and so on."""
    if numbers is None:
        return np.arange(boxes, dtype=np.int64)
    array: Ints = np.array(numbers, np.int64)
    if len(array) != boxes:
        raise BoxError("a number for each box", f"{len(array)} for {boxes}", "numbers")
    ordered = np.sort(array)
    if boxes and ordered[0] < 0:
        raise ParameterError("numbers of at least 0", str(ordered[0]), "numbers")
    if (ordered[1:] == ordered[:-1]).any():
        twice = ordered[1:][ordered[1:] == ordered[:-1]][0]
        raise ParameterError("different numbers", f"{twice} twice", "numbers")
    return array


def check_befores(before: Any, boxes: int) -> Ints:
    """Check that there is an upper limit of numbers for each box; None for no limit."""
    if before is None:
        return np.full(boxes, ALL, np.int64)
    if len(before) != boxes:
        raise BoxError("a number for each box", f"{len(before)} for {boxes}", "before")
    return np.array(before, np.int64)


def check_budget(budget: float | None) -> int:
    """Check a budget, and return it as a number of cells."""
    if budget is None:
        return DEFAULT_BUDGET
    if not budget >= 1:
        raise ParameterError("at least 1 cell, or math.inf", shown(budget), "budget")
    return int(min(budget, _ENDLESS))


def _is_plain(array: Any, kind: type) -> bool:
    return (
        type(array) is np.ndarray
        and array.dtype == kind
        and array.ndim == 1
        and array.flags.c_contiguous
        and array.flags.writeable
    )


def _plain(array: npt.NDArray[Any], kind: type) -> npt.NDArray[Any]:
    """The same numbers in an array that kernels take: read-only arrays, such as mapped files, are copied."""
    return array if _is_plain(array, kind) else np.array(array, kind)


def _as_axes(axes: Any) -> npt.NDArray[np.int32]:
    array = np.asarray(axes)
    if array.size == 0:
        return np.zeros(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > MOST_AXIS:
        raise BoxError(f"ascending axes from 0 to {MOST_AXIS}", shown(axes), "the box")
    return array.astype(np.int32)


def _error(axes: Any, lows: Ints, highs: Ints, side: int, where: str) -> BoxError:
    """The error that describes what is wrong with a side of a box."""
    axis, low, high = int(axes[side]), int(lows[side]), int(highs[side])
    if not 0 <= axis <= MOST_AXIS or (side > 0 and axis <= axes[side - 1]):
        return BoxError(f"ascending axes from 0 to {MOST_AXIS}", str(axis), f"{where}, side {side}")
    if low > high:
        return BoxError(
            "a low end that is not above the high one", f"{low} and {high}", f"{where}, axis {axis}"
        )
    return BoxError(f"ends from {LOWEST} to {HIGHEST}", f"{low} and {high}", f"{where}, axis {axis}")
