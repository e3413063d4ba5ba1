"""Closed numeric bounds as arrays, turned into the columns of an index without a filter object each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from thatch.matching.segments.parts import MOST_ATTRIBUTES
from thatch.matching.segments.records import NUMBER
from thatch.matching.segments.sides import Checks, Sides, Texts

__all__ = ["sides_of_bounds"]


def sides_of_bounds(
    slot: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    attribute: npt.NDArray[np.int32],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
) -> Iterator[Sides]:
    """One box per row, in parts whose attributes one segment can number.

    An infinite bound is the end of the numbers, which is a cut of its own.
    """
    if len(slot) > 1 and len(np.unique(attribute)) > MOST_ATTRIBUTES:
        middle = len(slot) // 2
        side = int(offsets[middle])
        yield from sides_of_bounds(
            slot[:middle], offsets[: middle + 1], attribute[:side], low[:side], high[:side]
        )
        yield from sides_of_bounds(
            slot[middle:], offsets[middle:] - side, attribute[side:], low[side:], high[side:]
        )
        return
    yield Sides(
        offsets=offsets,
        attribute=attribute,
        lo_kind=np.where(low == -np.inf, 5, NUMBER).astype(np.int8),
        lo_value=np.where(low == -np.inf, 0.0, low),
        hi_kind=np.where(high == np.inf, 6, NUMBER + 1).astype(np.int8),
        hi_value=np.where(high == np.inf, 0.0, high),
        owner=np.arange(len(slot), dtype=np.int32),
        slot=slot,
        verify=np.zeros(len(slot), np.bool_),
        texts=Texts(),
        source=Texts(np.zeros(len(slot) + 1, np.int64)),
        checks=Checks(),
    )
