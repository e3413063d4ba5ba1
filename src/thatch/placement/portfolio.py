"""`best`: several algorithms, one after the other, and the best verified answer of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from thatch.errors import ParameterError, shown
from thatch.placement.cell_bound import cell_bound
from thatch.placement.each import Each, here
from thatch.placement.placement import Bounds, Placement, Status
from thatch.placement.problem import Problem
from thatch.placement.solving import solve

__all__ = ["PORTFOLIO", "best"]

# The quick one first: whoever has little time has an answer. Which of the two searches ends lower depends on the
# instance (spec 2, B5). Balance ends within β_max whenever anything does.
PORTFOLIO = ("gr_star", "gr_star_search", "slp_search", "balance")
_RANK = {Status.FEASIBLE: 0, Status.OVER_BETA: 1, Status.INFEASIBLE: 2}


def best(
    problem: Problem,
    *,
    algorithms: Sequence[str] = PORTFOLIO,
    seed: int = 0,
    now: Callable[[], float] | None = None,
    limit: float | None = None,
    tell: Callable[[Placement], None] | None = None,
    each: Each = here,
) -> Placement:
    """The best answer of several algorithms: feasible before over β before infeasible, then the least bandwidth.

    Parameters
    ----------
    now, limit : a clock, and after how many of its seconds searches end and no further algorithm begins; the first
        always runs
    tell : gets the best placement so far, with its bounds, after each algorithm
    each : who does what falls into independent parts; the answer does not depend on it

    Raises
    ------
    ParameterError
        For no algorithms, an unknown one, or a limit without a clock.
    """
    if not algorithms:
        raise ParameterError("at least one algorithm", shown(algorithms), "algorithms")
    if limit is not None and now is None:
        raise ParameterError("a clock beside the limit", "none", "now")
    begin = now() if now else 0.0

    def is_over() -> bool:
        return now is not None and limit is not None and now() - begin > limit

    rigorous = cell_bound(problem, each=each)
    found: Placement | None = None
    fractional: float | None = None
    seconds: dict[str, float] = {}
    for algorithm in algorithms:
        if found is not None and is_over():
            break
        answer = solve(problem, algorithm, seed=seed, now=now, each=each, is_over=is_over)
        seconds |= answer.seconds
        fractional = fractional if answer.bounds.fractional is None else answer.bounds.fractional
        if found is None or _order(answer) < _order(found):
            found = answer
        bounds = Bounds(rigorous=rigorous, fractional=fractional)
        found = replace(found, bounds=bounds, seconds=dict(seconds))
        if tell is not None:
            tell(found)
    assert found is not None
    return found


def _order(placement: Placement) -> tuple[int, float, float]:
    """What is best comes first; of infeasible ones those nearer to the limits."""
    if placement.status is Status.INFEASIBLE:
        return _RANK[placement.status] + placement.delays.broken, placement.load_factor, placement.bandwidth
    return _RANK[placement.status], 0.0, placement.bandwidth
