"""The two best boxes around many, exactly; and any filter improved two boxes at a time. Beyond yu2012.

One of two boxes reaches at least half of the 2 d sides of the hull. So for every choice of d sides that it reaches, its other
sides are tried at every end of a box, and the second box is the hull of what sticks out. What sticks out beyond an end is
computed beforehand, so that a trial costs O(d), and all of them O(C(2 d, d) nᵈ d) for n distinct ends.
"""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np

from thatch.placement.arrays import Bools, Floats, Ints
from thatch.placement.boxes import is_inside, union_volume

__all__ = ["fit_two", "improve_pairs"]

_GAIN = 1e-9  # of the volume: less is rounding
_PASSES = 5


def fit_two(boxes: Floats, most: int, fixed: Floats | None = None, least: float = np.inf) -> Floats | None:
    """Find one or two boxes around `boxes` that have the least union together with the fixed ones.

    None if that union is not below `least`, or if more than `most` trials would be needed.

    Parameters
    ----------
    boxes : at least one; each lies inside one of the boxes found
    fixed : boxes that the filter has anyway
    """
    from thatch.placement.kernels.fitting import find_two
    from thatch.placement.kernels.volumes import room_for

    d = boxes.shape[1] // 2
    fixed = boxes[:0] if fixed is None else fixed
    ends, counts, beyond = _ends_of_sides(boxes)
    is_free = _choices_of_half(2 * d)
    if sum(prod(counts[free].tolist()) for free in is_free) > most:
        return None
    out = np.empty((2, 2 * d))
    room = room_for(len(fixed) + 2, d)
    used = find_two(ends, counts, beyond, is_free, np.ascontiguousarray(fixed), least, room, out)
    return out[:used] if used else None


def improve_pairs(boxes: Floats, filter: Floats, most: int) -> Floats:
    """Replace any two boxes of a filter by the best two, until nothing is gained.

    Parameters
    ----------
    boxes : each lies inside one box of the filter, and of the result
    most : trials for two boxes; a pair that needs more is left as it is
    """
    volume = union_volume(filter)
    for _ in range(_PASSES):
        before = volume
        for pair in combinations(range(len(filter)), 2):
            if max(pair) >= len(filter):
                break  # there are fewer boxes by now
            fixed = np.delete(filter, pair, axis=0)
            rest = boxes[~is_inside(boxes[:, None], fixed[None]).any(axis=1)]
            found = fit_two(rest, most, fixed, volume * (1 - _GAIN)) if len(rest) else rest
            if found is not None:
                filter = np.concatenate([fixed, found])
                volume = union_volume(filter)
        if volume >= before * (1 - _GAIN):
            break
    return filter


def _ends_of_sides(boxes: Floats) -> tuple[Floats, Ints, Floats]:
    """For each side the distinct ends from outside inwards, how many there are, and the hull of what sticks out beyond each."""
    n, sides = boxes.shape
    d = sides // 2
    ends = np.zeros((sides, n))
    counts = np.zeros(sides, np.int64)
    beyond = np.empty((sides, n, sides))
    beyond[:, 0, :d], beyond[:, 0, d:] = np.inf, -np.inf
    for side in range(sides):
        order = np.argsort(boxes[:, side] if side < d else -boxes[:, side], kind="stable")
        rows = boxes[order]
        first = np.flatnonzero(np.diff(rows[:, side], prepend=np.nan))
        counts[side] = len(first)
        ends[side, : len(first)] = rows[first, side]
        before = first[1:] - 1
        beyond[side, 1 : len(first), :d] = np.minimum.accumulate(rows[:, :d], axis=0)[before]
        beyond[side, 1 : len(first), d:] = np.maximum.accumulate(rows[:, d:], axis=0)[before]
    return ends, counts, beyond


def _choices_of_half(sides: int) -> Bools:
    """Every choice of half of the sides."""
    chosen = list(combinations(range(sides), sides // 2))
    is_free = np.zeros((len(chosen), sides), np.bool_)
    for row, each in enumerate(chosen):
        is_free[row, list(each)] = True
    return is_free
