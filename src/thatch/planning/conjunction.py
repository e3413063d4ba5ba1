"""One conjunction: what is most likely to end it for its cost is evaluated first (paper C, section 3).

Notes
-----
Predicates in non-increasing (1 − p) / c are optimal for a conjunction; in non-increasing p / c for a disjunction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from thatch.planning.problem import Problem

__all__ = ["by_ratio", "by_true_ratio", "expected", "ratio"]


def by_ratio(problem: Problem, predicates: Iterable[int], known: Collection[int] = ()) -> tuple[int, ...]:
    """Predicates of a conjunction in their optimal order; equal ones as they come.

    Parameters
    ----------
    known : those that are true, as was found before
    """
    return tuple(sorted(predicates, key=lambda each: -ratio(problem, each, known)))


def by_true_ratio(problem: Problem, predicates: Iterable[int]) -> tuple[int, ...]:
    """Predicates of a disjunction in their optimal order; equal ones as they come."""
    return tuple(sorted(predicates, key=lambda each: -problem.selectivities[each] / problem.costs[each]))


def ratio(problem: Problem, predicate: int, known: Collection[int] = ()) -> float:
    """How likely a predicate is to be false, for its cost."""
    return (1.0 - problem.chance(predicate, known)) / problem.costs[predicate]


def expected(problem: Problem, predicates: Sequence[int], known: Collection[int] = ()) -> tuple[float, float]:
    """The probability that a conjunction is true, and the expected cost in this order (equation 3)."""
    reached, cost = 1.0, 0.0
    for each in predicates:
        cost += reached * problem.costs[each]
        reached *= problem.chance(each, known)
    return reached, cost
