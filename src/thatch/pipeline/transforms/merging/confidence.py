"""How large a probability may be, given how often something came: the exact bound of Clopper and Pearson, from above."""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt

import numpy as np

__all__ = ["CONFIDENCE", "fewest_trials", "most_allowed", "upper_bound"]

CONFIDENCE = 0.95
_STEPS = 60  # halvings: more than a double tells apart
_WIDTH = 12  # standard deviations below the count, beyond which nothing adds up to anything


def upper_bound(count: int, trials: int) -> float:
    """The probability above which so few of so many are seen in less than one case of twenty; 1 without trials."""
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
    low, high = -1, trials  # `low` is allowed, `high` is not unless everything is
    if limit >= 1:
        return trials
    while high - low > 1:
        middle = (low + high) // 2
        if _at_most(middle, trials, limit) <= 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return low


def fewest_trials(limit: float) -> int:
    """How many trials it takes to show, where all goes well, that a probability is at most a limit."""
    trials = max(int(log(1 - CONFIDENCE) / log1p(-limit)), 1) if limit < 1 else 0
    while most_allowed(trials, limit) < 0:
        trials += 1
    return trials


def _at_most(count: int, trials: int, share: float) -> float:
    """The probability of at most so many, each with this share, for shares that are no less than what was seen."""
    if share <= 0:
        return 1.0
    if share >= 1:
        return float(count >= trials)
    if count > share * trials:
        return 1.0  # more than half: no bound asks further
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
