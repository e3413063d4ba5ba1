"""The boxes of jafarpour2008, section 5: Zipfian low ends, and lengths that are uniform in the rest of the domain.

The paper gives the domain [0, 1000] but no exponent, and does not say whether ends are whole numbers or which values are
popular. These readings come near the paper's numbers:

    scattered   popular low ends are random whole numbers; the high end is real
    grid        uniform low ends; both ends are whole numbers
    power law   real low ends with a density that falls from 0 on, real high ends; in any dimension, for any exponent
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thatch.errors import ParameterError, shown
from thatch.workloads.sampling import draws, zipf_weights

__all__ = ["FORMS", "TOP", "zipf_boxes"]

FORMS = ("scattered", "grid", "power law")
LAST = 1_000
STEP = 1 << 20  # real values become whole ones in steps of 2**-20
TOP = LAST * STEP  # the domain is 0 to TOP on every axis

Ints = npt.NDArray[np.int64]


def zipf_boxes(
    rng: np.random.Generator, count: int, dimensions: int, form: str = "scattered", exponent: float = 0.5
) -> tuple[Ints, Ints]:
    """Boxes as low and high ends, closed, 0 to `TOP`: a row for each and a column for each dimension.

    Parameters
    ----------
    exponent : of the Zipf distribution or the power law, from 0 up; `grid` has none

    Notes
    -----
    On the grid a value stands for the interval up to the next one: a box ends just before a whole number.
    """
    if count < 0 or dimensions < 1:
        raise ParameterError(
            "a count from 0 and dimensions from 1", f"{shown(count)} and {shown(dimensions)}"
        )
    if not 0 <= exponent < np.inf:
        raise ParameterError("an exponent from 0 up", shown(exponent), "exponent")
    shape = (count, dimensions)
    match form:
        case "scattered":
            low = _scattered(rng, count, dimensions, exponent).astype(np.int64) * STEP
            return low, low + (rng.random(shape) * (TOP - low)).astype(np.int64)
        case "grid":
            whole = rng.integers(0, LAST + 1, shape)
            length = (rng.random(shape) * (LAST + 1 - whole)).astype(np.int64)
            return whole * STEP, np.minimum((whole + length + 1) * STEP - 1, TOP)
        case "power law":
            low = (_power_law(rng.random(shape), exponent) * STEP).astype(np.int64).clip(0, TOP)
            return low, low + (rng.random(shape) * (TOP - low)).astype(np.int64)
    raise ParameterError(f"one of {', '.join(FORMS)}", shown(form), "form")


def _scattered(rng: np.random.Generator, count: int, dimensions: int, exponent: float) -> Ints:
    """Whole numbers by popularity, in a different order in each dimension."""
    weights = zipf_weights(LAST + 1, exponent)
    columns = [rng.permutation(LAST + 1)[draws(rng, weights, count)] for _ in range(dimensions)]
    return np.stack(columns, axis=1)


def _power_law(share: npt.NDArray[np.float64], exponent: float) -> npt.NDArray[np.float64]:
    """The quantile for a share, of a density (1 + x) ** -exponent on [0, 1000]."""
    if exponent == 1:
        return np.asarray(np.expm1(share * np.log(LAST + 1)))
    power = 1 - exponent
    return np.asarray((1 + share * ((LAST + 1) ** power - 1)) ** (1 / power) - 1)
