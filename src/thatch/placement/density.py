"""Events that are not spread evenly: map axes so that volume is the share of events again.

Where attributes are independent, the share of events in a box is its volume after each axis is mapped by the distribution
function of its attribute. So algorithms need not know about densities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.lines import RANK_NUMBER
from thatch.model.profile import Profile
from thatch.model.selectivity import Selectivity
from thatch.placement.arrays import ArrayLike, Floats
from thatch.placement.checks import read_numbers

__all__ = ["histogram", "map_to_shares"]


def map_to_shares(values: ArrayLike, distributions: Sequence[tuple[ArrayLike, ArrayLike]]) -> Floats:
    """Map the ends of boxes, a column an axis, to 0..1 by the distribution of each axis.

    Parameters
    ----------
    values : low ends, or high ends
    distributions : for each axis the rising edges of a histogram, and the share of events between neighbouring edges

    Raises
    ------
    ParameterError
        If there is not one histogram for each axis, or one is invalid.

    Examples
    --------
    >>> map_to_shares([[5.0], [10.0], [15.0]], [([0, 10, 20], [3, 1])]).tolist()
    [[0.375], [0.75], [0.875]]
    """
    array = np.asarray(values, np.float64)
    if array.ndim != 2 or array.shape[1] != len(distributions):
        raise ParameterError(
            f"a column for each of {len(distributions)} distributions", f"shape {array.shape}", "values"
        )
    mapped = np.empty_like(array)
    for axis, (edges, shares) in enumerate(distributions):
        expected, where = "rising edges, and a share between each two of them", f"axis {axis}"
        ends, masses = (read_numbers(each, expected, where) for each in (edges, shares))
        is_histogram = ends.ndim == masses.ndim == 1 and len(ends) == len(masses) + 1 > 1
        is_rising = np.isfinite(ends).all() and (np.diff(ends) > 0).all()
        if not (is_histogram and is_rising and (masses >= 0).all() and 0 < masses.sum() < np.inf):
            raise ParameterError(expected, shown((edges, shares)), where)
        heights = np.concatenate([[0.0], np.cumsum(masses) / masses.sum()])
        mapped[:, axis] = np.interp(array[:, axis], ends, heights)
    return mapped


def histogram(profile: Profile, key: str) -> tuple[Floats, Floats]:
    """The distribution of a numeric attribute in a profile, as `map_to_shares` takes it.

    Each quantile begins an interval as narrow as doubles allow, which holds the events with just that value.

    Raises
    ------
    ParameterError
        If the profile has no finite numbers of the attribute.
    """
    known = profile.attribute(key)
    points = np.array([each for each in (known.quantiles if known else ()) if np.isfinite(each)])
    if not len(points):
        raise ParameterError("a numeric attribute of the profile", shown(key), "density")
    edges = np.unique([points, np.nextafter(points, np.inf)])
    below = Selectivity(profile).below(key, [(RANK_NUMBER, edge, 0) for edge in edges.tolist()])
    return edges, np.diff(np.maximum.accumulate(below))
