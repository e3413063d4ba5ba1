"""Numeric subscriptions and events as arrays, and the filter text and objects they stand for.

subscription      0           1        2              offsets    0 3 5 ...
attribute         4  0  7     0  2     ...
low               5 10 -inf   3  0     ...            `a04 = 5 and a00 between 10 and 60 and a07 <= 9`
high              5 60  9     3 49     ...            `a00 = 3 and a02 between 0 and 49`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Cells", "Floats", "Integers", "Intervals", "Matrix", "Number", "conjunction_texts"]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]
Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """Subscriptions that are conjunctions of closed intervals, all attributes of one different.

    Parameters
    ----------
    offsets : subscription s has the conditions from offsets[s] up to offsets[s + 1]; int64
    attribute : index of each condition's attribute; int32
    low, high : each condition's ends, both included; one of them may be infinite
    """

    offsets: Integers
    attribute: Integers
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def texts(self, names: Sequence[str]) -> list[str]:
        """The filter text of every subscription."""
        keys = [names[attribute] for attribute in self.attribute.tolist()]
        conditions = list(map(_interval_text, keys, _numbers(self.low), _numbers(self.high)))
        return conjunction_texts(conditions, self.offsets)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Flat numeric events that carry few of many attributes.

    Parameters
    ----------
    offsets : event e has the cells from offsets[e] up to offsets[e + 1]; int64
    attribute : index of each cell's attribute; int32
    value : each cell's value
    """

    offsets: Integers
    attribute: Integers
    value: Floats

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def objects(self, names: Sequence[str]) -> list[dict[str, Number]]:
        """Every event as a dict, whole numbers as integers."""
        keys = [names[attribute] for attribute in self.attribute.tolist()]
        values = _numbers(self.value)
        rows = pairwise(self.offsets.tolist())
        return [dict(zip(keys[start:end], values[start:end], strict=True)) for start, end in rows]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matrix:
    """Flat numeric events, one a row, one attribute a column; NaN = missing."""

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def cells(self) -> Cells:
        """The same events without what is missing."""
        is_present = ~np.isnan(self.values)
        counts = np.concatenate([[0], is_present.sum(axis=1)])
        attribute = np.nonzero(is_present)[1].astype(np.int32)
        return Cells(offsets=np.cumsum(counts), attribute=attribute, value=self.values[is_present])

    def objects(self, names: Sequence[str]) -> list[dict[str, Number]]:
        """Every event as a dict, whole numbers as integers."""
        return self.cells().objects(names)


def conjunction_texts(conditions: list[str], offsets: Integers) -> list[str]:
    """The texts of conditions, joined subscription by subscription."""
    return [" and ".join(conditions[start:end]) for start, end in pairwise(offsets.tolist())]


def _interval_text(name: str, low: Number, high: Number) -> str:
    """One condition; the digits of a double are as many as it takes to read the same double back."""
    if low == high:
        return f"{name} = {low}"
    if low == -inf:
        return f"{name} <= {high}"
    if high == inf:
        return f"{name} >= {low}"
    return f"{name} between {low} and {high}"


def _numbers(values: Floats) -> list[Number]:
    """Whole numbers as integers, as far as doubles hold every one of them."""
    return [int(value) if value.is_integer() and abs(value) <= 2**53 else value for value in values.tolist()]
