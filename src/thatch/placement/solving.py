"""`solve`: one name an algorithm, one verified answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.placement.balance import balance
from thatch.placement.cell_bound import cell_bound
from thatch.placement.certificate import verify
from thatch.placement.greedy import gr, gr_evict, gr_star, gr_without_latency
from thatch.placement.local_search import improved
from thatch.placement.nearest import closest, closest_without_balance
from thatch.placement.placement import Bounds, Placement, measured
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints

__all__ = ["ALGORITHMS", "solve"]

Answer = tuple[Ints, tuple[Floats, ...]]
Algorithm = Callable[[Problem, np.random.Generator], Answer]

# Those that keep latency limits whenever that is possible, then the yardsticks that need not.
ALGORITHMS: dict[str, Algorithm] = {
    "gr": gr,
    "gr_star": gr_star,
    "gr_evict": gr_evict,
    "gr_evict_last": lambda problem, rng: gr_evict(problem, rng, evicted="last"),
    "gr_star_search": lambda problem, rng: improved(problem, gr_star(problem, rng), rng),
    "balance": lambda problem, _: balance(problem),
    "gr_without_latency": gr_without_latency,
    "closest": closest,
    "closest_without_balance": closest_without_balance,
}


def solve(
    problem: Problem,
    algorithm: str = "gr_star",
    *,
    seed: int = 0,
    bound: bool = False,
    now: Callable[[], float] | None = None,
) -> Placement:
    """A placement by one of the `ALGORITHMS`, verified.

    Parameters
    ----------
    seed : decides all that is random, the order of arrival too: the same seed, the same placement
    bound : whether the rigorous lower bound is found too
    now : a clock in seconds; without one `seconds` stays empty

    Raises
    ------
    ParameterError
        If there is no such algorithm.
    MissingPackageError
        If the algorithm needs a package that is not installed.
    """
    if algorithm not in ALGORITHMS:
        raise ParameterError(f"one of {', '.join(ALGORITHMS)}", shown(algorithm), "algorithm")
    clock = now or (lambda: 0.0)
    begin = clock()
    served_by, filters = ALGORITHMS[algorithm](problem, np.random.default_rng(seed))
    solved = clock()
    bounds = Bounds(rigorous=cell_bound(problem)) if bound else Bounds()
    placement = measured(problem, served_by, filters, algorithm=algorithm, seed=seed, bounds=bounds)
    certificate = verify(placement)
    if not certificate.is_valid:
        raise AssertionError(f"{algorithm} gave what it did not say: {'; '.join(certificate.faults)}")
    seconds = {algorithm: solved - begin, "certificate": clock() - solved} if now else {}
    return replace(placement, seconds=seconds)
