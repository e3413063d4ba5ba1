"""The exact checker: is a box inside the union of others, with a proof or a witness?

A witness satisfies a defined entry of the conflict table (paper 000, section 4.2) in every row: a satisfiability problem
whose literals are bounds. So cells are searched as DPLL searches assignments: a row with a single entry narrows the
cell, rows that cannot matter are removed (paper 000, algorithm 2), a row with few entries, much volume and a part in many
proofs is branched on, and a cell that is refuted yields a box that contains the cell and is covered. Such boxes are
joined by geometric resolution, which often refutes siblings unseen, and the latest are remembered for cells yet to come.
Each box carries the rows it rests on; those of the last one are the proof. Worst case exponential in the axes.

The search is that of the Tetris join algorithm (Abo Khamis, Ngo, Ré, Rudra: Joins via geometric resolutions, 2015),
guided by paper 000's table; neither paper has the combination.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.reduction.boxes import Ints, check_question
from thatch.reduction.branch_and_bound.kernels.search import BUDGET, OPEN, ROOM, refute, room_for
from thatch.reduction.problem import BoxVerdict, Verdict, Work

__all__ = ["UNLIMITED", "covered", "default_budget", "search"]

UNLIMITED = math.inf
_ENDLESS = 1 << 62  # cells: no search ever gets there

# A cell costs time in proportion to its rows: many rows, fewer cells. The hardest instances known of 310 rows on 20
# axes need some thousands.
_LEAST_BUDGET = 5_000
_ROWS_TIMES_CELLS = 1_500_000


def covered(low: Any, high: Any, lows: Any, highs: Any, *, budget: float | None = None) -> BoxVerdict:
    """Decide whether the union of the rows `lows[i]` .. `highs[i]` contains the box `low` .. `high`.

    Parameters
    ----------
    low, high : closed ends of the box, one whole number for each axis
    lows, highs : the same of the rows, a line for each
    budget : most cells that are looked at, `UNLIMITED` for as many as it takes, None for `default_budget`

    Returns
    -------
    An exact verdict, or `covered` None, decided by "budget". `used` is a proof, not always the shortest one.

    Raises
    ------
    BoxError
        If these are no boxes, or not all on the same axes.
    ParameterError
        If the budget is not at least 1.

    Examples
    --------
    >>> covered([0, 0], [9, 9], [[0, 0], [4, 0]], [[4, 9], [9, 9]]).used
    (0, 1)
    >>> covered([0, 0], [9, 9], [[0, 0], [4, 5]], [[3, 9], [9, 9]]).witness
    array([4, 0])
    """
    if budget is not None and not budget >= 1:
        raise ParameterError("at least 1 cell, or UNLIMITED", shown(budget), "budget")
    low, high, lows, highs = check_question(low, high, lows, highs)
    return search(low, high, lows, highs, budget)


def default_budget(rows: int) -> int:
    """How many cells are looked at for so many rows, unless told otherwise."""
    return max(_LEAST_BUDGET, _ROWS_TIMES_CELLS // max(rows, 1))


def search(low: Ints, high: Ints, lows: Ints, highs: Ints, budget: float | None = None) -> BoxVerdict:
    """`covered` for arrays that are known to be boxes: int64, contiguous, of matching shapes."""
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
