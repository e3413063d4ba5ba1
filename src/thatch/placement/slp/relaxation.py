"""LPRelax (paper 003, section 4.1.1): which candidate boxes at which branch, in fractions.

    y_ik   box k in the filter of branch i      z_iq   branch i contains interest q      x_lt   type t at leaf l

minimise Σ Vol(k) y_ik with Σ_k y_ik ≤ α_i (C1), Σ_l x_lt ≥ 1 (C2), Σ_t w_t x_lt ≤ capacity of l (C3), and for every box
of q z_iq ≤ Σ y_ik over the boxes k around it, x_lt ≤ z_iq for the leaves l of branch i (C4).

The paper has no z: with it the program has far fewer nonzeros where interests repeat. On one level a branch is a leaf; above
it loads are those of leaves all the same (spec 2, A4), leaves that nobody can tell apart being one. C3 is
scaled to 1 on its right side, or first-order solvers take zero for an answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.rows import Bools, Floats, Ints, distinct_rows
from thatch.placement.slp.filter_gen import shrunk
from thatch.placement.slp.part import Part
from thatch.placement.slp.program import Program
from thatch.placement.volumes import box_volumes

__all__ = ["Relaxed", "relaxed"]


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """The fractional optimum: how much of which box at which branch, branches rising, and the objective."""

    boxes: Floats
    branch: Ints
    amount: Floats
    value: float


def relaxed(
    part: Part, sample: Ints, weights: Floats, candidates: Floats, capacities: Floats
) -> Relaxed | None:
    """The optimum for sampled types; None if there is none, or the solver found none.

    Parameters
    ----------
    sample : which types
    weights : how many subscribers each stands for in C3
    candidates : boxes that filters may be made of
    capacities : of leaves; those of the part, or larger ones

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    interests, types, branches = part.problem.interests, part.types, part.branches
    distinct, interest = np.unique(types.interest[sample], return_inverse=True)
    rows, owner = interests.rows_of(distinct)
    boxes = interests.boxes[rows]
    allowed = types.sets.matrix[types.candidates[sample]] & (capacities > 0)
    program = Program()
    near = branches.any_leaf(allowed)
    columns: list[Floats] = []
    chosen: list[
        tuple[int, Ints, Ints]
    ] = []  # branches that somebody can go to, the boxes near them, their columns
    for branch in np.flatnonzero(near.any(axis=0)).tolist():
        wanted = np.zeros(len(distinct), np.bool_)
        wanted[interest[near[:, branch]]] = True
        around = np.flatnonzero(wanted[owner])
        columns.append(shrunk(candidates, boxes[around]))
        y = program.columns(len(columns[-1]))
        program.add_row(y, np.ones(len(y)), -np.inf, float(branches.complexities[branch]))
        chosen.append((branch, around, y))
    places, x_columns = [], []
    for (branch, around, y), mine in zip(chosen, columns, strict=True):
        z = np.full(len(distinct), -1, np.int64)
        asked = np.unique(owner[around])
        z[asked] = program.columns(len(asked))
        program.add_cover(z[owner[around]], _inside(boxes[around], mine), y)
        for is_allowed, capacity in _leaves(allowed, branches.of_leaf == branch, capacities):
            here = np.flatnonzero(is_allowed)
            x = program.columns(len(here))
            program.add_pairs(x, z[interest[here]])
            program.add_row(x, weights[here] / capacity, -np.inf, 1.0)
            places.append(here)
            x_columns.append(x)
    if not places or len(np.unique(np.concatenate(places))) < len(sample):
        return None  # somebody has no candidate with capacity
    program.add_sums(np.concatenate(places), np.concatenate(x_columns), len(sample))
    all_boxes = np.concatenate(columns)
    cost = box_volumes(all_boxes)
    answer = program.optimum(cost)
    if answer is None:
        return None
    amount = np.clip(answer[: len(cost)], 0.0, 1.0)
    branch_of = np.repeat([branch for branch, _, _ in chosen], [len(y) for _, _, y in chosen])
    return Relaxed(all_boxes, branch_of.astype(np.int64), amount, float(cost @ amount))


def _inside(boxes: Floats, outer: Floats) -> Bools:
    """A row a box, a column an outer one: whether the one contains the other."""
    d = boxes.shape[1] // 2
    answer = np.ones((len(boxes), len(outer)), np.bool_)
    for axis in range(d):
        answer &= outer[None, :, axis] <= boxes[:, None, axis]
        answer &= outer[None, :, d + axis] >= boxes[:, None, d + axis]
    return answer


def _leaves(allowed: Bools, is_mine: Bools, capacities: Floats) -> list[tuple[Bools, float]]:
    """Who may go to the leaves of a branch, and their capacity; leaves that the same may go to are one."""
    mine = np.flatnonzero(is_mine & allowed.any(axis=0))
    if not len(mine):
        return []
    first, number = distinct_rows(np.packbits(allowed[:, mine], axis=0).T.copy())
    total = np.bincount(number, capacities[mine], minlength=len(first))
    return [(allowed[:, mine[at]], float(total[k])) for k, at in enumerate(first.tolist())]
