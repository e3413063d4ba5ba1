"""How much of a distribution lies in a part of the line, from quantiles and the most frequent values.

Quantiles stand at equal steps from the least value to the greatest. A cut between two neighbouring quantiles has a
rank between theirs: numbers are taken to lie evenly there, texts to lie half below it. So a rank is wrong by less than
one step, and an interval's share by less than two. The most frequent values then bound it from both sides: what lies
inside is at least what is known to lie there, and at most all but what is known to lie outside.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from thatch.model.lines import Constraint, Cut, Literal, contains, first_point, intervals, is_single, point

__all__ = ["Distribution"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Values of one type: numbers, or texts.

    Parameters
    ----------
    values : how many
    distinct : how many different ones, about
    quantiles : at equal steps, the least and the greatest included; empty if there are none
    heavy : the most frequent values with their counts
    """

    values: int
    distinct: int
    quantiles: Sequence[Any]
    heavy: Sequence[tuple[Literal, int]]

    def share(self, part: Constraint) -> float:
        """The share of the values that lie in a part of their segment of the line."""
        if not self.values or not self.quantiles or not part:
            return 0.0
        inside = sum(count for value, count in self.heavy if contains(part, point(value))) / self.values
        known = min(sum(count for _, count in self.heavy) / self.values, 1.0)
        spread = 0.0
        for low, high in intervals(part):
            if is_single(low, high):
                spread += self._one(first_point(low), known)
            else:
                spread += max(self._rank(high) - self._rank(low), 0.0)
        return min(max(spread, inside), 1.0 - max(known - inside, 0.0))

    def _one(self, place: Cut, known: float) -> float:
        """The share of a single value: counted, or as much as others that are not frequent have."""
        for value, count in self.heavy:
            if point(value) == place:
                return count / self.values
        if place[1] < self.quantiles[0] or place[1] > self.quantiles[-1]:
            return 0.0
        rest = max(self.distinct - len(self.heavy), 1)
        least = min((count for _, count in self.heavy), default=self.values)
        return min((1.0 - known) / rest, least / self.values)

    def _rank(self, cut: Cut) -> float:
        """The share of values below a cut of this segment, or at one of its ends."""
        quantiles = self.quantiles
        if len(cut) == 1:
            return 0.0 if cut <= point(quantiles[0]) else 1.0
        value, side = cut[1], cut[2]
        at = bisect_right(quantiles, value) if side else bisect_left(quantiles, value)
        if at in (0, len(quantiles)):
            return 0.0 if at == 0 else 1.0
        low, high = quantiles[at - 1], quantiles[at]
        within = 0.5
        if not isinstance(value, str) and isfinite(low) and isfinite(high) and isfinite(high - low):
            within = (value - low) / (high - low)
        return (at - 1 + within) / (len(quantiles) - 1)
