"""How many random points are needed: paper 000, section 4.1, and its equation 2 for a chain of brokers.

Deviation: the paper multiplies, axis by axis, the smallest distance between an end of the box and an end of a row. That
is no lower bound on a witness's share of the box, since the gap between two rows can be narrower than all these; so the
error it promises is not kept. The bound here also looks at the gaps between rows (`literal` does not).
Numbers of trials reach 10^60, hence logarithms to base 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, checked, checked_many
from thatch.reduction.probabilistic import kernels

__all__ = [
    "check_delta",
    "find_probability",
    "log_probability",
    "log_trials",
    "trials",
    "witness_probability",
]

_SMALL = -8.0  # below 10^-8, ln(1 - rho) is -rho to more places than a double has


def witness_probability(low: Any, high: Any, lows: Any, highs: Any, *, literal: bool = False) -> float:
    """Bound from below the share of the box that is outside all rows, provided that some of it is.

    Parameters
    ----------
    low, high : closed ends of the box
    lows, highs : ends of the rows; the fewer, the better the bound, so take those of the minimised cover set
    literal : the paper's estimate, which is not always a bound

    Returns
    -------
    Its logarithm to base 10: 0.0 without rows.

    Notes
    -----
    If there is a witness, there is a box of witnesses whose ends on each axis are those of the box, or next to ends of
    rows; the bound multiplies, axis by axis, the smallest width that such a pair of ends can have. O(m k log k).
    """
    low, high = checked(low, high)
    lows, highs = checked_many(lows, highs, axes=len(low), where="the rows")
    return log_probability(low, high, lows, highs, literal=literal)


def log_probability(low: Ints, high: Ints, lows: Ints, highs: Ints, *, literal: bool) -> float:
    """`witness_probability` for arrays that are known to be boxes."""
    lowers = np.ascontiguousarray(np.where(lows > low, lows, kernels.FAR).T)
    uppers = np.ascontiguousarray(np.where(highs < high, highs, -kernels.FAR).T)
    lowers.sort()
    uppers.sort()
    return float(kernels.log_probability(low, high, lowers, uppers, literal))


def trials(log_rho: float, delta: float) -> float:
    """The logarithm to base 10 of the number of points after which a witness is missed with probability `delta`.

    From equation 1, δ = (1 - ρ)^d; at least one point.

    Parameters
    ----------
    log_rho : logarithm to base 10 of the probability that a point is a witness
    delta : error that is accepted, between 0 and 1
    """
    check_delta(delta)
    if not log_rho <= 0:
        raise ParameterError("the logarithm of a probability", shown(log_rho), "log_rho")
    if log_rho == 0:
        return 0.0
    if log_rho < _SMALL:
        needed = math.log10(-math.log(delta)) - log_rho
    else:
        needed = math.log10(math.log(delta) / math.log1p(-(10.0**log_rho)))
    return max(needed, 0.0)


def log_trials(low: Any, high: Any, lows: Any, highs: Any, delta: float, *, literal: bool = False) -> float:
    """`trials` for a box and the rows of its minimised cover set; minus infinity without rows: no point is drawn."""
    log_rho = witness_probability(low, high, lows, highs, literal=literal)
    return trials(log_rho, delta) if np.shape(lows)[0] else -math.inf


def find_probability(rho: float, delta: float, brokers: int) -> float:
    """Bound from below the probability that a publication is found on a chain of brokers (equation 2).

    Each broker publishes a match with probability `rho`; the subscription is handed on if no broker before withheld it
    wrongly. The sum over i of ρ [(1-ρ)(1-δ)]^(i-1), which has a closed form.

    Parameters
    ----------
    rho : probability that a matching publication is at a given broker, from 0 to 1
    delta : probability that a broker wrongly holds the subscription covered, between 0 and 1
    brokers : length of the chain, at least 1

    Notes
    -----
    The paper derives it «given that s is erroneously found covered»: it is rather a bound for errors that are
    independent from broker to broker.
    """
    check_delta(delta)
    if not 0 <= rho <= 1:
        raise ParameterError("a probability", shown(rho), "rho")
    if not brokers >= 1:
        raise ParameterError("at least 1 broker", shown(brokers), "brokers")
    onwards = (1 - rho) * (1 - delta)
    return rho * (1 - onwards**brokers) / (1 - onwards)


def check_delta(delta: float) -> None:
    """Refuse an error that is no probability between 0 and 1, or one of them."""
    if not 0 < delta < 1:
        raise ParameterError("an error between 0 and 1, both excluded", shown(delta), "delta")
