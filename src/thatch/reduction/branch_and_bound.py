"""The exact checker: is a box inside the union of others? Answered with a proof or a witness.

A witness satisfies a defined entry of the conflict table (ouksel2006, section 4.2) in every row: a satisfiability problem
whose literals are bounds. So we search cells as DPLL searches assignments. A row with a single entry narrows the cell. Rows
that cannot matter are removed (ouksel2006, algorithm 2). We branch on a row with few entries, a large volume and a part in
many proofs. A refuted cell yields a covered box that contains it. Such boxes are joined by geometric resolution, which
often refutes siblings without a search, and the latest ones are kept for later cells. Each box knows the rows that it
rests on; those of the last box are the proof. The worst case is exponential in the number of axes.

The search is that of the Tetris join algorithm (Abo Khamis, Ngo, Ré, Rudra: Joins via geometric resolutions, 2015),
guided by the table of ouksel2006; neither paper has the combination.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, check_question
from thatch.reduction.kernels.refutation import BUDGET, OPEN, ROOM, refute, room_for
from thatch.reduction.problem import BoxVerdict, Verdict, Work

__all__ = ["UNLIMITED", "decide", "default_budget", "search"]

UNLIMITED = math.inf
_ENDLESS = 1 << 62  # cells: never reached

# A cell takes time in proportion to its rows: the more rows, the fewer cells. The hardest known instances, 310 rows on 20
# axes, need some thousands.
_LEAST_BUDGET = 5_000
_ROWS_TIMES_CELLS = 1_500_000


def decide(low: Any, high: Any, lows: Any, highs: Any, *, budget: float | None = None) -> BoxVerdict:
    """Decide whether the union of the rows `lows[i]` .. `highs[i]` contains the box `low` .. `high`.

    Parameters
    ----------
    low, high : closed ends of the box, one whole number for each axis
    lows, highs : the same for the rows, one line each
    budget : most cells to search, `UNLIMITED` for no limit, None for `default_budget`

    Returns
    -------
    An exact verdict, or `covered` None, decided by "budget". `used` is a proof, but not always the shortest one.

    Raises
    ------
    BoxError
        If the arrays are not boxes, or not all on the same axes.
    ParameterError
        If the budget is below 1.

    Examples
    --------
    >>> decide([0, 0], [9, 9], [[0, 0], [4, 0]], [[4, 9], [9, 9]]).used
    (0, 1)
    >>> decide([0, 0], [9, 9], [[0, 0], [4, 5]], [[3, 9], [9, 9]]).witness
    array([4, 0])
    """
    if budget is not None and not budget >= 1:
        raise ParameterError("at least 1 cell, or UNLIMITED", shown(budget), "budget")
    low, high, lows, highs = check_question(low, high, lows, highs)
    return search(low, high, lows, highs, budget)


def default_budget(rows: int) -> int:
    """How many cells to search for so many rows by default."""
    return max(_LEAST_BUDGET, _ROWS_TIMES_CELLS // max(rows, 1))


def search(low: Ints, high: Ints, lows: Ints, highs: Ints, budget: float | None = None) -> BoxVerdict:
    """`decide` for arrays that have been checked: int64, contiguous, of matching shapes."""
    k, m = lows.shape
    limit = default_budget(k) if budget is None else int(min(budget, _ENDLESS))
    witness = np.empty(m, np.int64)
    is_used = np.empty(k, np.bool_)
    size = room_for(k, m)
    while True:
        room = np.empty(size, np.int64)
        code, nodes = refute(lows, highs, k, m, low, high, limit, room, witness, is_used)
        if code != ROOM:
            break
        size *= 2
    work = Work(rows=k, nodes=nodes)
    if code == BUDGET:
        return Verdict(covered=None, certain=False, decided_by="budget", work=work)
    if code == OPEN:
        rule = "branch_and_bound" if k else "empty"
        return Verdict(covered=False, certain=True, decided_by=rule, witness=witness, work=work)
    used = tuple(np.flatnonzero(is_used).tolist())
    rule = "pairwise" if len(used) == 1 else "branch_and_bound"
    return Verdict(covered=True, certain=True, decided_by=rule, used=used, work=work)
