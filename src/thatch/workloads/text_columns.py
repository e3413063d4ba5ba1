"""Subscriptions and events over words as arrays, and the filter text and objects they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from typing import TypeAlias, assert_never

import numpy as np

from thatch.workloads.columns import Integers, conjunction_texts

__all__ = ["NULL_WORD", "WORDS", "Kind", "TextConditions", "TextEvents", "TextValue"]

TextValue: TypeAlias = str | list[str] | None

# 1,000 words of three syllables, so that 100 begin, 100 end and 271 somewhere have a given one.
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru")
WORDS = tuple(map("".join, product(SYLLABLES, repeat=3)))

NULL_WORD = -1  # stands for null among the numbers of words


class Kind(IntEnum):
    """What a condition says of a text attribute."""

    EQUAL = 0
    IN = 1
    UNEQUAL = 2
    PREFIX = 3
    SUFFIX = 4
    CONTAINS = 5
    NULL = 6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextConditions:
    """Subscriptions that are conjunctions of conditions on text, all attributes of one different.

    Parameters
    ----------
    offsets : subscription s has the conditions from offsets[s] up to offsets[s + 1]; int64
    attribute : index of each condition's attribute; int32
    kind : of each condition, a `Kind`; uint8
    rank : popularity of each condition's word on its attribute, 0 = most popular; int32
    size : how many words follow in popularity, the first included (IN), or syllables are meant (PREFIX,
        SUFFIX, CONTAINS); uint8
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
        """The filter text of every subscription; each different condition is written only once."""
        columns = (self.attribute, self.kind, self.rank, self.size)
        ends = (len(names), len(Kind), len(WORDS), 256)
        codes, places = np.unique(np.ravel_multi_index(columns, ends), return_inverse=True)
        different = zip(*(column.tolist() for column in np.unravel_index(codes, ends)), strict=True)
        written = [
            f"{names[attribute]} {_condition_text(Kind(kind), self._words(attribute, rank, size), size)}"
            for attribute, kind, rank, size in different
        ]
        return conjunction_texts([written[place] for place in places.tolist()], self.offsets)

    def _words(self, attribute: int, rank: int, size: int) -> list[str]:
        """The word of a rank and those that follow it, round the end."""
        order = self.orders[attribute]
        return [WORDS[order[(rank + step) % len(order)]] for step in range(size)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextEvents:
    """Events over words.

    Parameters
    ----------
    sizes : per event and attribute, 0 = missing, 1 = a word or null, more = a list of so many words; uint8
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


def _condition_text(kind: Kind, words: list[str], size: int) -> str:
    """What stands after the attribute."""
    word, letters = words[0], 2 * size
    match kind:
        case Kind.EQUAL:
            return f"= '{word}'"
        case Kind.IN:
            return f"in ({', '.join(map(repr, words))})"
        case Kind.UNEQUAL:
            return f"!= '{word}'"
        case Kind.PREFIX:
            return f"like '{word[:letters]}%'"
        case Kind.SUFFIX:
            return f"like '%{word[-letters:]}'"
        case Kind.CONTAINS:
            return f"like '%{word[-letters:]}%'"
        case Kind.NULL:
            return "is null"
        case _:
            assert_never(kind)


def _value(size: int, words: list[int]) -> TextValue:
    if size > 1:
        return [WORDS[word] for word in words[:size]]
    return None if words[0] == NULL_WORD else WORDS[words[0]]
