"""Which leaves contain which interests already, and the loads that this allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thatch.placement.balance import interest_rank
from thatch.placement.flow import Routing, least_factor, spread
from thatch.placement.problem import Problem
from thatch.placement.rows import Bools, Floats, Ints, distinct_rows
from thatch.placement.types import Types

__all__ = ["Groups", "covered", "grouped", "rebalanced"]

Groups = tuple[
    Bools, Ints, Ints
]  # leaves allowed to each group, the group of each type, subscribers in each group


def covered(problem: Problem, filters: Sequence[Floats], chosen: Ints | None = None) -> Bools:
    """A row an interest, a column a leaf: whether each box of the interest lies inside one box of the leaf's filter.

    Parameters
    ----------
    filters : those of all nodes
    chosen : the interests that are asked for, by default all
    """
    chosen = np.arange(len(problem.interests)) if chosen is None else chosen
    rows, owner = problem.interests.rows_of(chosen)
    boxes = problem.interests.boxes[rows]
    starts = np.searchsorted(owner, np.arange(len(chosen)))
    d = problem.interests.axes
    answer = np.empty((len(chosen), len(problem.tree.leaves)), np.bool_)
    for column, leaf in enumerate(problem.tree.leaves.tolist()):
        is_inside = np.zeros(len(boxes), np.bool_)
        for box in filters[leaf]:
            is_inside |= ((boxes[:, :d] >= box[:d]) & (boxes[:, d:] <= box[d:])).all(axis=1)
        answer[:, column] = np.logical_and.reduceat(is_inside, starts)
    return answer


def grouped(problem: Problem, types: Types, filters: Sequence[Floats]) -> Groups:
    """Types that may go to the same leaves as one group, when filters are fixed."""
    is_allowed = np.packbits(
        covered(problem, filters)[types.interest] & types.sets.matrix[types.candidates], axis=1
    )
    first, group = distinct_rows(is_allowed)
    matrix = np.unpackbits(is_allowed[first], axis=1, count=len(problem.tree.leaves)).astype(np.bool_)
    return matrix, group, np.bincount(group, types.count, minlength=len(first)).astype(np.int64)


def rebalanced(
    problem: Problem, types: Types, filters: Sequence[Floats], low: float, high: float | None
) -> tuple[float, Ints] | None:
    """The smallest load factor from `low` to `high` that fixed filters allow, and who is served by whom; None if none does."""
    matrix, group, supplies = grouped(problem, types, filters)
    found: tuple[float, Routing] | None = least_factor(problem, supplies, matrix, low, high)
    if found is None:
        return None
    return found[0], spread(found[1], group[types.of], interest_rank(problem), len(supplies))
