"""How many random points are needed (ouksel2006, section 4.1), and the paper's equation 2 for a chain of brokers.

Deviation: on each axis the paper takes the smallest distance between an end of the box and an end of a row, and multiplies
these. The product does not bound a witness's share of the box, because the gap between two rows can be narrower, so the
promised error does not hold. Our bound also looks at the gaps between rows (unless `literal`).

Numbers of trials reach 10^60, hence logarithms to base 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, check_question
from thatch.reduction.probabilistic import kernels

__all__ = ["check_delta", "find_probability", "log_probability", "trials", "witness_probability"]

_SMALL = -8.0  # below 10^-8, ln(1 - rho) is -rho to more places than a double has


def witness_probability(low: Any, high: Any, lows: Any, highs: Any, *, literal: bool = False) -> float:
    """Return a lower bound on the share of the box outside all rows, provided that some of it is.

    Parameters
    ----------
    low, high : closed ends of the box
    lows, highs : ends of the rows; the fewer rows, the better the bound, so pass the minimised cover set
    literal : the paper's estimate, which is not always a bound

    Returns
    -------
    Its logarithm to base 10: 0.0 without rows.

    Notes
    -----
    If there is a witness, it lies in a box of witnesses, each end of which is an end of the box or next to an end of a
    row. The bound is the product over all axes of the smallest width between two such ends. O(m k log k).
    """
    low, high, lows, highs = check_question(low, high, lows, highs)
    return log_probability(low, high, lows, highs, literal=literal)


def log_probability(low: Ints, high: Ints, lows: Ints, highs: Ints, *, literal: bool) -> float:
    """`witness_probability` for arrays that have been checked."""
    lowers = np.ascontiguousarray(np.where(lows > low, lows, kernels.FAR).T)
    uppers = np.ascontiguousarray(np.where(highs < high, highs, -kernels.FAR).T)
    lowers.sort()
    uppers.sort()
    return float(kernels.log_probability(low, high, lowers, uppers, literal))


def trials(log_rho: float, delta: float) -> float:
    """Return log10 of the number of points after which a witness is missed with probability `delta`.

    From equation 1, δ = (1 - ρ)^d; at least one point.

    Parameters
    ----------
    log_rho : logarithm to base 10 of the probability that a point is a witness
    delta : accepted error, between 0 and 1
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


def find_probability(rho: float, delta: float, brokers: int) -> float:
    """Return a lower bound on the probability that a publication is found on a chain of brokers (equation 2).

    Each broker publishes a match with probability `rho`; the subscription arrives if no earlier broker wrongly withheld
    it. The bound is the sum over i of ρ [(1-ρ)(1-δ)]^(i-1), which has a closed form.

    Parameters
    ----------
    rho : probability that a given broker has a matching publication, from 0 to 1
    delta : probability that a broker wrongly considers the subscription covered, between 0 and 1
    brokers : length of the chain, at least 1

    Notes
    -----
    The paper derives it «given that s is erroneously found covered», but it is a bound for errors that are independent
    from broker to broker.
    """
    check_delta(delta)
    if not 0 <= rho <= 1:
        raise ParameterError("a probability", shown(rho), "rho")
    if not brokers >= 1:
        raise ParameterError("at least 1 broker", shown(brokers), "brokers")
    onwards = (1 - rho) * (1 - delta)
    return rho * (1 - onwards**brokers) / (1 - onwards)


def check_delta(delta: float) -> None:
    """Refuse an error that is not strictly between 0 and 1."""
    if not 0 < delta < 1:
        raise ParameterError("an error between 0 and 1, both excluded", shown(delta), "delta")
