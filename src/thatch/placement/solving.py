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
from thatch.placement.slp import Outcome, slp, slp1, slp1_literal

__all__ = ["ALGORITHMS", "solve"]

Answer = tuple[Ints, tuple[Floats, ...]]
Found = tuple[Answer, float | None]  # the value of the linear program, where there was one
Algorithm = Callable[[Problem, np.random.Generator], Found]


def _slp(algorithm: Callable[[Problem, np.random.Generator], Outcome], *, search: bool = False) -> Algorithm:
    def run(problem: Problem, rng: np.random.Generator) -> Found:
        found = algorithm(problem, rng)
        answer = (found.served_by, found.filters)
        return improved(problem, answer, rng) if search else answer, found.fractional

    return run


# Those that keep latency limits whenever that is possible, then the yardsticks that need not.
ALGORITHMS: dict[str, Algorithm] = {
    "gr": lambda problem, rng: (gr(problem, rng), None),
    "gr_star": lambda problem, rng: (gr_star(problem, rng), None),
    "gr_evict": lambda problem, rng: (gr_evict(problem, rng), None),
    "gr_evict_last": lambda problem, rng: (gr_evict(problem, rng, evicted="last"), None),
    "gr_star_search": lambda problem, rng: (improved(problem, gr_star(problem, rng), rng), None),
    "slp1": _slp(slp1),
    "slp1_literal": _slp(slp1_literal),
    "slp1_search": _slp(slp1, search=True),
    "slp": _slp(slp),
    "slp_search": _slp(slp, search=True),
    "balance": lambda problem, _: (balance(problem), None),
    "gr_without_latency": lambda problem, rng: (gr_without_latency(problem, rng), None),
    "closest": lambda problem, rng: (closest(problem, rng), None),
    "closest_without_balance": lambda problem, rng: (closest_without_balance(problem, rng), None),
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
    (served_by, filters), fractional = ALGORITHMS[algorithm](problem, np.random.default_rng(seed))
    solved = clock()
    bounds = Bounds(rigorous=cell_bound(problem) if bound else None, fractional=fractional)
    placement = measured(problem, served_by, filters, algorithm=algorithm, seed=seed, bounds=bounds)
    certificate = verify(placement)
    if not certificate.is_valid:
        raise AssertionError(f"{algorithm} gave what it did not say: {'; '.join(certificate.faults)}")
    seconds = {algorithm: solved - begin, "certificate": clock() - solved} if now else {}
    return replace(placement, seconds=seconds)
