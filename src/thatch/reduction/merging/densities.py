"""How likely an event satisfies a constraint: measured, or as if values were spread evenly.

Attributes are taken to be independent of each other. Where little is known the estimate is one from above, so that a
merger seems worse than it is and never better.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import ceil, floor, inf, isfinite
from typing import ClassVar, Protocol

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import (
    NUMBERS,
    RANK_NUMBER,
    TEXTS,
    TOP,
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
from thatch.model.schema import Decimal, Enum, Integer, Line, Number, Schema, Text, line_of

__all__ = ["Density", "Profiled", "Uniform"]

# Missing, null, false, true, NaN: nothing tells how often they come, but that one boolean excludes the other.
_SINGLES = (1.0, 1.0, 0.5, 0.5, 1.0)
_MOST_SHARES = 100_000  # that are kept of one attribute, or of a profile


class Density(Protocol):
    """Where events lie."""

    is_measured: ClassVar[bool]  # whether it may know that some values never come

    def observe(self, conjunction: Conjunction) -> None:
        """Know the values that a subscription names."""

    def probability(self, key: str, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint on an attribute, or more."""


class _Seen:
    """The values that filters name on one attribute."""

    __slots__ = ("are_whole", "greatest", "least", "numbers", "texts")

    def __init__(self) -> None:
        self.numbers: set[float] = set()
        self.least = self.greatest = 0.0
        self.are_whole = True
        self.texts: list[str] = []  # rising

    def add(self, value: float | str) -> bool:
        """Know a value that is none of the numbers; whether that changes any share."""
        if isinstance(value, str):
            at = bisect_left(self.texts, value)
            if at < len(self.texts) and self.texts[at] == value:
                return False
            self.texts.insert(at, value)
            return True
        if not isfinite(value):
            return False
        before = (self.least, self.greatest, self.are_whole)
        self.least = min(self.least, value) if self.numbers else value
        self.greatest = max(self.greatest, value) if self.numbers else value
        self.are_whole = self.are_whole and float(value).is_integer()
        self.numbers.add(value)
        return not self.are_whole or before != (self.least, self.greatest, self.are_whole)


_NOTHING_SEEN = _Seen()


class Uniform:
    """Values lie evenly in their declared bounds; without these, between the least and the greatest that filters name.

    Numbers that are only named as whole ones are counted as such, which paper L does with all. Of texts those that are
    named are alike, and all others together are one more.
    """

    is_measured: ClassVar[bool] = False

    def __init__(self, schema: Schema | None = None) -> None:
        self._schema = schema
        self._seen: dict[str, _Seen] = {}
        self._shares: dict[str, dict[Constraint, float]] = {}  # that were asked for, by attribute

    def observe(self, conjunction: Conjunction) -> None:
        """Know the values that a subscription names."""
        for key, constraint in conjunction.constraints:
            seen = self._seen.get(key)
            if seen is None:
                seen = self._seen[key] = _Seen()
            for cut in constraint:
                if len(cut) == 3 and cut[1] not in seen.numbers and seen.add(cut[1]):
                    self._shares.pop(key, None)

    def probability(self, key: str, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint on an attribute, or more."""
        known = self._shares.get(key)
        if known is None:
            known = self._shares[key] = {}
        share = known.get(constraint)
        if share is None:
            if len(known) >= _MOST_SHARES:
                known.clear()
            share = known[constraint] = self._share(key, constraint)
        return share

    def _share(self, key: str, constraint: Constraint) -> float:
        line = line_of(key, self._schema)
        share = sum(single for rank, single in enumerate(_SINGLES) if contains(constraint, (rank,)))
        if isinstance(line, Enum):
            inside = sum(contains(constraint, point(value)) for value in line.values)
            return min(share + inside / len(line.values), 1.0)
        numbers, texts = intersect(constraint, NUMBERS), intersect(constraint, TEXTS)
        seen = self._seen.get(key, _NOTHING_SEEN)
        # What is not of the declared type counts as missing.
        if numbers and not isinstance(line, Text):
            share += _share_of_numbers(line, seen, numbers)
        if texts and not isinstance(line, (Integer, Number, Decimal)):
            share += _share_of_texts(seen.texts, texts)
        return min(share, 1.0)


def _share_of_numbers(line: Line | None, seen: _Seen, numbers: Constraint) -> float:
    least, greatest = seen.least, seen.greatest
    if isinstance(line, (Integer, Number, Decimal)):
        least = least if line.minimum is None else line.minimum
        greatest = greatest if line.maximum is None else line.maximum
    if numbers == NUMBERS or greatest <= least:
        return 1.0
    if isinstance(line, Integer):
        size = int(greatest) - int(least) + 1
        return sum(_whole(low, high, least, greatest) for low, high in intervals(numbers)) / size
    if line is None and seen.are_whole:
        size = int(greatest) - int(least) + 1
        return sum(
            max(_whole(low, high, least, greatest), _width(low, high, least, greatest)) / size
            for low, high in intervals(numbers)
        )
    return sum(
        max(_width(low, high, least, greatest) / (greatest - least), 1 / max(len(seen.numbers), 1))
        for low, high in intervals(numbers)
    )


def _share_of_texts(named: list[str], texts: Constraint) -> float:
    inside = others = 0
    for low, high in intervals(texts):
        inside += _texts_below(named, high) - _texts_below(named, low)
        others += not is_single(low, high)
    return (inside + min(others, 1)) / (len(named) + 1) if inside or others else 1 / (len(named) + 1)


def _texts_below(named: list[str], cut: Cut) -> int:
    if len(cut) == 1:
        return len(named) if cut == TOP else 0
    return (bisect_right if cut[2] else bisect_left)(named, cut[1])


class Profiled:
    """Events as a profile of a log has them; what it lacks is taken as uniform, not as never present."""

    is_measured: ClassVar[bool] = True

    def __init__(self, profile: Profile, schema: Schema | None = None) -> None:
        self._profile, self._schema, self._rest = profile, schema, Uniform(schema)
        self._shares: dict[tuple[str, Constraint], float] = {}  # that were asked for

    def observe(self, conjunction: Conjunction) -> None:
        """Know the values that a subscription names."""
        self._rest.observe(conjunction)

    def probability(self, key: str, constraint: Constraint) -> float:
        """The share of events that satisfy a constraint on an attribute, or more."""
        if self._profile.attribute(base_of(key)) is None:
            return self._rest.probability(key, constraint)
        share = self._shares.get((key, constraint))
        if share is None:
            if len(self._shares) >= _MOST_SHARES:
                self._shares.clear()
            share = self._profile.probability(key, constraint, self._schema)
            self._shares[key, constraint] = share
        return share


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
