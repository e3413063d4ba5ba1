"""What publications are expected: values spread evenly, over all there is or over what is advertised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thatch.workloads.li2005 import ATTRIBUTES, Ints

__all__ = ["Advertised", "Floats", "Side", "advertisements"]

Floats = npt.NDArray[np.float64]
Side = tuple[int, int, int]  # attribute, least and greatest value


class Advertised:
    """Publications spread evenly over some boxes of which no two meet.

    Parameters
    ----------
    values : of every attribute
    lows, highs : the least and greatest values, a row for each box and a column for each attribute; without any, all
    """

    def __init__(self, values: int, lows: Ints | None = None, highs: Ints | None = None) -> None:
        whole = np.zeros((1, ATTRIBUTES), np.int64)
        self.values = values
        self.lows = whole if lows is None else lows
        self.highs = whole + values - 1 if highs is None else highs
        widths = self.highs - self.lows + 1
        self._shares: Floats = (widths / values).prod(axis=1)

    def weights(self, attribute: int, tail: Sequence[Side]) -> Floats:
        """By value of an attribute, the probability that a publication has it and satisfies the other predicates."""
        widths = (self.highs - self.lows + 1).astype(np.float64)
        share = self._shares / self._shares.sum()
        for key, low, high in tail:
            inside = np.minimum(high, self.highs[:, key]) - np.maximum(low, self.lows[:, key]) + 1
            share = share * np.maximum(inside, 0) / widths[:, key]
        value = np.arange(self.values)
        is_inside = (self.lows[:, attribute, None] <= value) & (value <= self.highs[:, attribute, None])
        return np.asarray((share / widths[:, attribute]) @ is_inside)


def advertisements(values: int, share: float) -> Advertised:
    """Two publishers, one for the lower half of the values of `a00` and one for the upper.

    Parameters
    ----------
    share : of the values of every other attribute of the upper half that both advertise, the lower ones; 1 for no
        advertisements at all
    """
    if share == 1:
        return Advertised(values)
    lows, highs = np.zeros((2, ATTRIBUTES), np.int64), np.full((2, ATTRIBUTES), values - 1)
    highs[:, 1 : ATTRIBUTES // 2] = max(int(share * values), 1) - 1
    highs[0, 0], lows[1, 0] = values // 2 - 1, values // 2
    return Advertised(values, lows, highs)
