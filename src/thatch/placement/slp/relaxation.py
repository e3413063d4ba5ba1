"""LPRelax and rounding (yu2012, section 4.1.1): which candidate boxes at which branch, first in fractions.

    y_ik   box k in the filter of branch i      z_iq   branch i contains interest q      x_lt   type t at leaf l

minimise Σ Vol(k) y_ik with Σ_k y_ik ≤ α_i (C1), Σ_l x_lt ≥ 1 (C2), Σ_t w_t x_lt ≤ capacity of l (C3), and for every box
of q z_iq ≤ Σ y_ik over the boxes k around it, x_lt ≤ z_iq for the leaves l of branch i (C4).

Deviations: the paper has no z; with it the program has far fewer nonzeros where interests repeat. On one level a branch is a
leaf; on several, filters belong to branches but loads still to leaves, where leaves with the same candidates are merged. C3
is scaled to 1 on its right side, because first-order solvers accept zero as an answer otherwise. The paper rounds each box by
itself, which gives more than α boxes for filter adjustment to repair; here at most α are drawn together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.arrays import Bools, Floats, Ints, distinct_rows
from thatch.placement.boxes import box_volumes, is_inside
from thatch.placement.slp.branches import Branches, Subproblem
from thatch.placement.slp.filter_gen import shrink_boxes
from thatch.placement.slp.program import LinearProgram

__all__ = ["FractionalFilters", "draw_boxes", "relax"]


@dataclass(frozen=True, slots=True, eq=False)
class FractionalFilters:
    """The fractional optimum: how much of which box at which branch, in the order of branches, and the objective."""

    boxes: Floats
    branch: Ints
    amount: Floats
    value: float


def relax(
    part: Subproblem, sample: Ints, weights: Floats, candidates: Floats, capacities: Floats
) -> FractionalFilters | None:
    """Solve the program for sampled types; None if there is no solution, or the solver found none.

    Parameters
    ----------
    sample : which types
    weights : how many subscribers each stands for in C3
    candidates : boxes that filters may be made of
    capacities : of leaves; those of the subproblem, or larger ones
    """
    interests, types, branches = part.problem.interests, part.types, part.branches
    distinct, interest = np.unique(types.interest[sample], return_inverse=True)
    rows, owner = interests.rows_of(distinct)
    boxes = interests.boxes[rows]
    allowed = types.sets.matrix[types.candidates[sample]] & (capacities > 0)
    program = LinearProgram()
    near = branches.any_leaf(allowed)
    columns: list[Floats] = []
    # Branches that some subscriber can go to, the boxes wanted there, and their columns.
    chosen: list[tuple[int, Ints, Ints]] = []
    for branch in np.flatnonzero(near.any(axis=0)).tolist():
        wanted = np.zeros(len(distinct), np.bool_)
        wanted[interest[near[:, branch]]] = True
        around = np.flatnonzero(wanted[owner])
        columns.append(shrink_boxes(candidates, boxes[around]))
        y = program.add_columns(len(columns[-1]))
        program.add_row(y, np.ones(len(y)), -np.inf, float(branches.complexities[branch]))
        chosen.append((branch, around, y))
    assigned, x_columns = [], []
    for (branch, around, y), mine in zip(chosen, columns, strict=True):
        z = np.full(len(distinct), -1, np.int64)
        asked = np.unique(owner[around])
        z[asked] = program.add_columns(len(asked))
        program.add_cover(z[owner[around]], is_inside(boxes[around][:, None], mine[None]), y)
        for is_allowed, capacity in _merge_leaves(allowed, branches.of_leaf == branch, capacities):
            here = np.flatnonzero(is_allowed)
            x = program.add_columns(len(here))
            program.add_pairs(x, z[interest[here]])
            program.add_row(x, weights[here] / capacity, -np.inf, 1.0)
            assigned.append(here)
            x_columns.append(x)
    if not assigned or len(np.unique(np.concatenate(assigned))) < len(sample):
        return None  # some type has no candidate with capacity
    program.add_sums(np.concatenate(assigned), np.concatenate(x_columns), len(sample))
    all_boxes = np.concatenate(columns)
    cost = box_volumes(all_boxes)
    answer = program.solve(cost)
    if answer is None:
        return None
    amount = np.clip(answer[: len(cost)], 0.0, 1.0)
    branch_of = np.repeat([branch for branch, _, _ in chosen], [len(y) for _, _, y in chosen])
    return FractionalFilters(all_boxes, branch_of.astype(np.int64), amount, float(cost @ amount))


def draw_boxes(found: FractionalFilters, branches: Branches, rng: np.random.Generator) -> list[Floats]:
    """Draw at most α boxes for each branch: as many as their fractions add up to, each as often as its fraction says.

    Boxes are put in random order, and points at distance 1 are laid on the running sum of their fractions.
    """
    filters = []
    for branch in range(len(branches)):
        begin, end = np.searchsorted(found.branch, [branch, branch + 1])
        order = begin + rng.permutation(end - begin)
        sums = np.cumsum(found.amount[order])
        total = float(sums[-1]) if len(sums) else 0.0
        points = np.arange(rng.random(), total, 1.0)[: int(branches.complexities[branch])]
        drawn = np.unique(order[np.searchsorted(sums, points, "right").clip(max=len(order) - 1)])
        filters.append(found.boxes[drawn])
    return filters


def _merge_leaves(allowed: Bools, is_mine: Bools, capacities: Floats) -> list[tuple[Bools, float]]:
    """Which types may go to the leaves of a branch, and the capacity; leaves that the same types may go to are merged."""
    mine = np.flatnonzero(is_mine & allowed.any(axis=0))
    if not len(mine):
        return []
    first, number = distinct_rows(np.packbits(allowed[:, mine], axis=0).T.copy())
    total = np.bincount(number, capacities[mine], minlength=len(first))
    return [(allowed[:, mine[at]], float(total[k])) for k, at in enumerate(first.tolist())]
