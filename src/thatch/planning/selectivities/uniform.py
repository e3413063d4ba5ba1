"""Selectivities without any history: values spread evenly over domains.

The domain of an attribute is its declared one, if the schema bounds it. Else it is what the predicates name: the numbers
around those that stand in a range, or, where they name single values or texts, those values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf

import numpy as np

from thatch.matching.problem import Spread
from thatch.model.lines import (
    NUMBERS,
    PRESENT,
    RANK_NUMBER,
    RANK_TEXT,
    Constraint,
    Cut,
    contains,
    first_point,
    intersect,
    intervals,
    is_single,
    point,
)
from thatch.model.names import split
from thatch.model.printing import PrintedCondition
from thatch.model.schema import Enum, Integer, Schema, line_of

__all__ = ["UniformDomains", "uniform_domains"]

_PARTS = 200  # of a range, as an index is told it
_UNKNOWN = 0.5  # of a condition that names no value, such as any text


@dataclass(frozen=True, slots=True)
class _Range:
    """Numbers between two bounds, both included; whole ones are counted, others measured."""

    low: float
    high: float
    is_whole: bool = False

    def share(self, constraint: Constraint) -> float:
        end = self.high + self.is_whole
        if end <= self.low:
            return _UNKNOWN
        inside = 0.0
        for low, high in intervals(intersect(constraint, NUMBERS)):
            inside += max(min(self._position(high), end) - max(self._position(low), self.low), 0.0)
        return min(inside / (end - self.low), 1.0)

    def spread(self) -> Spread:
        middles = (np.arange(_PARTS) + 0.5) / _PARTS  # of equal parts
        numbers = np.asarray(self.low + (self.high - self.low) * middles, np.float64)
        return Spread(np.zeros(RANK_NUMBER), numbers, np.full(_PARTS, 1.0 / _PARTS), (), np.zeros(0))

    def _position(self, cut: Cut) -> float:
        """The number at a cut; of whole ones, the first above it."""
        if len(cut) == 1:
            return -inf if cut[0] == RANK_NUMBER else inf
        value, side = cut[1], cut[2]
        if not self.is_whole or abs(value) == inf:
            return float(value)
        return float(floor(value) + 1 if side else ceil(value))


@dataclass(frozen=True, slots=True)
class _Values:
    """Single values, all alike."""

    places: tuple[Cut, ...]

    def share(self, constraint: Constraint) -> float:
        if not self.places:
            return _UNKNOWN
        return sum(contains(constraint, place) for place in self.places) / len(self.places)

    def spread(self) -> Spread:
        share = 1.0 / max(len(self.places), 1)
        singles = np.zeros(RANK_NUMBER)
        for place in self.places:
            if place[0] < RANK_NUMBER:
                singles[place[0]] = share
        numbers = np.array(sorted(float(place[1]) for place in self.places if place[0] == RANK_NUMBER))
        texts = tuple(sorted(place[1].encode() for place in self.places if place[0] == RANK_TEXT))
        return Spread(singles, numbers, np.full(len(numbers), share), texts, np.full(len(texts), share))


class UniformDomains:
    """A source that spreads values evenly; `uniform_domains` makes one."""

    def __init__(self, domains: dict[str, _Range | _Values]) -> None:
        self._domains = domains

    def selectivity(self, predicate: PrintedCondition) -> float:
        """The share of the domain that satisfies a predicate; every event is taken to have every attribute.

        Notes
        -----
        A check that is no interval counts as its necessary intervals do, and with none of them as one half.
        """
        share = 1.0 if predicate.constraints else _UNKNOWN
        for key, constraint in predicate.constraints:
            share *= 1.0 if constraint == PRESENT else self._domains[key].share(constraint)
        return share

    def spreads(self) -> dict[str, Spread]:
        """How the values of attributes lie, as an index is told it."""
        return {key: domain.spread() for key, domain in self._domains.items()}


def uniform_domains(predicates: Sequence[PrintedCondition], schema: Schema | None = None) -> UniformDomains:
    """Domains for these predicates."""
    constraints: dict[str, list[Constraint]] = {}
    for each in predicates:
        for key, constraint in each.constraints:
            constraints.setdefault(key, []).append(constraint)
    return UniformDomains({key: _domain(key, some, schema) for key, some in constraints.items()})


def _domain(key: str, constraints: Sequence[Constraint], schema: Schema | None) -> _Range | _Values:
    line = None if split(key)[0] else line_of(key, schema)
    if isinstance(line, Enum):
        return _Values(tuple(point(value) for value in line.values))
    low, high = getattr(line, "minimum", None), getattr(line, "maximum", None)
    if low is not None and high is not None and -inf < low and high < inf:
        return _Range(low, high, is_whole=isinstance(line, Integer))
    cuts = {cut for each in constraints for cut in each}
    numbers = {cut[1] for cut in cuts if cut[0] == RANK_NUMBER and len(cut) == 3 and abs(cut[1]) < inf}
    if any(cut[0] == RANK_TEXT and len(cut) == 3 for cut in cuts) or not numbers or _are_single(constraints):
        return _Values(tuple(sorted(_named(constraints))))
    # As far beyond the outermost numbers as there is between two of them in the mean.
    margin = (max(numbers) - min(numbers)) / max(len(numbers) - 1, 1)
    return _Range(min(numbers) - margin, max(numbers) + margin)


def _are_single(constraints: Iterable[Constraint]) -> bool:
    return all(is_single(low, high) for each in constraints for low, high in intervals(each))


def _named(constraints: Iterable[Constraint]) -> set[Cut]:
    """The places of all values that some end of an interval names."""
    found = set()
    for constraint in constraints:
        for part in intersect(constraint, PRESENT):
            if len(part) == 3:
                found.add((part[0], part[1], 0))
        for low, high in intervals(constraint):
            if low[0] < RANK_NUMBER and is_single(low, high):
                found.add(first_point(low))
    return found
