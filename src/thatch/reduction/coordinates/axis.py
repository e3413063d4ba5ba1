"""Labels for the cuts of one attribute: whole numbers in the order of the cuts."""

from __future__ import annotations

from math import inf

import numpy as np

from thatch.model.lines import RANK_NUMBER, RANK_TEXT, TOP, Cut, above, below
from thatch.reduction.boxes import HIGHEST, LOWEST, Ints
from thatch.reduction.coordinates.values import OrderedValues, number_between, text_between

__all__ = ["LabelledAxis"]

# The label below every rank: five ranks of a single value, then half of all labels for numbers and half for texts.
_RANKS = [*(LOWEST + rank for rank in range(RANK_NUMBER + 1)), 0, HIGHEST + 1]


def _numbers() -> OrderedValues:
    return OrderedValues((-inf, _RANKS[RANK_NUMBER]), (inf, -1), 0, number_between)


def _texts() -> OrderedValues:
    return OrderedValues(("", 0), None, HIGHEST + 1, text_between)


_NO_NUMBERS = _numbers()
_NO_TEXTS = _texts()


class LabelledAxis:
    """The labels of the cuts of one attribute."""

    __slots__ = ("_numbers", "_texts")

    def __init__(self) -> None:
        # Shared until the first value comes: most attributes have values of one type.
        self._numbers = _NO_NUMBERS
        self._texts = _NO_TEXTS

    def __len__(self) -> int:
        """How many values have labels, apart from the ends of the types."""
        return len(self._numbers) + len(self._texts) - len(_NO_NUMBERS) - len(_NO_TEXTS)

    def label(self, cut: Cut) -> int | None:
        """Put a cut in use and return its label; None if there is no room for it (see `space_evenly`)."""
        if len(cut) == 1:
            return _RANKS[cut[0]]
        if cut[0] == RANK_NUMBER:
            if self._numbers is _NO_NUMBERS:
                self._numbers = _numbers()
            return self._numbers.label(cut[1], cut[2])
        if self._texts is _NO_TEXTS:
            self._texts = _texts()
        return self._texts.label(cut[1], cut[2])

    def floor(self, cut: Cut) -> int:
        """The label of a cut, or of one below it with none in use between them."""
        if len(cut) == 1:
            return _RANKS[cut[0]]
        return (self._numbers if cut[0] == RANK_NUMBER else self._texts).floor(cut[1], cut[2])

    def ceiling(self, cut: Cut) -> int:
        """The label of a cut, or of one above it with none in use between them."""
        if len(cut) == 1:
            return _RANKS[cut[0]]
        return (self._numbers if cut[0] == RANK_NUMBER else self._texts).ceiling(cut[1], cut[2])

    def cell(self, label: int) -> tuple[Cut, Cut]:
        """The nearest cuts in use at or below a label, and above it."""
        if label < _RANKS[RANK_NUMBER]:
            rank = label - LOWEST
            return (rank,), (rank + 1,)
        rank, values = (RANK_NUMBER, self._numbers) if label < 0 else (RANK_TEXT, self._texts)
        low, high = values.around(label)
        low_cut: Cut = (rank,) if low is None else below(low[0]) if low[1] == 0 else (rank, *low)
        high_cut: Cut = TOP if high is None else above(high[0]) if high[1] else (rank, *high)
        return low_cut, high_cut

    def labels(self) -> Ints:
        """The labels of all cuts, ascending."""
        below_values = np.concatenate([self._numbers.labels(), self._texts.labels()])
        return np.unique(np.concatenate([np.array(_RANKS, np.int64), below_values, below_values + 1]))

    def space_evenly(self, cut: Cut) -> None:
        """Make room for a cut: relabel all values of its type, in the same order."""
        (self._numbers if cut[0] == RANK_NUMBER else self._texts).space_evenly()
