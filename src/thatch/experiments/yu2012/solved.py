"""Problems solved by name, with the sizes of SLP that figures 13 and 14 vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from thatch.placement import Placement, Problem

__all__ = ["solved"]


def solved(problem: Problem, name: str, seed: int, *, sampled: int = 0, clusters: int = 5) -> Placement:
    """A placement by an algorithm, verified.

    Parameters
    ----------
    sampled : subscribers that SLP draws for the load a broker; 0 for as many as the paper draws
    clusters : super-interests of SLP a broker
    """
    from thatch.placement import Bounds, solve, verify
    from thatch.placement.placement import measured
    from thatch.placement.slp import slp

    if name != "slp":
        return solve(problem, name, seed=seed)
    rng = np.random.default_rng(seed)
    found = slp(problem, rng, sampled=sampled or None, clusters=clusters)
    bounds = Bounds(fractional=found.fractional)
    placement = measured(problem, found.served_by, found.filters, algorithm=name, seed=seed, bounds=bounds)
    certificate = verify(placement)
    assert certificate.is_valid, certificate.faults
    return placement
