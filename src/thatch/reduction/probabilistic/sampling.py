"""The whole algorithm of ouksel2006: conflict table, fast decisions, minimised cover set, random points (RSPC).

A no is always right and has a witness. A yes is wrong with a probability of at most `delta`, unless the trials are capped
or `literal` is set. A wrong yes loses deliveries.

A point outside the minimised cover set may lie in a removed row. The answer is still no, because removed rows do not
matter, but the point is not a witness. We return one beside it, which the paper does not discuss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, check_question, to_cells
from thatch.reduction.probabilistic import kernels
from thatch.reduction.probabilistic.conflict_table import ConflictTable
from thatch.reduction.probabilistic.probability import check_delta, log_probability, trials
from thatch.reduction.problem import BoxVerdict, Point, Verdict, Work

__all__ = ["BoxDecider", "decide_in_cells", "rspc"]

BoxDecider = Callable[[Ints, Ints, Ints, Ints], BoxVerdict]  # of a box and the rows that may cover it

_ENDLESS = 1 << 62  # trials: never reached
_AT_ONCE = 1 << 20  # trials between two chances to interrupt Python


def rspc(
    low: Any,
    high: Any,
    lows: Any,
    highs: Any,
    *,
    delta: float,
    rng: np.random.Generator,
    literal: bool = False,
    cap: int | None = None,
) -> BoxVerdict:
    """Decide whether the rows probably cover the box (ouksel2006, sections 3 and 4, algorithms 1 and 2).

    Parameters
    ----------
    low, high : closed ends of the box, one whole number for each axis
    lows, highs : the same for the rows, one line each
    delta : accepted probability of a wrong yes, between 0 and 1
    rng : seeds the points, if any are drawn
    literal : conflicts and witness probability as in the paper, where `delta` does not bound the error
    cap : most points to draw, None for as many as `delta` needs, which may be more than anybody can draw

    Returns
    -------
    A verdict. A yes after drawing points is not certain; it is decided by "rspc", or by "rspc capped" if `delta` needs
    more points than `cap`, and `used` has the rows of the minimised cover set.

    Raises
    ------
    BoxError
        If the arrays are not boxes, or not all on the same axes.
    ParameterError
        If `delta` is not between 0 and 1, or `cap` is below 1.
    """
    check_delta(delta)
    if cap is not None and not (isinstance(cap, int | np.integer) and cap >= 1):
        raise ParameterError("at least 1 trial, or None", shown(cap), "cap")
    low, high, lows, highs = check_question(low, high, lows, highs)
    table = ConflictTable(low, high, lows, highs, literal=literal, is_checked=True)
    verdict = table.decide()
    if verdict is not None:
        return verdict
    kept = table.minimised_cover.kept
    log_rho = log_probability(low, high, lows[kept], highs[kept], literal=literal)
    log_needed = trials(log_rho, delta)
    needed = int(np.ceil(10.0**log_needed * (1 - 1e-12))) if log_needed < 18 else _ENDLESS
    point, drawn = _sample(
        (low, high, lows, highs), kept, needed if cap is None else min(needed, int(cap)), rng
    )
    work = Work(rows=len(lows), trials=drawn)
    if point is not None:
        witness = table.witness_beside(point)
        return Verdict(covered=False, certain=True, decided_by="rspc", witness=witness, work=work)
    rule = "rspc" if drawn >= needed else "rspc capped"
    return Verdict(covered=True, certain=False, decided_by=rule, used=tuple(kept.tolist()), work=work)


def decide_in_cells(decide: BoxDecider, low: Ints, high: Ints, lows: Ints, highs: Ints) -> BoxVerdict:
    """Decide by `rspc` with its options, but draw every interval between neighbouring ends with the same probability.

    All rows must meet the box. The witness has labels: where its cells begin.
    """
    top, first, last, starts = to_cells(low, high, lows, highs)
    verdict = decide(np.zeros_like(top), top, first, last)
    if verdict.witness is None:
        return verdict
    labels = [each[cell] for each, cell in zip(starts, verdict.witness, strict=True)]
    return replace(verdict, witness=np.array(labels, np.int64))


def _sample(
    boxes: tuple[Ints, Ints, Ints, Ints], rows: Ints, allowed: int, rng: np.random.Generator
) -> tuple[Point | None, int]:
    """Algorithm 1: a point of the box outside these rows, or None, and the number of points drawn."""
    state = rng.integers(0, 1 << 64, 1, np.uint64)
    order = rows.copy()
    point = np.empty(len(boxes[0]), np.int64)
    drawn, is_witness = 0, False
    while drawn < allowed and not is_witness:
        at_once = min(allowed - drawn, _AT_ONCE)
        with np.errstate(over="ignore"):  # if the compiler is disabled
            done, is_witness = kernels.guess(state, *boxes, order, at_once, point)
        drawn += done
    return (point if is_witness else None), drawn
