"""Samples by hash: of all that may be drawn those with the smallest hashes are.

A sample is then the same whoever draws it and in whatever parts: each part tells its smallest, and the smallest of these are
the smallest of all. A key decides which sample it is. Paper 003 draws by weight and does not say how.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.each import Each, here
from thatch.placement.rows import Floats, Ints

__all__ = ["by_weight", "hashed", "key_of", "quotas", "within_strata"]

_PART = 1 << 18  # numbers that are hashed together
_GOLDEN = 0x9E3779B97F4A7C15
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))  # those of SplitMix64


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """What may be drawn: the stratum and the weight of each number, and how many are drawn of each stratum."""

    strata: Ints
    weights: Floats | None
    wanted: Ints
    key: int


def key_of(rng: np.random.Generator) -> int:
    """The key of another sample."""
    return int(rng.integers(2**63))


def within_strata(strata: Ints, wanted: Ints, key: int, each: Each = here) -> Ints:
    """Numbers from 0 drawn without replacement, all of a stratum alike; rising.

    Parameters
    ----------
    strata : the stratum of each number
    wanted : how many of each stratum are drawn; all of it where it has fewer
    key : another one gives another sample
    """
    return _drawn(_Draw(strata, None, wanted, key), each)


def by_weight(weights: Floats, size: int, key: int, each: Each = here) -> Ints:
    """Numbers from 0 drawn one after the other without replacement, each time by weight; rising."""
    return _drawn(_Draw(np.zeros(len(weights), np.int64), weights, np.array([size]), key), each)


def quotas(mass: Ints, size: int, start: float) -> Ints:
    """How many of `size` draws fall to each stratum: points at equal distances on the sum of their masses.

    Parameters
    ----------
    start : where the first point lies, from 0 to below 1 of the distance
    """
    ends = np.cumsum(mass)
    points = np.minimum((np.arange(size) + start) * (ends[-1] / size), np.nextafter(ends[-1], 0))
    return np.bincount(np.searchsorted(ends, points, "right"), minlength=len(mass))


def hashed(numbers: Ints, key: int) -> Floats:
    """A number from 0 to below 1 for each, as if it were random, and another one for another key."""
    mixed = (numbers.astype(np.uint64) + np.uint64(key)) * np.uint64(_GOLDEN)
    for shift, factor in _MIXERS:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _drawn(draw: _Draw, each: Each) -> Ints:
    parts = [(at, min(at + _PART, len(draw.strata))) for at in range(0, len(draw.strata), _PART)]
    found = each(draw, _smallest, parts)
    numbers, order = (np.concatenate(column) for column in zip(*found, strict=True))
    return np.sort(numbers[_first(order, draw.strata[numbers], draw.wanted)])


def _smallest(draw: _Draw, part: tuple[int, int]) -> tuple[Ints, Floats]:
    """Who of a part may be among the drawn, and what decides who comes first."""
    numbers = np.arange(*part)
    order = hashed(numbers, draw.key)
    if draw.weights is not None:
        # The first event of each of many clocks that tick at the rates of their weights (Efraimidis and Spirakis).
        order = -np.log1p(-order) / draw.weights[slice(*part)]
    chosen = _first(order, draw.strata[slice(*part)], draw.wanted)
    return numbers[chosen], order[chosen]


def _first(order: Floats, strata: Ints, wanted: Ints) -> Ints:
    """The places of those that come first in their strata, as many as are wanted."""
    by_stratum = np.lexsort((order, strata))
    sizes = np.bincount(strata, minlength=len(wanted))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return by_stratum[rank < wanted[strata[by_stratum]]]
