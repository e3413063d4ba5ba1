"""LPRelax (paper 003, section 4.1.1): which candidate boxes at which leaf, in fractions.

    y_ik   box k in the filter of leaf i          z_iq   leaf i contains interest q          x_it   type t at leaf i

minimise Σ Vol(k) y_ik with Σ_k y_ik ≤ α_i (C1), Σ_i x_it ≥ 1 (C2), Σ_t w_t x_it ≤ β κ_i Σ w (C3), and for every box of
q z_iq ≤ Σ y_ik over the boxes k around it, x_it ≤ z_iq (C4). The paper has no z: with it the program has far fewer
nonzeros where interests repeat. C3 is scaled to 1 on its right side, or first-order solvers take zero for an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thatch.errors import MissingPackageError
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.slp.filter_gen import shrunk
from thatch.placement.types import Types
from thatch.placement.volumes import box_volumes

__all__ = ["Relaxed", "relaxed"]

_SIMPLEX_COLUMNS = 12_000  # up to here GLOP, beyond PDLP
_PRECISION = 1e-4
_SUPPORT = 1e-4  # columns of a PDLP answer above this are solved again by GLOP, which gives a vertex
_SECONDS = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """The fractional optimum: how much of which box at which leaf, and the objective."""

    boxes: Floats
    leaf: Ints
    amount: Floats
    value: float


def relaxed(
    problem: Problem, types: Types, sample: Ints, weights: Floats, candidates: Floats
) -> Relaxed | None:
    """The optimum for sampled types with these weights in C3; None if there is none, or the solver found none.

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    interests = problem.interests
    distinct, interest = np.unique(types.interest[sample], return_inverse=True)
    rows, owner = interests.rows_of(distinct)
    boxes = interests.boxes[rows]
    allowed = types.sets.matrix[types.candidates[sample]] & (problem.shares > 0)
    total = float(weights.sum())
    matrix = _Matrix()
    columns, column_leaf = [], []
    width = 0
    for leaf in range(allowed.shape[1]):
        here = np.flatnonzero(allowed[:, leaf])
        if not len(here):
            continue
        wanted = np.zeros(len(distinct), np.bool_)
        wanted[interest[here]] = True
        near = np.flatnonzero(wanted[owner])
        mine = shrunk(candidates, boxes[near])
        y = width + np.arange(len(mine))
        columns.append(mine)
        column_leaf.append(np.full(len(mine), leaf))
        matrix.add_row(y, np.ones(len(y)), -np.inf, float(problem.complexities[problem.tree.leaves[leaf]]))
        width += len(mine)
        matrix.pending.append((leaf, here, near, y, mine))
    y_count = width
    by_type: list[list[int]] = [[] for _ in sample]
    d = interests.axes
    for leaf, here, near, y, mine in matrix.pending:
        asked, x_interest = np.unique(interest[here], return_inverse=True)
        z = width + np.arange(len(asked))
        width += len(asked)
        inside = (mine[None, :, :d] <= boxes[near][:, None, :d]).all(axis=2)
        inside &= (mine[None, :, d:] >= boxes[near][:, None, d:]).all(axis=2)
        matrix.add_cover(z[np.searchsorted(asked, owner[near])], inside, y)
        x = width + np.arange(len(here))
        width += len(here)
        matrix.add_pairs(x, z[x_interest])
        share = problem.beta * float(problem.shares[leaf]) * total
        matrix.add_row(x, weights[here] / share, -np.inf, 1.0)
        for place, column in zip(here.tolist(), x.tolist(), strict=True):
            by_type[place].append(column)
    for each in by_type:
        matrix.add_row(np.array(each, np.int64), np.ones(len(each)), 1.0, np.inf)
    all_boxes = np.concatenate(columns)
    cost = np.zeros(width)
    cost[:y_count] = box_volumes(all_boxes)
    answer = _solved(matrix, cost, y_count)
    if answer is None:
        return None
    amount = np.clip(answer[:y_count], 0.0, 1.0)
    return Relaxed(all_boxes, np.concatenate(column_leaf), amount, float(cost[:y_count] @ amount))


class _Matrix:
    """Rows of the program as they come."""

    def __init__(self) -> None:
        self.pending: list[tuple[int, Ints, Ints, Ints, Floats]] = []
        self.parts: list[tuple[Ints, Ints, Floats]] = []
        self.low: list[Floats] = []
        self.high: list[Floats] = []
        self.rows = 0

    def add_row(self, columns: Ints, values: Floats, low: float, high: float) -> None:
        self._add(np.zeros(len(columns), np.int64), columns, values, 1, low, high)

    def add_pairs(self, less: Ints, more: Ints) -> None:
        """Each of the one at most its partner of the other."""
        n = len(less)
        row = np.tile(np.arange(n), 2)
        values = np.repeat([1.0, -1.0], n)
        self._add(row, np.concatenate([less, more]), values, n, -np.inf, 0.0)

    def add_cover(self, z: Ints, inside: Any, y: Ints) -> None:
        """Each z at most the sum of those y whose boxes contain it."""
        row, column = np.nonzero(inside)
        n = len(z)
        rows = np.concatenate([np.arange(n), row])
        values = np.concatenate([np.ones(n), -np.ones(len(row))])
        self._add(rows, np.concatenate([z, y[column]]), values, n, -np.inf, 0.0)

    def _add(self, row: Ints, column: Ints, values: Floats, rows: int, low: float, high: float) -> None:
        self.parts.append((row + self.rows, column, values))
        self.low.append(np.full(rows, low))
        self.high.append(np.full(rows, high))
        self.rows += rows


def _solved(matrix: _Matrix, cost: Floats, y_count: int) -> Floats | None:
    """A vertex where that is affordable: GLOP at once, or PDLP and then GLOP on what PDLP used."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise MissingPackageError("scipy", "placement", "the linear program") from error
    row, column, values = (np.concatenate(each) for each in zip(*matrix.parts, strict=True))
    program = csr_matrix((values, (row, column)), shape=(matrix.rows, len(cost)))
    low, high = np.concatenate(matrix.low), np.concatenate(matrix.high)
    if len(cost) <= _SIMPLEX_COLUMNS:
        return _optimum("GLOP", program, cost, low, high, np.ones(len(cost)))
    rough = _optimum("PDLP", program, cost, low, high, np.ones(len(cost)))
    if rough is None:
        return None
    # Columns that are closed stay, at zero: GLOP's own reduction takes them out.
    upper = np.ones(len(cost))
    upper[:y_count] = rough[:y_count] > _SUPPORT
    exact = _optimum("GLOP", program, cost, low, high, upper)
    return rough if exact is None else exact


def _optimum(
    solver: str, program: Any, cost: Floats, low: Floats, high: Floats, upper: Floats
) -> Floats | None:
    try:
        from ortools.linear_solver.python import model_builder_helper
    except ImportError as error:
        raise MissingPackageError("ortools", "placement", "the linear program") from error
    model: Any = model_builder_helper.ModelBuilderHelper()  # its types know no shapes
    model.fill_model_from_sparse_data(np.zeros(len(cost)), upper, cost, low, high, program)
    work = model_builder_helper.ModelSolverHelper(solver)
    work.set_time_limit_in_seconds(_SECONDS)
    if solver == "PDLP":
        criteria = f"eps_optimal_absolute: {_PRECISION} eps_optimal_relative: {_PRECISION}"
        work.set_solver_specific_parameters(
            f"termination_criteria {{ simple_optimality_criteria {{ {criteria} }} }}"
        )
    work.solve(model)
    if work.status() != model_builder_helper.SolveStatus.OPTIMAL:
        return None
    values: Floats = np.asarray(work.variable_values(), np.float64)
    # What a first-order solver returns is checked, not believed.
    rows = program @ values
    slack = 50 * _PRECISION
    return values if (rows >= low - slack).all() and (rows <= high + slack).all() else None
