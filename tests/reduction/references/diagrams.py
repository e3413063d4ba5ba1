"""The slow definition of covering between pairs of boxes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from thatch.reduction.boxes import Boxes, Ints

__all__ = ["contains", "covered_boxes", "sides_of"]


def contains(outer: Mapping[int, tuple[int, int]], inner: Mapping[int, tuple[int, int]]) -> bool:
    """Whether every side of the outer box holds the inner box's side on that axis; without a side it holds nothing."""
    return all(
        axis in inner and low <= inner[axis][0] and inner[axis][1] <= high
        for axis, (low, high) in outer.items()
    )


def sides_of(axes: npt.NDArray[np.int32], lows: Ints, highs: Ints) -> dict[int, tuple[int, int]]:
    """A box by its axes."""
    ends = zip(lows.tolist(), highs.tolist(), strict=True)
    return dict(zip(axes.tolist(), ends, strict=True))


def covered_boxes(boxes: Boxes) -> set[int]:
    """The boxes that another covers; of equal ones all but the first."""
    sides = [sides_of(*each) for each in boxes]
    return {
        inner
        for inner, its in enumerate(sides)
        for outer, other in enumerate(sides)
        if contains(other, its) and (other != its or outer < inner)
    }
