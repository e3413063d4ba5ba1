"""The share of events in each cell of a segment's attributes, from a profile."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int64s, Uint16s, Uint32s
from thatch.matching.arrays import starts_of
from thatch.matching.problem import Spread
from thatch.matching.segments.building.tables import CutTables
from thatch.model.lines import RANK_NUMBER, RANK_TEXT

__all__ = ["Shares", "Spreads"]

# Where events lie, by the number that the index gives an attribute.
Spreads: TypeAlias = Callable[[int], Spread | None]


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of events below every cut of every local attribute; all zero for those that the profile lacks."""

    is_known: npt.NDArray[np.bool_]
    starts: Int64s
    sums: Doubles

    @classmethod
    def of(cls, tables: CutTables, spreads: Spreads) -> Shares:
        """The shares of a segment's attributes."""
        cells = tables.cells()
        starts = starts_of(cells + 1)
        sums, is_known = np.zeros(int(starts[-1])), np.zeros(len(cells), np.bool_)
        for local, number in enumerate(tables.attributes.tolist()):
            spread = spreads(number)
            if spread is not None:
                is_known[local] = True
                inside = _in_cells(tables, local, spread, int(cells[local]))
                sums[starts[local] : starts[local + 1]] = starts_of(inside, np.float64)
        return cls(is_known, starts, sums)

    def below(self, local: int) -> Doubles:
        """The shares of events below the cuts of one attribute."""
        return self.sums[self.starts[local] : self.starts[local + 1]]

    def between(self, attribute: Uint16s, low: Uint32s, high: Uint32s) -> Doubles:
        """The share of events that each side lets through."""
        starts = self.starts[attribute]
        shares: Doubles = self.sums[starts + high + 1] - self.sums[starts + low]
        return shares


def _in_cells(tables: CutTables, local: int, spread: Spread, cells: int) -> Doubles:
    """The shares of events in the cells of one attribute, in the order that `tables` explains."""
    shares = np.zeros(cells)
    numbers = tables.numbers[tables.number_at[local] : tables.number_at[local + 1]]
    first, n_texts = int(tables.text_at[local]), int(tables.text_at[local + 1] - tables.text_at[local])
    words = tables.texts()
    for place, share in spread.shares.items():
        cell = place[0]
        if cell == RANK_NUMBER:
            at = int(np.searchsorted(numbers, float(place[1])))
            cell += 2 * at + (at < len(numbers) and numbers[at] == place[1])
        elif cell == RANK_TEXT:
            text = place[1].encode()
            at = bisect_left(range(n_texts), text, key=lambda each: words[first + each])
            cell += 2 * len(numbers) + 2 * at + (at < n_texts and words[first + at] == text)
        shares[cell] += share
    return shares
