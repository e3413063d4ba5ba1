"""`solve`: one name an algorithm, one verified answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.placement.balance import balance
from thatch.placement.cell_bound import cell_bound
from thatch.placement.certificate import verify
from thatch.placement.each import Each, here
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
IsOver = Callable[[], bool]
Algorithm = Callable[[Problem, np.random.Generator, Each, IsOver], Found]


class _Slp(Protocol):
    def __call__(self, problem: Problem, rng: np.random.Generator, *, each: Each) -> Outcome: ...


def _slp(algorithm: _Slp, *, search: bool = False) -> Algorithm:
    def run(problem: Problem, rng: np.random.Generator, each: Each, is_over: IsOver) -> Found:
        found = algorithm(problem, rng, each=each)
        answer = (found.served_by, found.filters)
        return improved(problem, answer, rng, is_over=is_over) if search else answer, found.fractional

    return run


def _simple(algorithm: Callable[[Problem, np.random.Generator], Answer]) -> Algorithm:
    return lambda problem, rng, _, __: (algorithm(problem, rng), None)


def _gr_star_search(problem: Problem, rng: np.random.Generator, _: Each, is_over: IsOver) -> Found:
    return improved(problem, gr_star(problem, rng), rng, is_over=is_over), None


# Those that keep latency limits whenever that is possible, then the yardsticks that need not.
ALGORITHMS: dict[str, Algorithm] = {
    "gr": _simple(gr),
    "gr_star": _simple(gr_star),
    "gr_evict": _simple(gr_evict),
    "gr_evict_last": _simple(partial(gr_evict, evicted="last")),
    "gr_star_search": _gr_star_search,
    "slp1": _slp(slp1),
    "slp1_literal": _slp(slp1_literal),
    "slp1_search": _slp(slp1, search=True),
    "slp": _slp(slp),
    "slp_search": _slp(slp, search=True),
    "balance": _simple(lambda problem, _: balance(problem)),
    "gr_without_latency": _simple(gr_without_latency),
    "closest": _simple(closest),
    "closest_without_balance": _simple(closest_without_balance),
}


def solve(
    problem: Problem,
    algorithm: str = "gr_star",
    *,
    seed: int = 0,
    bound: bool = False,
    now: Callable[[], float] | None = None,
    each: Each = here,
    is_over: IsOver = lambda: False,
) -> Placement:
    """A placement by one of the `ALGORITHMS`, verified.

    Parameters
    ----------
    seed : decides all that is random, the order of arrival too: the same seed, the same placement
    bound : whether the rigorous lower bound is found too
    now : a clock in seconds; without one `seconds` stays empty
    each : who does what falls into independent parts; the placement does not depend on it
    is_over : asked by searches, step by step, whether to end with what they have

    Raises
    ------
    ParameterError
        If there is no such algorithm, or the seed is no whole number from 0.
    MissingPackageError
        If the algorithm needs a package that is not installed.
    """
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise ParameterError(f"one of {', '.join(ALGORITHMS)}", shown(algorithm), "algorithm")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("a whole number from 0", shown(seed), "seed")
    clock = now or (lambda: 0.0)
    begin = clock()
    rng = np.random.default_rng(seed)
    (served_by, filters), fractional = ALGORITHMS[algorithm](problem, rng, each, is_over)
    solved = clock()
    rigorous = cell_bound(problem, each=each) if bound else None
    bounded = clock() if bound else solved
    placement = measured(
        problem,
        served_by,
        filters,
        algorithm=algorithm,
        seed=seed,
        bounds=Bounds(rigorous=rigorous, fractional=fractional),
    )
    certificate = verify(placement)
    if not certificate.is_valid:
        raise AssertionError(f"{algorithm} gave what it did not say: {'; '.join(certificate.faults)}")
    phases = {algorithm: solved - begin, **({"bound": bounded - solved} if bound else {})}
    return replace(placement, seconds={**phases, "certificate": clock() - bounded} if now else {})
