"""Boxes as the kernels of the index take them: checked once, in the right kinds of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.errors import BoxError, ParameterError, shown
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints, checked
from thatch.reduction.index.kernels.checking import fault, fault_of_many

__all__ = [
    "ALL",
    "DEFAULT_BUDGET",
    "MOST_AXIS",
    "Box",
    "checked_befores",
    "checked_box",
    "checked_boxes",
    "checked_budget",
    "checked_labels",
    "checked_numbers",
]

Box = tuple[npt.NDArray[np.int32], Ints, Ints]

DEFAULT_BUDGET = (
    20_000  # cells: small sets have some sixty boxes, and 1.5e6 looks at a box are a tenth of a second
)
ALL = np.iinfo(np.int64).max  # every number is below it
_ENDLESS = 1 << 62
MOST_AXIS = (1 << 22) - 1  # questions are spread over all axes up to the highest


def checked_box(axes: Any, lows: Any, highs: Any) -> Box:
    """One sparse box.

    Raises
    ------
    BoxError
        If it is none: axes that do not rise, other numbers of ends, fractions, NaN, a low end above the high one.
    """
    if not (_is_plain(axes, np.int32) and _is_plain(lows, np.int64) and _is_plain(highs, np.int64)):
        axes = _as_axes(axes)
        lows, highs = checked(lows, highs)
    if len(axes) != len(lows) or len(lows) != len(highs):
        raise BoxError(
            "two ends for each axis", f"{len(lows)} and {len(highs)} for {len(axes)} axes", "the box"
        )
    wrong = fault(axes, lows, highs, MOST_AXIS)
    if wrong >= 0:
        raise _error(axes, lows, highs, wrong, "the box")
    return axes, lows, highs


def checked_boxes(boxes: Boxes) -> Boxes:
    """Boxes in arrays that kernels take.

    Raises
    ------
    BoxError
        If one of them is no box.
    """
    offsets, axes = _plain(boxes.offsets, np.int64), _plain(boxes.axes, np.int32)
    lows, highs = _plain(boxes.lows, np.int64), _plain(boxes.highs, np.int64)
    box, side = fault_of_many(offsets, axes, lows, highs, MOST_AXIS)
    if box >= 0:
        here = slice(offsets[box], offsets[box + 1])
        raise _error(axes[here], lows[here], highs[here], side - here.start, f"the boxes, box {box}")
    return Boxes(offsets, axes, lows, highs)


def checked_numbers(numbers: Any, boxes: int) -> Ints:
    """Numbers of boxes: as many, all different, none below 0; None for 0, 1, 2, and so on."""
    if numbers is None:
        return np.arange(boxes, dtype=np.int64)
    array: Ints = np.array(numbers, np.int64)
    if len(array) != boxes:
        raise BoxError("a number for each box", f"{len(array)} for {boxes}", "numbers")
    ordered = np.sort(array)
    if boxes and ordered[0] < 0:
        raise ParameterError("numbers from 0 on", str(ordered[0]), "numbers")
    if (ordered[1:] == ordered[:-1]).any():
        twice = ordered[1:][ordered[1:] == ordered[:-1]][0]
        raise ParameterError("numbers that differ", f"{twice}, which comes twice", "numbers")
    return array


def checked_befores(before: Any, boxes: int) -> Ints:
    """For each box the number that only lower ones count for; None for all."""
    if before is None:
        return np.full(boxes, ALL, np.int64)
    if len(before) != boxes:
        raise BoxError("a number for each box", f"{len(before)} for {boxes}", "before")
    return np.array(before, np.int64)


def checked_budget(budget: float | None) -> int:
    """A budget as a number of cells."""
    if budget is None:
        return DEFAULT_BUDGET
    if not budget >= 1:
        raise ParameterError("at least 1 cell, or math.inf", shown(budget), "budget")
    return int(min(budget, _ENDLESS))


def checked_labels(old: Any, new: Any) -> tuple[Ints, Ints]:
    """Labels and what they become, both rising."""
    old, new = np.asarray(old, np.int64), np.asarray(new, np.int64)
    if len(old) != len(new):
        raise ParameterError("as many new as old labels", f"{len(new)} for {len(old)}", "the labels")
    for labels in (old, new):
        if (labels[1:] <= labels[:-1]).any():
            raise ParameterError("labels that rise", shown(labels.tolist()), "the labels")
    if len(new) and not (new[0] > LOWEST and new[-1] <= HIGHEST):
        raise ParameterError(
            f"labels above {LOWEST} and up to {HIGHEST}", f"{new[0]} to {new[-1]}", "the labels"
        )
    return old, new


def _is_plain(array: Any, kind: type) -> bool:
    return (
        type(array) is np.ndarray
        and array.dtype == kind
        and array.ndim == 1
        and array.flags.c_contiguous
        and array.flags.writeable
    )


def _plain(array: npt.NDArray[Any], kind: type) -> npt.NDArray[Any]:
    """The same numbers in an array that is ours to give to kernels: what is mapped read-only is copied."""
    return array if _is_plain(array, kind) else np.array(array, kind)


def _as_axes(axes: Any) -> npt.NDArray[np.int32]:
    array = np.asarray(axes)
    if array.size == 0:
        return np.zeros(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > MOST_AXIS:
        raise BoxError(f"axes, rising numbers from 0 to {MOST_AXIS}", shown(axes), "the box")
    return array.astype(np.int32)


def _error(axes: Any, lows: Ints, highs: Ints, side: int, where: str) -> BoxError:
    """What is wrong with a side of a box."""
    axis, low, high = int(axes[side]), int(lows[side]), int(highs[side])
    if not 0 <= axis <= MOST_AXIS or (side > 0 and axis <= axes[side - 1]):
        return BoxError(f"axes, rising numbers from 0 to {MOST_AXIS}", str(axis), f"{where}, side {side}")
    if low > high:
        return BoxError(
            "a low end that is not above the high one", f"{low} and {high}", f"{where}, axis {axis}"
        )
    return BoxError(f"ends from {LOWEST} to {HIGHEST}", f"{low} and {high}", f"{where}, axis {axis}")
