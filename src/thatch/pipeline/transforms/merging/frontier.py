"""Choose which gaps are closed: the cheapest first, as many as the budget allows; and what each choice costs.

A *false positive* is an event that passes what is forwarded although no subscription wants it. Its rate is the share of
all events. `measured` counts each such event once, as whoever forwards pays for it; `measured_sum` counts it once for
every gap that lets it through, as if each merger were on a link of its own.

The log is split in two. The first half gives the costs of gaps, and so their order, and how many the budget allows. The
second half, which had no part in that choice, confirms it: the longest prefix of this order is taken whose upper 95 % bound
is within the budget. Since longer prefixes let through more, all of them are tested at once: the first prefix that is
truly beyond the budget is accepted with a probability of at most 5 %, and so is any longer one. The bound is the exact
upper bound of Clopper and Pearson.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import exp, lgamma, log, log1p, sqrt

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.reduction.boxes import Ints

__all__ = [
    "Frontier",
    "GapCounts",
    "choose_gaps",
    "estimate_costs",
    "fewest_trials",
    "most_allowed",
    "order_gaps",
    "upper_bound",
]

Floats = npt.NDArray[np.float64]

_POINTS = 150  # of a curve by size, and as many by cost


@dataclass(frozen=True, slots=True, eq=False)
class GapCounts:
    """What one half of the log says about gaps, in the order in which they are closed."""

    events: int  # how many there are
    first: Ints  # for every gap, how many unwanted events lie in it and in none before it
    every: Ints  # for every gap, how many unwanted events lie in it

    @classmethod
    def none(cls, gaps: int) -> GapCounts:
        """The counts of no events."""
        return cls(0, np.zeros(gaps, np.int64), np.zeros(gaps, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """All choices, and the one that was made."""

    components: int  # rows that are forwarded if no gap is closed
    closed: int  # how many gaps are closed, in their order
    limit: int  # how many the first half of the log, or the estimate, allows
    estimated: Floats  # for each number of closed gaps, the sum of their costs
    # What the two halves of the log say.
    trained: GapCounts
    held: GapCounts

    @property
    def size(self) -> int:
        """How many rows are forwarded."""
        return self.components - self.closed

    @property
    def smallest(self) -> int:
        """How many rows would be forwarded with all gaps closed."""
        return self.components - len(self.estimated) + 1

    @property
    def cost(self) -> float:
        """The estimated rate of false positives of the choice."""
        return float(self.estimated[self.closed])

    @property
    def measured(self) -> float | None:
        """The rate of false positives in the second half of the log; None without one."""
        held = self.held.events
        return int(self.held.first[: self.closed].sum()) / held if held else None

    @property
    def upper_bound(self) -> float | None:
        """The upper 95 % bound of the rate of false positives of the choice."""
        return self.bound(self.closed)

    def bound(self, closed: int) -> float | None:
        """The upper 95 % bound of the rate of false positives; None without a log. Perfect mergers have none."""
        if not closed:
            return 0.0
        count = int(self.held.first[:closed].sum())
        return upper_bound(count, self.held.events) if self.held.events else None

    def table(self) -> pa.Table:
        """Points of the frontier, from the largest table to the smallest."""
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
        """Some numbers of closed gaps: even in size, even in cost, and the choice."""
        gaps = len(self.estimated) - 1
        by_size = np.linspace(0, gaps, min(_POINTS, gaps + 1)).astype(np.int64)
        costs = np.linspace(0, self.estimated[-1], _POINTS)
        by_cost = np.searchsorted(self.estimated, costs, side="right") - 1
        points: Ints = np.unique(np.concatenate((by_size, by_cost, [self.closed])))
        return points


def estimate_costs(counts: Ints, masses: Floats, events: int) -> Floats:
    """Estimate the probability that an event lies in each gap and nobody wants it.

    Parameters
    ----------
    counts : unwanted events in each gap, of the first half of the log
    masses : estimates without a log, which weigh as much as one event
    """
    costs: Floats = (counts + masses) / (events + 1)
    return costs


def order_gaps(costs: Floats, rows: Ints) -> Ints:
    """Order gaps by cost: each saves one row, so the cheapest is closed first."""
    return np.lexsort((rows, costs))


def choose_gaps(
    costs: Floats, components: int, budget: float, trained: GapCounts, held: GapCounts
) -> Frontier:
    """Choose how many gaps to close, which have these costs in order: as many as the budget allows."""
    estimated = np.concatenate(([0.0], np.cumsum(costs)))
    if not budget:
        limit = closed = 0  # an event that was never seen is still possible
    elif not trained.events and not held.events:
        limit = closed = _longest(estimated, budget)
    else:
        limit = _longest(_totals(trained.first), budget * trained.events)
        allowed = most_allowed(held.events, budget)
        # With no gap closed there is no false positive: that needs no proof.
        closed = min(limit, _longest(_totals(held.first), allowed)) if allowed >= 0 else 0
    return Frontier(components, closed, limit, estimated, trained, held)


def _totals(counts: Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(counts)))


def _longest(totals: npt.NDArray[np.float64] | Ints, most: float) -> int:
    """How many gaps can be closed before a total exceeds a limit."""
    return int(np.searchsorted(totals, most, side="right")) - 1


def _rates(counts: Ints, events: int, points: Ints) -> pa.Array:
    if not events:
        return pa.nulls(len(points), pa.float64())
    return pa.array(_totals(counts)[points] / events)


# --- confidence ------------------------------------------------------------------------------------------------------

CONFIDENCE = 0.95
_STEPS = 60  # halvings: more than a double resolves
_WIDTH = 12  # standard deviations below the count, beyond which terms add nothing


def upper_bound(count: int, trials: int) -> float:
    """The probability above which so few of so many are seen in less than one case in twenty; 1 without trials."""
    if count >= trials:
        return 1.0
    low, high = count / trials, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _at_most(count, trials, middle) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


def most_allowed(trials: int, limit: float) -> int:
    """The greatest count whose upper bound is at most a limit; -1 if there is none."""
    if limit >= 1:
        return trials
    return bisect_right(range(trials), 1 - CONFIDENCE, key=lambda count: _at_most(count, trials, limit)) - 1


def fewest_trials(limit: float) -> int:
    """How many trials it takes, if none of them counts, to show that a probability is at most a limit."""
    trials = max(int(log(1 - CONFIDENCE) / log1p(-limit)), 1) if limit < 1 else 0
    while most_allowed(trials, limit) < 0:
        trials += 1
    return trials


def _at_most(count: int, trials: int, share: float) -> float:
    """The binomial probability of at most `count` successes, for shares no less than the observed one."""
    if share <= 0:
        return 1.0
    if share >= 1:
        return float(count >= trials)
    if count > share * trials:
        return 1.0  # more than half, which is all that callers ask
    term = (
        lgamma(trials + 1)
        - lgamma(count + 1)
        - lgamma(trials - count + 1)
        + count * log(share)
        + (trials - count) * log1p(-share)
    )
    below = np.arange(count, max(count - int(_WIDTH * sqrt(count)) - _WIDTH, 0), -1, dtype=np.float64)
    # The term for one less is this one times i / (n - i + 1) times (1 - p) / p.
    steps = np.log(below / (trials - below + 1)) + log1p(-share) - log(share)
    return exp(term) * (1 + float(np.exp(np.cumsum(steps)).sum()))
