"""Subscriptions and events as arrays, and the filter text and objects they stand for.

subscription      0           1        2              offsets    0 3 5 ...
attribute         4  0  7     0  2     ...
low               5 10 -inf   3  0     ...            `a04 = 5 and a00 between 10 and 60 and a07 <= 9`
high              5 60  9     3 49     ...            `a00 = 3 and a02 between 0 and 49`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise, product
from math import inf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "NULL_WORD",
    "WORDS",
    "Cells",
    "Floats",
    "Integers",
    "Intervals",
    "Kind",
    "Matrix",
    "Number",
    "TextConditions",
    "TextEvents",
    "TextValue",
    "conjunction_texts",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]
Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """Subscriptions that are conjunctions of closed intervals on different attributes.

    Parameters
    ----------
    offsets : subscription s has the conditions from offsets[s] up to offsets[s + 1]; int64
    attribute : index of each condition's attribute; int32
    low, high : the ends of each condition, both included; one of them may be infinite
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
    """Flat numeric events that have few of many attributes.

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
    """Flat numeric events: a row for each event, a column for each attribute; NaN is missing."""

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def cells(self) -> Cells:
        """The same events as cells."""
        is_present = ~np.isnan(self.values)
        counts = np.concatenate([[0], is_present.sum(axis=1)])
        attribute = np.nonzero(is_present)[1].astype(np.int32)
        return Cells(offsets=np.cumsum(counts), attribute=attribute, value=self.values[is_present])

    def objects(self, names: Sequence[str]) -> list[dict[str, Number]]:
        """Every event as a dict, whole numbers as integers."""
        return self.cells().objects(names)


def conjunction_texts(conditions: list[str], offsets: Integers) -> list[str]:
    """The text of every subscription, from the texts of conditions."""
    return [" and ".join(conditions[start:end]) for start, end in pairwise(offsets.tolist())]


def _interval_text(name: str, low: Number, high: Number) -> str:
    """One condition; doubles have enough digits to read the same double back."""
    if low == high:
        return f"{name} = {low}"
    if low == -inf:
        return f"{name} <= {high}"
    if high == inf:
        return f"{name} >= {low}"
    return f"{name} between {low} and {high}"


def _numbers(values: Floats) -> list[Number]:
    """Values with whole numbers as integers, as far as doubles represent all of them."""
    return [int(value) if value.is_integer() and abs(value) <= 2**53 else value for value in values.tolist()]


TextValue: TypeAlias = str | list[str] | None

# 1,000 words of three syllables: 100 begin with a given syllable, 100 end with it, 271 contain it.
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru")
WORDS = tuple(map("".join, product(SYLLABLES, repeat=3)))

NULL_WORD = -1  # the word number of null


class Kind(IntEnum):
    """The kind of a condition on a text attribute."""

    EQUAL = 0
    IN = 1
    UNEQUAL = 2
    PREFIX = 3
    SUFFIX = 4
    CONTAINS = 5
    NULL = 6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextConditions:
    """Subscriptions that are conjunctions of conditions on different text attributes.

    Parameters
    ----------
    offsets : subscription s has the conditions from offsets[s] up to offsets[s + 1]; int64
    attribute : index of each condition's attribute; int32
    kind : of each condition, a `Kind`; uint8
    rank : popularity of each condition's word on its attribute, 0 = most popular; int32
    size : number of words in order of popularity (IN), or of syllables (PREFIX, SUFFIX, CONTAINS); uint8
    orders : entry [a, r] is the number in `WORDS` of attribute a's word of rank r
    """

    offsets: Integers
    attribute: Integers
    kind: Integers
    rank: Integers
    size: Integers
    orders: Integers

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def texts(self, names: Sequence[str]) -> list[str]:
        """The filter text of every subscription; equal conditions are written only once."""
        columns = (self.attribute, self.kind, self.rank, self.size)
        ends = (len(names), len(Kind), len(WORDS), 256)
        codes, numbers = np.unique(np.ravel_multi_index(columns, ends), return_inverse=True)
        different = zip(*(column.tolist() for column in np.unravel_index(codes, ends)), strict=True)
        written = [
            f"{names[attribute]} {_condition_text(Kind(kind), self._words(attribute, rank, size), size)}"
            for attribute, kind, rank, size in different
        ]
        return conjunction_texts([written[number] for number in numbers.tolist()], self.offsets)

    def _words(self, attribute: int, rank: int, size: int) -> list[str]:
        """The word of a rank and the ones after it, wrapping around."""
        order = self.orders[attribute]
        return [WORDS[order[(rank + step) % len(order)]] for step in range(size)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextEvents:
    """Events over words.

    Parameters
    ----------
    sizes : per event and attribute, 0 = missing, 1 = a word or null, more = a list of this many words; uint8
    words : per event, attribute and element, the word's number in `WORDS` or `NULL_WORD`; int16
    """

    sizes: Integers
    words: Integers

    def __len__(self) -> int:
        return len(self.sizes)

    def objects(self, names: Sequence[str]) -> list[dict[str, TextValue]]:
        """Every event as a dict."""
        return [
            {
                name: _value(size, words)
                for name, size, words in zip(names, sizes.tolist(), words_of_event.tolist(), strict=True)
                if size
            }
            for sizes, words_of_event in zip(self.sizes, self.words, strict=True)
        ]


_CONDITIONS = {
    Kind.EQUAL: "= '{word}'",
    Kind.IN: "in ({words})",
    Kind.UNEQUAL: "!= '{word}'",
    Kind.PREFIX: "like '{start}%'",
    Kind.SUFFIX: "like '%{end}'",
    Kind.CONTAINS: "like '%{end}%'",
    Kind.NULL: "is null",
}


def _condition_text(kind: Kind, words: list[str], size: int) -> str:
    """The text after the attribute."""
    word, letters = words[0], 2 * size
    parts = {"words": ", ".join(map(repr, words)), "start": word[:letters], "end": word[-letters:]}
    return _CONDITIONS[kind].format(word=word, **parts)


def _value(size: int, words: list[int]) -> TextValue:
    if size > 1:
        return [WORDS[word] for word in words[:size]]
    return None if words[0] == NULL_WORD else WORDS[words[0]]
