"""How likely an event satisfies a constraint: measured, or as if values were spread evenly.

Attributes are taken to be independent of each other. Where little is known the estimate is one from above, so that a
merger seems worse than it is and never better.
"""

from __future__ import annotations

from math import ceil, floor, inf, isfinite
from typing import Protocol

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import (
    NUMBERS,
    RANK_NUMBER,
    TEXTS,
    Constraint,
    Cut,
    contains,
    intersect,
    intervals,
    is_single,
    point,
)
from thatch.model.names import base_of
from thatch.model.profile import Profile
from thatch.model.schema import Decimal, Enum, Integer, Number, Schema, Text, line_of

__all__ = ["Density", "Profiled", "Uniform"]

# Missing, null, false, true, NaN: nothing tells how often they come, but that one boolean excludes the other.
_SINGLES = (1.0, 1.0, 0.5, 0.5, 1.0)


class Density(Protocol):
    """Where events lie."""

    def observe(self, conjunction: Conjunction) -> None:
        """Know the values that a subscription names."""

    def probability(self, key: str, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint on an attribute, or more."""


class Uniform:
    """Values lie evenly in their declared bounds; without these, between the least and the greatest that filters name.

    Numbers that are only named as whole ones are counted as such, which paper L does with all. Of texts those that are
    named are alike, and all others together are one more.
    """

    def __init__(self, schema: Schema | None = None) -> None:
        self._schema = schema
        self._numbers: dict[str, set[float]] = {}
        self._texts: dict[str, set[str]] = {}

    def observe(self, conjunction: Conjunction) -> None:
        """Know the values that a subscription names."""
        for key, constraint in conjunction.constraints:
            for cut in constraint:
                if len(cut) != 3:
                    continue
                if isinstance(cut[1], str):
                    self._texts.setdefault(key, set()).add(cut[1])
                elif isfinite(cut[1]):
                    self._numbers.setdefault(key, set()).add(cut[1])

    def probability(self, key: str, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint on an attribute, or more."""
        line = line_of(key, self._schema)
        share = sum(single for rank, single in enumerate(_SINGLES) if contains(constraint, (rank,)))
        if isinstance(line, Enum):
            inside = sum(contains(constraint, point(value)) for value in line.values)
            return min(share + inside / len(line.values), 1.0)
        numbers, texts = intersect(constraint, NUMBERS), intersect(constraint, TEXTS)
        # What is not of the declared type counts as missing.
        if numbers and not isinstance(line, Text):
            share += self._share_of_numbers(key, numbers)
        if texts and not isinstance(line, (Integer, Number, Decimal)):
            share += self._share_of_texts(key, texts)
        return min(share, 1.0)

    def _share_of_numbers(self, key: str, numbers: Constraint) -> float:
        line = line_of(key, self._schema)
        named = self._numbers.get(key, set())
        least, greatest = min(named, default=0), max(named, default=0)
        if isinstance(line, (Integer, Number, Decimal)):
            least = least if line.minimum is None else line.minimum
            greatest = greatest if line.maximum is None else line.maximum
        if numbers == NUMBERS or greatest <= least:
            return 1.0
        if isinstance(line, Integer):
            size = int(greatest) - int(least) + 1
            return sum(_whole(low, high, least, greatest) for low, high in intervals(numbers)) / size
        if line is None and all(float(each).is_integer() for each in named):
            size = int(greatest) - int(least) + 1
            return sum(
                max(_whole(low, high, least, greatest), _width(low, high, least, greatest)) / size
                for low, high in intervals(numbers)
            )
        return sum(
            max(_width(low, high, least, greatest) / (greatest - least), 1 / max(len(named), 1))
            for low, high in intervals(numbers)
        )

    def _share_of_texts(self, key: str, texts: Constraint) -> float:
        named = self._texts.get(key, set())
        inside = sum(contains(texts, point(text)) for text in named)
        others = sum(not is_single(low, high) for low, high in intervals(texts))
        return (inside + min(others, 1)) / (len(named) + 1) if inside or others else 1 / (len(named) + 1)


class Profiled:
    """Events as a profile of a log has them; what it lacks is taken as uniform, not as never present."""

    def __init__(self, profile: Profile, schema: Schema | None = None) -> None:
        self._profile, self._schema, self._rest = profile, schema, Uniform(schema)

    def observe(self, conjunction: Conjunction) -> None:
        """Know the values that a subscription names."""
        self._rest.observe(conjunction)

    def probability(self, key: str, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint on an attribute, or more."""
        if self._profile.attribute(base_of(key)) is None:
            return self._rest.probability(key, constraint)
        return self._profile.probability(key, constraint, self._schema)


def _whole(low: Cut, high: Cut, least: float, greatest: float) -> int:
    """How many whole numbers of a range lie between two cuts."""
    first, last = ceil(least), floor(greatest)
    if len(low) == 3 and low[1] != -inf:
        first = max(first, ceil(low[1]) if low[2] == 0 else floor(low[1]) + 1) if low[1] != inf else last + 1
    if high[0] == RANK_NUMBER and len(high) == 3 and high[1] != inf:
        last = (
            min(last, ceil(high[1]) - 1 if high[2] == 0 else floor(high[1])) if high[1] != -inf else first - 1
        )
    return max(last - first + 1, 0)


def _width(low: Cut, high: Cut, least: float, greatest: float) -> float:
    """How wide the part of a range between two cuts is."""
    first = max(low[1], least) if len(low) == 3 else least
    last = min(high[1], greatest) if high[0] == RANK_NUMBER and len(high) == 3 else greatest
    return max(float(last) - float(first), 0.0)
