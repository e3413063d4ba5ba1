"""Slow answers to «is this box inside the union of those?», for tests: three ways that share nothing with each other.

`grid` cuts the box at every end of a row and looks at each cell: any labels, few axes. `points` looks at every point:
tiny boxes. `subtraction` keeps what is left after each row as disjoint boxes: more axes, few rows.
All take arrays as `boxes.checked` and `boxes.check_boxes` give them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from thatch.reduction.boxes import Ints
from thatch.reduction.problem import BoxVerdict, Point, Verdict, Work

__all__ = ["grid", "is_witness", "points", "proves", "subtraction"]

_DECIDED_BY = "reference"


def grid(low: Ints, high: Ints, lows: Ints, highs: Ints) -> BoxVerdict:
    """Decide by the cells between neighbouring ends. O(k (2k)^m) with k rows on m axes."""
    starts = [
        _starts(int(low[axis]), int(high[axis]), lows[:, axis], highs[:, axis]) for axis in range(len(low))
    ]
    is_covered = np.zeros([len(each) for each in starts], np.bool_)
    for row_low, row_high in zip(lows, highs, strict=True):
        inside = [
            (each >= first) & (each <= last)
            for each, first, last in zip(starts, row_low, row_high, strict=True)
        ]
        is_covered |= _product(inside)
    if is_covered.all():
        return _yes(len(lows))
    cell = np.argwhere(~is_covered)[0]
    return _no(np.array([each[at] for each, at in zip(starts, cell, strict=True)], np.int64), len(lows))


def points(low: Ints, high: Ints, lows: Ints, highs: Ints) -> BoxVerdict:
    """Decide by every point of the box."""
    ranges = [range(first, last + 1) for first, last in zip(low.tolist(), high.tolist(), strict=True)]
    for each in product(*ranges):
        point = np.array(each, np.int64)
        if not _is_inside(point, lows, highs).any():
            return _no(point, len(lows))
    return _yes(len(lows))


def subtraction(low: Ints, high: Ints, lows: Ints, highs: Ints) -> BoxVerdict:
    """Decide by what is left of the box: disjoint boxes, each cut at every row that meets it."""
    left = [(low, high)]
    for row_low, row_high in zip(lows, highs, strict=True):
        left = [piece for box in left for piece in _without(*box, row_low, row_high)]
    return _no(left[0][0].copy(), len(lows)) if left else _yes(len(lows))


def proves(low: Ints, high: Ints, lows: Ints, highs: Ints, used: Sequence[int]) -> bool:
    """Whether the rows of these numbers cover the box by themselves; numbers are distinct, and of rows."""
    if len(set(used)) != len(used) or not all(0 <= each < len(lows) for each in used):
        return False
    chosen = np.array(used, np.int64)
    return subtraction(low, high, lows[chosen], highs[chosen]).covered is True


def is_witness(point: Point, low: Ints, high: Ints, lows: Ints, highs: Ints) -> bool:
    """Whether the point lies in the box and in no row."""
    inside = len(point) == len(low) and bool(np.all((low <= point) & (point <= high)))
    return inside and not _is_inside(point, lows, highs).any()


def _is_inside(point: Point, lows: Ints, highs: Ints) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = np.all((lows <= point) & (point <= highs), axis=1)
    return inside


def _starts(low: int, high: int, lows: Ints, highs: Ints) -> Ints:
    """Where the cells of one axis begin: at the low end of the box, at those of rows, and after their high ends."""
    ends = np.unique(np.concatenate(([low], lows, highs + 1)))
    return ends[(ends >= low) & (ends <= high)]


def _product(inside: list[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    """The cells that are inside on every axis."""
    result = np.ones([1] * len(inside), np.bool_)
    for axis, each in enumerate(inside):
        shape = [1] * len(inside)
        shape[axis] = -1
        result = result & each.reshape(shape)
    return result


def _without(low: Ints, high: Ints, row_low: Ints, row_high: Ints) -> list[tuple[Ints, Ints]]:
    """A box without a row, as disjoint boxes: slabs are cut off on one axis after the other."""
    if (row_low > high).any() or (row_high < low).any():
        return [(low, high)]
    pieces = []
    low, high = low.copy(), high.copy()
    for axis in range(len(low)):
        if row_low[axis] > low[axis]:
            end = high.copy()
            end[axis] = row_low[axis] - 1
            pieces.append((low.copy(), end))
            low[axis] = row_low[axis]
        if row_high[axis] < high[axis]:
            start = low.copy()
            start[axis] = row_high[axis] + 1
            pieces.append((start, high.copy()))
            high[axis] = row_high[axis]
    return pieces


def _yes(rows: int) -> BoxVerdict:
    """All rows together are a proof, if not a short one."""
    return Verdict(
        covered=True, certain=True, decided_by=_DECIDED_BY, used=tuple(range(rows)), work=Work(rows=rows)
    )


def _no(witness: Point, rows: int) -> BoxVerdict:
    return Verdict(covered=False, certain=True, decided_by=_DECIDED_BY, witness=witness, work=Work(rows=rows))
