"""Many subscriptions one after the other, without Python for each: for measurements of how a negative space grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, checked, checked_many
from thatch.reduction.negative_space.approximate import METRICS, Metric
from thatch.reduction.negative_space.kernels import stream as run

__all__ = ["Growth", "stream"]


class Growth(NamedTuple):
    """What there was after so many subscriptions; -1 where the boxes became too many before.

    Parameters
    ----------
    boxes : in R
    subsumed : subscriptions that were found covered, by one other or by several
    covered : those that single active subscriptions contain; 0 where `pairwise` was not asked for
    """

    boxes: Ints
    subsumed: Ints
    covered: Ints


def stream(  # noqa: PLR0913 - the options of the approximate form
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    domain: tuple[npt.ArrayLike, npt.ArrayLike],
    marks: npt.ArrayLike,
    *,
    k: int | None = None,
    metric: Metric = "ratio",
    literal: bool = False,
    dynamic: bool = False,
    pairwise: bool = False,
    most_boxes: int = 20_000_000,
) -> Growth:
    """Subscribe boxes in their order, exactly or with at most k new boxes each (paper 001, figures 6 and 8).

    Parameters
    ----------
    lows, highs : a row for each subscription and a column for each axis; they lie in the domain
    domain : the low and the high end of every axis
    marks : rising numbers of subscriptions after which to count
    k : None for the exact form; the options that follow are those of `ApproximateNegativeSpace`
    most_boxes : where to stop; a box takes 16 bytes for each axis
    """
    domain_low, domain_high = checked(*domain, where="domain")
    low, high = checked_many(lows, highs, axes=len(domain_low))
    if (low < domain_low).any() or (high > domain_high).any():
        raise ParameterError("boxes inside the domain", "one that is not", "lows, highs")
    if k is not None and k < 1:
        raise ParameterError("at least 1", shown(k), "k")
    if metric not in METRICS:
        raise ParameterError(f"one of {', '.join(METRICS)}", shown(metric), "metric")
    at = np.asarray(marks, np.int64)
    if at.ndim != 1 or (np.diff(at) <= 0).any() or (len(at) and not 1 <= at[0] <= at[-1] <= len(low)):
        raise ParameterError(f"rising numbers from 1 to {len(low)}", shown(marks), "marks")
    counts = np.full((len(at), 3), -1, np.int64)
    limit = -1 if k is None else k
    run(
        low,
        high,
        domain_low,
        domain_high,
        at,
        limit,
        METRICS[metric],
        literal,
        dynamic,
        pairwise,
        most_boxes,
        counts,
    )
    return Growth(*counts.T.copy())
