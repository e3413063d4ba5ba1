"""Samples by hash: draw the numbers with the smallest hashes.

A sample is then the same in however many pieces it is drawn: each piece returns its smallest, and the smallest of these are
the smallest of all. A key selects the sample. yu2012 draws by weight and does not say how; this draws without replacement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.executor import Executor, run_here, spans

__all__ = ["draw_by_weight", "draw_from_strata", "hash_numbers", "new_key", "quotas"]

_PIECE = 1 << 18  # numbers that are hashed together
_GOLDEN = 0x9E3779B97F4A7C15
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))  # those of SplitMix64


@dataclass(frozen=True, slots=True, eq=False)
class _Draw:
    """The stratum and the weight of each number, and how many to draw from each stratum."""

    strata: Ints
    weights: Floats | None
    sizes: Ints
    key: int


def new_key(rng: np.random.Generator) -> int:
    """The key of a new sample."""
    return int(rng.integers(2**63))


def draw_from_strata(strata: Ints, sizes: Ints, key: int, executor: Executor = run_here) -> Ints:
    """Draw numbers from 0 without replacement, all of a stratum equally likely; sorted.

    Parameters
    ----------
    strata : the stratum of each number
    sizes : how many to draw from each stratum; all of it where it has fewer
    key : another one gives another sample
    """
    return _draw(_Draw(strata, None, sizes, key), executor)


def draw_by_weight(weights: Floats, size: int, key: int, executor: Executor = run_here) -> Ints:
    """Draw numbers from 0 one after the other without replacement, each time by weight; sorted."""
    return _draw(_Draw(np.zeros(len(weights), np.int64), weights, np.array([size]), key), executor)


def quotas(mass: Ints, size: int, start: float) -> Ints:
    """How many of `size` draws each stratum gets: points at equal distances on the running sum of masses.

    Parameters
    ----------
    start : where the first point lies, as a share of the distance, from 0 to below 1
    """
    ends = np.cumsum(mass)
    points = np.minimum((np.arange(size) + start) * (ends[-1] / size), np.nextafter(ends[-1], 0))
    return np.bincount(np.searchsorted(ends, points, "right"), minlength=len(mass))


def hash_numbers(numbers: Ints, key: int) -> Floats:
    """A number from 0 to below 1 for each number: random for all we know, and different for another key."""
    mixed = (numbers.astype(np.uint64) + np.uint64(key)) * np.uint64(_GOLDEN)
    for shift, factor in _MIXERS:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _draw(draw: _Draw, executor: Executor) -> Ints:
    found = executor(draw, _smallest, spans(len(draw.strata), size=_PIECE))
    numbers, order = (np.concatenate(column) for column in zip(*found, strict=True))
    return np.sort(numbers[_first(order, draw.strata[numbers], draw.sizes)])


def _smallest(draw: _Draw, span: tuple[int, int]) -> tuple[Ints, Floats]:
    """The numbers of a range that may be drawn, and their order."""
    numbers = np.arange(*span)
    order = hash_numbers(numbers, draw.key)
    if draw.weights is not None:
        # The first ticks of clocks that tick at the rates of their weights (Efraimidis and Spirakis).
        order = -np.log1p(-order) / draw.weights[slice(*span)]
    chosen = _first(order, draw.strata[slice(*span)], draw.sizes)
    return numbers[chosen], order[chosen]


def _first(order: Floats, strata: Ints, sizes: Ints) -> Ints:
    """The positions that come first in their strata, as many as `sizes` says."""
    by_stratum = np.lexsort((order, strata))
    present = np.bincount(strata, minlength=len(sizes))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(present) - present, present)
    return by_stratum[rank < sizes[strata[by_stratum]]]
