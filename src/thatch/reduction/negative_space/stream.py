"""Subscribe many boxes in one kernel call, to measure how a negative space grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, check_box, check_boxes
from thatch.reduction.negative_space.kernels import stream as run
from thatch.reduction.negative_space.spaces import METRICS, Metric, check_options

__all__ = ["StreamCounts", "stream"]


class StreamCounts(NamedTuple):
    """Counts after some numbers of subscriptions; -1 if there were too many boxes before.

    Parameters
    ----------
    boxes : in R
    subsumed : covered subscriptions, by one other or by several
    covered : subscriptions inside a single active one; 0 without `pairwise`
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
) -> StreamCounts:
    """Subscribe boxes in order, exactly or with at most k new boxes each (jafarpour2008, figures 6 and 8).

    Parameters
    ----------
    lows, highs : a line for each subscription and a column for each axis; they lie in the domain
    domain : the low and the high end of every axis
    marks : ascending numbers of subscriptions after which to count
    k : None for the exact form; the following options are those of `ApproximateSpace`
    most_boxes : stop when there are more; a box takes 16 bytes for each axis
    """
    domain_low, domain_high = check_box(*domain, where="domain")
    low, high = check_boxes(lows, highs, axes=len(domain_low))
    if (low < domain_low).any() or (high > domain_high).any():
        raise ParameterError("boxes inside the domain", "one that reaches beyond it", "lows, highs")
    check_options(1 if k is None else k, metric)
    at = np.asarray(marks, np.int64)
    if at.ndim != 1 or (np.diff(at) <= 0).any() or (len(at) and not 1 <= at[0] <= at[-1] <= len(low)):
        raise ParameterError(f"ascending numbers from 1 to {len(low)}", shown(marks), "marks")
    counts = np.full((len(at), 3), -1, np.int64)
    limit = -1 if k is None else k
    options = limit, METRICS[metric], literal, dynamic, pairwise, most_boxes
    run(low, high, domain_low, domain_high, at, *options, counts)
    return StreamCounts(*counts.T.copy())
