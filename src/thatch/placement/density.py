"""Events that are not spread evenly: map axes so that volume is the share of events again.

Where attributes are independent, the share of events in a box is its volume after each axis is mapped by the distribution
function of its attribute. So algorithms need not know about densities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.profile import Profile
from thatch.placement.arrays import ArrayLike, Floats

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
        try:
            ends, masses = np.asarray(edges, np.float64), np.asarray(shares, np.float64)
        except (TypeError, ValueError):
            ends = masses = np.empty(0)
        is_histogram = ends.ndim == masses.ndim == 1 and len(ends) == len(masses) + 1 > 1
        if (
            not is_histogram
            or not (np.diff(ends) > 0).all()
            or not np.isfinite(ends).all()
            or not (masses >= 0).all()
            or not 0 < masses.sum() < np.inf
        ):
            raise ParameterError(
                "rising edges, and a share between each two of them", shown((edges, shares)), f"axis {axis}"
            )
        heights = np.concatenate([[0.0], np.cumsum(masses) / masses.sum()])
        mapped[:, axis] = np.interp(array[:, axis], ends, heights)
    return mapped


def histogram(profile: Profile, key: str) -> tuple[Floats, Floats]:
    """The distribution of a numeric attribute in a profile, as `map_to_shares` takes it.

    A value that several quantiles share becomes an interval as narrow as doubles allow.

    Raises
    ------
    ParameterError
        If the profile has no finite numbers of the attribute.
    """
    known = profile.attribute(key)
    quantiles = np.array([each for each in (known.quantiles if known else ()) if np.isfinite(each)])
    if not len(quantiles):
        raise ParameterError("a numeric attribute of the profile", shown(key), "density")
    values, counts = np.unique(quantiles, return_counts=True)
    edges: list[float] = []
    shares: list[float] = []
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        shares += [1.0] if edges else []  # one step from the value before
        edges.append(value)
        if count > 1 or len(values) == 1:
            shares.append(max(count - 1.0, 1.0))
            edges.append(float(np.nextafter(value, np.inf)))
    return np.array(edges), np.array(shares)
