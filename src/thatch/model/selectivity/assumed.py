"""The distribution of an attribute of which nothing was measured, and what it may be at most."""

from __future__ import annotations

from bisect import bisect_left
from math import inf, isfinite

from thatch.model.lines import (
    BOTTOM,
    NUMBERS,
    RANK_NUMBER,
    RANK_TEXT,
    TEXTS,
    TOP,
    Constraint,
    Cut,
    above,
    below,
    contains,
    intersect,
    intervals,
    is_single,
    point,
)
from thatch.model.schema import tighten
from thatch.model.selectivity.distribution import Distribution
from thatch.model.selectivity.named import NamedValues
from thatch.model.types import Decimal, Enum, Integer, Line, Number
from thatch.model.values import MAX_INTEGER, MIN_INTEGER

__all__ = ["assumed_distribution", "assumed_upper"]

_SINGLES = (0, 1, 4)  # missing, null, NaN
_KINDS = ((2, 3), (RANK_NUMBER,), (RANK_TEXT,))  # booleans, numbers, texts
# Upper estimates for missing, null, false, true, NaN: all is possible, but one boolean excludes the other.
_UPPER_SINGLES = (1.0, 1.0, 0.5, 0.5, 1.0)


def assumed_distribution(line: Line | None, named: NamedValues) -> Distribution:
    """The distribution of an attribute of this declared type, if any, on which filters name these values."""
    shares = _shares(line, named)
    atoms = {(rank,): share for rank, share in enumerate(shares[:RANK_NUMBER])}
    if isinstance(line, Enum):
        values = 1.0 - sum(shares)
        for value in line.values:
            atoms[point(value)] = atoms.get(point(value), 0.0) + values / len(line.values)
        return Distribution(atoms, (BOTTOM,), (0.0,))
    low, high = _reach(line, named)
    numbers, texts = shares[RANK_NUMBER:]
    return Distribution(
        atoms,
        ((RANK_NUMBER,), low, high, (RANK_TEXT,), TOP),
        (0.0, 0.0, numbers, 0.0, texts),
        rare=(numbers / (named.numbers + 1), texts / (len(named.points) - named.numbers + 1)),
        named=named,
        is_whole=isinstance(line, Integer) and all(map(isfinite, _declared(line))),
    )


def assumed_upper(line: Line | None, named: NamedValues, constraint: Constraint) -> float:
    """As many events as may satisfy a constraint: each part of the line may be all that comes."""
    upper = 0.0
    if constraint and constraint[0] < NUMBERS[0]:
        upper += sum(each for rank, each in enumerate(_UPPER_SINGLES) if contains(constraint, (rank,)))
    if isinstance(line, Enum):
        upper += sum(contains(constraint, point(value)) for value in line.values) / len(line.values)
    else:
        upper += _upper_numbers(line, named, intersect(constraint, tighten(NUMBERS, line)))
        upper += _upper_texts(named, intersect(constraint, tighten(TEXTS, line)))
    return min(upper, 1.0)


def _shares(line: Line | None, named: NamedValues) -> list[float]:
    """The share of each part of a line: those that filters ask about weigh the same, both booleans as one.

    What an enumeration lists is left out.
    """
    asked = {rank for rank in named.ranks if tighten(((rank,), (rank + 1,)), line)}
    singles = asked.intersection(_SINGLES)
    kinds = [kind for kind in _KINDS if not asked.isdisjoint(kind)]
    if isinstance(line, Enum):
        return [1.0 / (len(singles) + 1) if rank in singles else 0.0 for rank in range(TOP[0])]
    possible = kinds or [kind for kind in _KINDS if tighten(((kind[0],), (kind[-1] + 1,)), line)]
    unit = 1.0 / (len(singles) + max(len(kinds), 1))
    shares = [unit if rank in singles else 0.0 for rank in range(TOP[0])]
    for kind in possible:
        for rank in kind:
            shares[rank] = unit * max(len(kinds), 1) / len(possible) / len(kind)
    return shares


def _reach(line: Line | None, named: NamedValues) -> tuple[Cut, Cut]:
    """Where numbers lie: between declared bounds, or from a step below the least named one to a step above the greatest."""
    low, high = _declared(line)
    count = named.numbers
    if count:
        least, greatest = named.points[0][1], named.points[count - 1][1]
        step = (greatest - least) / (count - 1) if count > 1 else max(abs(least), 1.0)
        low, high = least - step if low == -inf else low, greatest + step if high == inf else high
    if not isfinite(low) or not isfinite(high) or low > high:
        return NUMBERS[0], NUMBERS[1]
    return below(low), above(high)


def _declared(line: Line | None) -> tuple[float, float]:
    """Declared bounds of numbers; where there is none, an infinite one."""
    if not isinstance(line, (Number, Integer, Decimal)):
        return -inf, inf
    low, high = line.minimum, line.maximum
    return -inf if low in (None, MIN_INTEGER) else low, inf if high in (None, MAX_INTEGER) else high


def _upper_numbers(line: Line | None, named: NamedValues, numbers: Constraint) -> float:
    """The share of numbers inside, if they lie evenly between the outermost that are declared or named."""
    if not numbers:
        return 0.0
    low, high = _declared(line)
    if named.numbers:
        low = named.points[0][1] if low == -inf else low
        high = named.points[named.numbers - 1][1] if high == inf else high
    if not isfinite(low) or not isfinite(high) or high <= low or numbers == tighten(NUMBERS, line):
        return 1.0
    ends, masses = (below(low), above(high)), (0.0, 1.0)
    widths = _inside(Distribution({}, ends, masses), numbers)
    is_whole = isinstance(line, Integer)
    if not is_whole and (line is not None or not named.is_whole):
        return sum(max(width, 1.0 / max(named.numbers, 1)) for width in widths)
    counts = _inside(Distribution({}, ends, masses, is_whole=True), numbers)
    if is_whole:
        return sum(counts)
    # Only whole numbers are named, but others may come.
    scale = (high - low) / (high - low + 1)
    return sum(max(count, width * scale) for count, width in zip(counts, widths, strict=True))


def _inside(distribution: Distribution, constraint: Constraint) -> list[float]:
    return [distribution.below(high) - distribution.below(low) for low, high in intervals(constraint)]


def _upper_texts(named: NamedValues, texts: Constraint) -> float:
    """The share of texts inside, if each that is named is as likely as all others together."""
    if not texts:
        return 0.0
    inside = is_open = 0
    for low, high in intervals(texts):
        inside += bisect_left(named.points, high) - bisect_left(named.points, low)
        is_open |= not is_single(low, high)
    return max(inside + is_open, 1) / (len(named.points) - named.numbers + 1)
