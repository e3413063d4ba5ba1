"""Which gaps are closed: the cheapest first, as many as the budget allows, and what each choice costs.

A *false positive* is an event that passes what is forwarded although no subscription wants it. Its rate is the share of
all events. `measured` counts each such event once, as the one who forwards pays for it; `measured_sum` counts it once
for every gap that lets it through, as if each merger stood on a link of its own.

The log is split in two. The first half tells what gaps cost, and so their order, and how many of them the budget allows.
The second half, which had no say in that, tells whether it is true: of this order the longest beginning is taken whose
upper 95 % bound is within the budget. Since longer beginnings let through more, they are all tested at once: the first
one that is truly beyond the budget is accepted with a probability of at most 5 %, and so is any after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.pipeline.transforms.merging.confidence import most_allowed, upper_bound
from thatch.reduction.boxes import Ints

__all__ = ["Counts", "Frontier", "costs_of", "frontier_of", "order_of"]

Floats = npt.NDArray[np.float64]

_POINTS = 150  # of a curve by size, and as many by cost


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What one half of the log says, of gaps in the order in which they are closed.

    Parameters
    ----------
    events : how many there are
    first : for every gap, how many that nobody wants lie in it and in none before it
    every : for every gap, how many that nobody wants lie in it
    """

    events: int
    first: Ints
    every: Ints

    @classmethod
    def none(cls, gaps: int) -> Counts:
        """No events."""
        return cls(0, np.zeros(gaps, np.int64), np.zeros(gaps, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """What can be chosen, and what was.

    Parameters
    ----------
    components : rows that are forwarded if no gap is closed
    closed : how many gaps are closed, of those in order
    limit : how many the first half of the log, or the estimate, allows
    estimated : for each number of gaps, the sum of their costs
    trained, held : what the two halves of the log say
    """

    components: int
    closed: int
    limit: int
    estimated: Floats
    trained: Counts
    held: Counts

    @property
    def size(self) -> int:
        """How many rows are forwarded."""
        return self.components - self.closed

    def bound(self, closed: int) -> float | None:
        """The upper 95 % bound of the rate of false positives; None without a log. Perfect mergers have none."""
        if not closed:
            return 0.0
        count = int(self.held.first[:closed].sum())
        return upper_bound(count, self.held.events) if self.held.events else None

    def table(self) -> pa.Table:
        """Points of it, from the largest table to the smallest."""
        points = self._points()
        held, trained = self.held, self.trained
        return pa.table(
            {
                "size": pa.array(self.components - points),
                "closed": pa.array(points),
                "estimated": pa.array(self.estimated[points]),
                "trained": _rates(trained.first, trained.events, points),
                "measured": _rates(held.first, held.events, points),
                "measured_sum": _rates(held.every, held.events, points),
                "upper_bound": pa.array([self.bound(each) for each in points.tolist()], pa.float64()),
                "chosen": pa.array(points == self.closed),
            }
        )

    def _points(self) -> Ints:
        """Numbers of gaps: evenly by size, evenly by cost, and what was chosen."""
        gaps = len(self.estimated) - 1
        by_size = np.linspace(0, gaps, min(_POINTS, gaps + 1)).astype(np.int64)
        costs = np.linspace(0, self.estimated[-1], _POINTS)
        by_cost = np.searchsorted(self.estimated, costs, side="right") - 1
        points: Ints = np.unique(np.concatenate((by_size, by_cost, [self.closed])))
        return points


def costs_of(counts: Ints, masses: Floats, events: int) -> Floats:
    """The probability that an event lies in each gap in vain.

    Parameters
    ----------
    counts : events that nobody wants in each gap, of the first half of the log
    masses : what is thought of the gaps without a log; it weighs as much as one event
    """
    costs: Floats = (counts + masses) / (events + 1)
    return costs


def order_of(costs: Floats, rows: Ints) -> Ints:
    """Gaps in the order in which they are closed: each saves one row, so the cheapest first."""
    return np.lexsort((rows, costs))


def frontier_of(costs: Floats, components: int, budget: float, trained: Counts, held: Counts) -> Frontier:
    """What can be chosen of gaps in order, and what is: as small a table as the budget allows.

    Parameters
    ----------
    costs : of the gaps, in order
    """
    estimated = np.concatenate(([0.0], np.cumsum(costs)))
    if not budget:
        limit = closed = 0  # what was never seen is not impossible
    elif not trained.events and not held.events:
        limit = closed = _longest(estimated, budget)
    else:
        limit = _longest(_totals(trained.first), budget * trained.events)
        allowed = most_allowed(held.events, budget)
        # No gap closed is no false positive: that needs no proof.
        closed = min(limit, _longest(_totals(held.first), allowed)) if allowed >= 0 else 0
    return Frontier(components, closed, limit, estimated, trained, held)


def _totals(counts: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(counts)))


def _longest(totals: npt.NDArray[np.float64] | Ints, most: float) -> int:
    """How many gaps can be closed until a total exceeds a limit."""
    return int(np.searchsorted(totals, most, side="right")) - 1


def _rates(counts: Ints, events: int, points: Ints) -> pa.Array:
    if not events:
        return pa.nulls(len(points), pa.float64())
    return pa.array(_totals(counts)[points] / events)
