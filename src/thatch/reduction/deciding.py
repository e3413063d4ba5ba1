"""Which algorithm decides about one box, as `covered_by` is told, with its parameters checked before any work is done."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.problem import BoxVerdict, Verdict
from thatch.reduction.rows import Near

__all__ = ["Decide", "decider"]

Decide = Callable[[Near, int], BoxVerdict]
"""Whether the rows near a box cover it, by their places among these; one of so many boxes that are asked for at once."""

_ALGORITHMS = ("exact", "pairwise", "rspc")


def decider(
    algorithm: str,
    *,
    budget: float | None,
    delta: float | None,
    rng: np.random.Generator | None,
    literal: bool,
    cap: int | None,
) -> Decide | None:
    """What decides about boxes; None for "pairwise", which needs none.

    Raises
    ------
    ParameterError
        If there is no such algorithm, a parameter is out of its range, or one that is needed is missing.
    """
    if algorithm not in _ALGORITHMS:
        raise ParameterError(" or ".join(map(repr, _ALGORITHMS)), shown(algorithm), "algorithm")
    _check(budget is None or (_is_number(budget) and budget >= 1), "at least 1 cell", budget, "budget")
    _check(delta is None or (_is_number(delta) and 0 < delta < 1), "between 0 and 1", delta, "delta")
    _check(
        cap is None or (isinstance(cap, Integral) and _is_number(cap) and cap >= 1),
        "at least 1 point",
        cap,
        "cap",
    )
    _check(rng is None or isinstance(rng, np.random.Generator), "a numpy.random.Generator", rng, "rng")
    if algorithm == "pairwise":
        return None
    if algorithm == "exact":
        return _exact(budget)
    if delta is None or rng is None:
        missing = "delta" if delta is None else "rng"
        raise ParameterError(f"`{missing}` for the algorithm 'rspc'", "none", missing)
    return _rspc(delta, rng, literal=literal, cap=cap)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check(is_right: bool, expected: str, got: Any, where: str) -> None:  # noqa: FBT001 - a claim, not an option
    if not is_right:
        raise ParameterError(expected, shown(got), where)


def _trivial(near: Near) -> BoxVerdict | None:
    """The verdict where no row leaves out any part of the box; None if one does."""
    if near.axes.size:
        return None
    if len(near.numbers):
        return Verdict(covered=True, certain=True, decided_by="pairwise", used=(0,))
    return Verdict(covered=False, certain=True, decided_by="empty", witness=np.zeros(0, np.int64))


def _exact(budget: float | None) -> Decide:
    def decide(near: Near, _shares: int) -> BoxVerdict:
        from thatch.reduction.branch_and_bound import search

        return _trivial(near) or search(near.low, near.high, near.lows, near.highs, budget)

    return decide


def _rspc(delta: float, rng: np.random.Generator, *, literal: bool, cap: int | None) -> Decide:
    def decide(near: Near, shares: int) -> BoxVerdict:
        from thatch.reduction.probabilistic import rspc_in_cells

        # All boxes must be covered: each may err with its share of the probability.
        return _trivial(near) or rspc_in_cells(
            near.low,
            near.high,
            near.lows,
            near.highs,
            delta=delta / shares,
            rng=rng,
            literal=literal,
            cap=cap,
        )

    return decide
