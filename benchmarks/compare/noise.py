"""Change or noise? An exact test of ranks (Mann–Whitney) on a handful of rounds, and a smallest change that counts.

With five rounds of each, only a complete or almost complete separation of the two is a change; the chance of
either by luck is below `LEVEL`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from statistics import median
from typing import Literal

__all__ = ["FEWEST", "LEVEL", "SMALLEST", "Comparison", "compare_rounds", "rank_test"]

FEWEST = 5  # rounds; with fewer, not even complete separation would be below the level
LEVEL = 0.02
SMALLEST = 0.05  # a change below 5 % is not told, however sure
_MOST_EXACT = 9  # rounds up to which all splits are counted one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A figure of two commits; less is better."""

    name: str
    base: float  # medians
    head: float
    chance: float  # of a difference as great if there is none

    @property
    def ratio(self) -> float:
        """Head to base."""
        return self.head / self.base

    @property
    def verdict(self) -> Literal["quicker", "slower", "noise"]:
        """What it means."""
        if self.chance > LEVEL or abs(self.ratio - 1) < SMALLEST:
            return "noise"
        return "quicker" if self.ratio < 1 else "slower"


def compare_rounds(name: str, base: Sequence[float], head: Sequence[float]) -> Comparison:
    """The medians of two series of rounds, and how likely such a difference is by chance."""
    return Comparison(name=name, base=median(base), head=median(head), chance=rank_test(base, head))


def rank_test(first: Sequence[float], second: Sequence[float]) -> float:
    """The share of all ways to split the values in which the first series lies as far from the middle, or farther.

    Notes
    -----
    Exact, ties included, by counting all splits; above nine values each that would take long, and rounds beyond
    the ninth of each are left out.
    """
    first, second = first[:_MOST_EXACT], second[:_MOST_EXACT]
    pooled = [*first, *second]
    ranks = [
        sum(other < value for other in pooled) + sum(other == value for other in pooled) / 2
        for value in pooled
    ]
    middle = sum(ranks) * len(first) / len(pooled)
    seen = abs(sum(ranks[: len(first)]) - middle)
    as_far = sum(
        abs(sum(ranks[place] for place in places) - middle) >= seen - 1e-9
        for places in combinations(range(len(pooled)), len(first))
    )
    return as_far / comb(len(pooled), len(first))
