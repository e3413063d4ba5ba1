"""Can all limits be kept at all, and if not: why, and what is the least that must give?

A filter of one box always fits around everything, so neither complexity nor nesting rules a placement out: only latency
together with load does. Whether everybody can be served by a leaf that is near enough and has room is a question of maximum
flow (`flow.py`). If not, a minimum cut names subscribers and the brokers that are too small for them, and bisection finds
the least β_max, and the least lengthening of latency limits, at which the flow serves everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor, log10

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.broken import Parameter, Relaxation, Shortage
from thatch.placement.candidates import CandidateSets
from thatch.placement.executor import Executor, run_here
from thatch.placement.flow import route
from thatch.placement.problem import PlacementProblem

__all__ = ["find_shortage", "least_relaxations"]

_PRECISION = 1e-3  # of what is found, relative to it
_DIGITS = 5  # of the values told
_ENOUGH = 2.0**60  # times any length in a problem


def find_shortage(problem: PlacementProblem) -> Shortage | None:
    """Subscribers that brokers within their reach cannot all serve; None if a placement within all limits exists.

    Raises
    ------
    MissingPackageError
        Without SciPy.
    """
    sets = problem.candidate_sets()
    supplies, room = sets.sizes, problem.capacities(problem.beta_max)
    flow = route(supplies, sets.matrix, room)
    if flow.routed == supplies.sum():
        return None
    # Everything that a subscriber without a broker could displace: a minimum cut.
    sent = np.zeros(sets.matrix.shape, np.bool_)
    sent[flow.group, flow.leaf] = True
    groups = np.bincount(flow.group, flow.amount, minlength=len(supplies)).astype(np.int64) < supplies
    while True:
        leaves = sets.matrix[groups].any(axis=0)
        wider = groups | sent[:, leaves].any(axis=1)
        if (wider == groups).all():
            break
        groups = wider
    names = problem.tree.names
    return Shortage(
        brokers=tuple(names[leaf] for leaf in problem.tree.leaves[leaves].tolist()),
        subscribers=int(supplies[groups].sum()),
        room=int(room[leaves].sum()),
    )


def least_relaxations(problem: PlacementProblem, executor: Executor = run_here) -> tuple[Relaxation, ...]:
    """The least β_max, and the least lengthening of latency limits, that make a placement within all limits possible.

    Each by itself, the other kept as it is; one that cannot help is left out. For problems with a shortage.

    Notes
    -----
    Some dozen maximum flows; for latency, as many searches for candidates.
    """
    sets = problem.candidate_sets()

    def is_balanced(factor: float) -> bool:
        return _serves_all(sets, problem.capacities(factor))

    room = problem.capacities(problem.beta_max)

    def is_near(limits: Floats) -> bool:
        found = CandidateSets.find(problem.leaf_distances, problem.locations, limits, executor)
        return _serves_all(found, room)

    top = 2.0 / float(problem.shares[problem.shares > 0].min())
    return tuple(
        Relaxation(parameter=parameter, given=given, enough=found[1], too_little=found[0])
        for parameter, given, is_enough, most in (
            ("beta_max", problem.beta_max, is_balanced, top),
            *_ways_to_lengthen(problem, is_near),
        )
        if (found := _least(is_enough, given, most)) is not None
    )


def _ways_to_lengthen(
    problem: PlacementProblem, is_near: Callable[[Floats], bool]
) -> Iterator[tuple[Parameter, float, Callable[[float], bool], float]]:
    """How latency limits can be lengthened: the parameter, its value, whether a value is enough, the largest worth trying.

    By a common delay if there is one, else by a common factor; limits of zero, which no factor lengthens, by a length.
    """
    delay = _common_delay(problem)
    if not is_near(problem.limits * _ENOUGH):
        unit = float(problem.leaf_distances(problem.locations[:1]).max()) or 1.0
        yield "limits plus", 0.0, lambda length: is_near(problem.limits + length), _ENOUGH * unit
    elif delay is not None:
        yield "max_delay", delay, lambda each: is_near((1 + each) * problem.shortest), _ENOUGH
    else:
        yield "limits factor", 1.0, lambda factor: is_near(problem.limits * factor), _ENOUGH


def _serves_all(sets: CandidateSets, room: Ints) -> bool:
    return route(sets.sizes, sets.matrix, room).routed == len(sets.of)


def _least(is_enough: Callable[[float], bool], given: float, top: float) -> tuple[float, float] | None:
    """Two close values, too little and enough; None if nothing up to the top is enough. What is given is too little."""
    if not is_enough(top):
        return None
    low, high = given, top
    while high - low > _PRECISION * high / 4:
        # Far apart, the middle of their logarithms is nearer.
        middle = (low + high) / 2 if high <= 2 * low else (max(low, high * 2.0**-40) * high) ** 0.5
        if is_enough(middle):
            high = middle
        else:
            low = middle
    for digits in range(1, _DIGITS):  # the roundest number between them, for people
        rounded = _rounded_down(high, digits)
        if rounded > low:
            low, high = (low, rounded) if is_enough(rounded) else (rounded, high)
    return max(_rounded_down(low, _DIGITS), given), -_rounded_down(-high, _DIGITS)


def _rounded_down(value: float, digits: int) -> float:
    """To some significant digits."""
    if not value:
        return 0.0
    places = digits - 1 - floor(log10(abs(value)))
    return round(floor(value * 10.0**places) / 10.0**places, max(places, 0))


def _common_delay(problem: PlacementProblem) -> float | None:
    """The delay that all limits allow beyond the shortest path; None if limits differ."""
    is_away = problem.shortest > 0
    if not is_away.any() or problem.limits[~is_away].any():
        return None
    delays = problem.limits[is_away] / problem.shortest[is_away] - 1
    return float(delays[0]) if np.allclose(delays, delays[0], rtol=0, atol=1e-9) else None
