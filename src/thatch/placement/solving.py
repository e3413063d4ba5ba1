"""Algorithms by name: `solve` runs one of them, `best` runs several and keeps the best answer. The answer is verified once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.placement.baselines import balance, closest, closest_without_balance
from thatch.placement.cell_bound import cell_bound
from thatch.placement.certificate import Clock, certify
from thatch.placement.executor import Executor, run_here
from thatch.placement.greedy import gr, gr_evict, gr_star, gr_without_latency
from thatch.placement.local_search import improve
from thatch.placement.placement import Answer, BandwidthBounds, Placement, Status, measure
from thatch.placement.problem import PlacementProblem
from thatch.placement.slp import SlpResult, slp, slp1

__all__ = ["ALGORITHMS", "PORTFOLIO", "best", "solve"]

IsOver = Callable[[], bool]
Found = tuple[Answer, float | None]  # with the value of the linear program, where there was one
Algorithm = Callable[[PlacementProblem, np.random.Generator, Executor, IsOver], Found]


def _with_slp(algorithm: Callable[..., SlpResult]) -> Algorithm:
    def run(problem: PlacementProblem, rng: np.random.Generator, executor: Executor, _: IsOver) -> Found:
        found = algorithm(problem, rng, executor=executor)
        return (found.served_by, found.filters), found.fractional

    return run


def _simple(algorithm: Callable[[PlacementProblem, np.random.Generator], Answer]) -> Algorithm:
    return lambda problem, rng, _, __: (algorithm(problem, rng), None)


def _search(start: Algorithm) -> Algorithm:
    def run(
        problem: PlacementProblem, rng: np.random.Generator, executor: Executor, is_over: IsOver
    ) -> Found:
        answer, fractional = start(problem, rng, executor, is_over)
        return improve(problem, answer, rng, is_over=is_over), fractional

    return run


# Those that keep latency limits whenever that is possible, then the baselines that may not.
ALGORITHMS: dict[str, Algorithm] = {
    "gr": _simple(gr),
    "gr_star": _simple(gr_star),
    "gr_evict": _simple(gr_evict),
    "gr_evict_last": _simple(partial(gr_evict, evicted="last")),
    "gr_star_search": _search(_simple(gr_star)),
    "slp1": _with_slp(slp1),
    "slp1_search": _search(_with_slp(slp1)),
    "slp": _with_slp(slp),
    "slp_search": _search(_with_slp(slp)),
    "balance": _simple(lambda problem, _: balance(problem)),
    "gr_without_latency": _simple(gr_without_latency),
    "closest": _simple(closest),
    "closest_without_balance": _simple(closest_without_balance),
}

# The quick one first, so that there is an answer when time is short. Which of the two searches ends lower depends on the
# instance. Balance ends within β_max whenever that is possible.
PORTFOLIO = ("gr_star", "gr_star_search", "slp_search", "balance")

_RANK = {Status.FEASIBLE: 0, Status.OVER_BETA: 1, Status.INFEASIBLE: 2}


def solve(
    problem: PlacementProblem,
    algorithm: str = "gr_star",
    *,
    seed: int = 0,
    bound: bool = False,
    now: Clock | None = None,
    executor: Executor = run_here,
    is_over: IsOver = lambda: False,
    check: bool = True,
) -> Placement:
    """A placement by one of the `ALGORITHMS`.

    Parameters
    ----------
    seed : decides everything random, the order of arrival too: the same seed gives the same placement
    bound : whether to compute the rigorous lower bound too
    now : a clock in seconds; without one `seconds` stays empty
    executor : runs independent pieces of work; the placement does not depend on it
    is_over : asked by searches, step by step, whether to end with what they have
    check : whether to verify the placement; not needed by a caller that changes it and verifies the outcome

    Raises
    ------
    ParameterError
        If the algorithm is unknown, or the seed is not an integer from 0.
    MissingPackageError
        If the algorithm needs a package that is not installed.
    """
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise ParameterError(f"one of {', '.join(ALGORITHMS)}", shown(algorithm), "algorithm")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("an integer from 0", shown(seed), "seed")
    clock = now or (lambda: 0.0)
    begin = clock()
    rng = np.random.default_rng(seed)
    answer, fractional = ALGORITHMS[algorithm](problem, rng, executor, is_over)
    solved = clock()
    rigorous = cell_bound(problem, executor) if bound else None
    bounded = clock() if bound else solved
    bounds = BandwidthBounds(rigorous=rigorous, fractional=fractional)
    placement = measure(problem, answer, algorithm=algorithm, seed=seed, bounds=bounds)
    seconds = {algorithm: solved - begin, **({"bound": bounded - solved} if bound else {})}
    placement = replace(placement, seconds=seconds if now else {})
    return certify(placement, now)[0] if check else placement


def best(
    problem: PlacementProblem,
    *,
    algorithms: Sequence[str] = PORTFOLIO,
    seed: int = 0,
    now: Clock | None = None,
    limit: float | None = None,
    on_progress: Callable[[Placement], None] = lambda _: None,
    executor: Executor = run_here,
    check: bool = True,
) -> Placement:
    """The best answer of several algorithms: feasible before over β before infeasible, then the least bandwidth.

    Parameters
    ----------
    now, limit : a clock, and after how many of its seconds searches end and no further algorithm begins; the first
        always runs
    on_progress : gets the best placement so far, with its bounds, after each algorithm
    executor : runs independent pieces of work; the answer does not depend on it
    check : whether to verify the answer, as for `solve`

    Raises
    ------
    ParameterError
        Without algorithms, with an unknown one, or with a limit but no clock.
    """
    if not algorithms:
        raise ParameterError("Give at least one algorithm", where="algorithms")
    if limit is not None and now is None:
        raise ParameterError("A limit needs a clock", where="now")
    begin = now() if now else 0.0

    def is_over() -> bool:
        return now is not None and limit is not None and now() - begin > limit

    rigorous = cell_bound(problem, executor)
    found: Placement | None = None
    fractional: float | None = None
    seconds: dict[str, float] = {}
    for algorithm in algorithms:
        if found is not None and is_over():
            break
        answer = solve(
            problem, algorithm, seed=seed, now=now, executor=executor, is_over=is_over, check=False
        )
        seconds |= answer.seconds
        fractional = fractional if answer.bounds.fractional is None else answer.bounds.fractional
        if found is None or _order(answer) < _order(found):
            found = answer
        bounds = BandwidthBounds(rigorous=rigorous, fractional=fractional)
        found = replace(found, bounds=bounds, seconds=dict(seconds))
        on_progress(found)
    assert found is not None
    return certify(found, now)[0] if check else found


def _order(placement: Placement) -> tuple[int, float, float]:
    """The key that sorts the best placement first; of infeasible ones those nearer to the limits."""
    if placement.status is Status.INFEASIBLE:
        return _RANK[placement.status] + placement.delays.broken, placement.load_factor, placement.bandwidth
    return _RANK[placement.status], 0.0, placement.bandwidth
