"""A linear program, built row by row, and its solvers.

Large programs are solved by a first-order method, small ones by simplex, which ends at a vertex. Both stop after a fixed
amount of work, never by the clock, so that an answer depends on its input alone.

The first-order method stops early: boxes are drawn from its answer anyway, and ten times the precision takes five times the
work. Its values are one or two percent above the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thatch.errors import MissingPackageError
from thatch.placement.arrays import Bools, Floats, Ints

__all__ = ["LinearProgram"]

_SIMPLEX_COLUMNS = 12_000  # up to here GLOP, beyond PDLP
_PRECISION = 1e-3
_SLACK = 50 * _PRECISION  # rows broken by no more than this count as kept
_LOOSE = 1e-3  # how far rows are loosened when only the columns of a rough answer are left
_PASSES = 20_000  # multiplications by the matrix that PDLP may take
_WORK = 20.0  # of GLOP, in its own unit of about a second
_SUPPORT = 1e-4  # columns of a PDLP answer above this are solved again by GLOP, which gives a vertex
_VERTEX_ROWS = 12_000  # of what is left of the program then


class LinearProgram:
    """Minimise a cost over variables from 0 to 1, subject to rows that are added one after the other."""

    def __init__(self) -> None:
        self._parts: list[tuple[Ints, Ints, Floats]] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []
        self._rows = 0
        self._width = 0

    def add_columns(self, count: int) -> Ints:
        """Add variables; their numbers."""
        self._width += count
        return np.arange(self._width - count, self._width)

    def add_row(self, columns: Ints, values: Floats, low: float, high: float) -> None:
        """Keep a weighted sum of columns from `low` to `high`."""
        self._add(np.zeros(len(columns), np.int64), columns, values, 1, low, high)

    def add_sums(self, number: Ints, columns: Ints, count: int) -> None:
        """Keep the sum of the columns with the same number at 1 or more, for each of `count` numbers."""
        self._add(number, columns, np.ones(len(columns)), count, 1.0, np.inf)

    def add_pairs(self, less: Ints, more: Ints) -> None:
        """Keep each column of `less` at or below its partner in `more`."""
        n = len(less)
        row = np.tile(np.arange(n), 2)
        self._add(row, np.concatenate([less, more]), np.repeat([1.0, -1.0], n), n, -np.inf, 0.0)

    def add_cover(self, z: Ints, inside: Bools, y: Ints) -> None:
        """Keep each z at or below the sum of the y whose boxes contain it."""
        row, column = np.nonzero(inside)
        n = len(z)
        values = np.concatenate([np.ones(n), -np.ones(len(row))])
        rows = np.concatenate([np.arange(n), row])
        self._add(rows, np.concatenate([z, y[column]]), values, n, -np.inf, 0.0)

    def _add(self, row: Ints, column: Ints, values: Floats, rows: int, low: float, high: float) -> None:
        self._parts.append((row + self._rows, column, values))
        self._low.append(np.full(rows, low))
        self._high.append(np.full(rows, high))
        self._rows += rows

    def solve(self, cost: Floats) -> Floats | None:
        """The best values of all variables, at a vertex where that is affordable; None if no solution was found.

        Parameters
        ----------
        cost : of the first variables; the others cost nothing
        """
        try:
            from scipy.sparse import csr_matrix
        except ImportError as error:
            raise MissingPackageError("scipy", "placement", "the linear program") from error
        row, column, values = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        matrix = csr_matrix((values, (row, column)), shape=(self._rows, self._width))
        low, high = np.concatenate(self._low), np.concatenate(self._high)
        whole = np.concatenate([cost, np.zeros(self._width - len(cost))])
        if self._width <= _SIMPLEX_COLUMNS:
            return _solve("GLOP", matrix, whole, low, high)
        rough = _solve("PDLP", matrix, whole, low, high)
        if rough is None:
            return None
        # Keep only the columns that the rough answer uses, and their rows: far fewer, and a vertex of that is sparse.
        used = np.flatnonzero(rough > _SUPPORT)
        part = matrix[:, used]
        rows = np.flatnonzero(np.diff(part.indptr))
        if len(rows) > _VERTEX_ROWS:
            return rough
        exact = _solve("GLOP", part[rows], whole[used], low[rows] - _LOOSE, high[rows] + _LOOSE)
        if exact is None:
            return rough
        answer = np.zeros(self._width)
        answer[used] = exact
        return answer


def _solve(solver: str, matrix: Any, cost: Floats, low: Floats, high: Floats) -> Floats | None:
    try:
        from ortools.linear_solver.python import model_builder_helper
    except ImportError as error:
        raise MissingPackageError("ortools", "placement", "the linear program") from error
    model: Any = model_builder_helper.ModelBuilderHelper()  # its type hints do not fit arrays
    scale = max(float(cost.max()), 1e-300)  # tolerances are absolute, volumes can be of any size
    model.fill_model_from_sparse_data(
        np.zeros(len(cost)), np.ones(len(cost)), cost / scale, low, high, matrix
    )
    solving = model_builder_helper.ModelSolverHelper(solver)
    if solver == "PDLP":
        criteria = f"eps_optimal_absolute: {_PRECISION} eps_optimal_relative: {_PRECISION}"
        parameters = (
            f"termination_criteria {{ simple_optimality_criteria {{ {criteria} }} "
            f"kkt_matrix_pass_limit: {_PASSES} }}"
        )
    else:
        parameters = f"max_deterministic_time: {_WORK}"
    solving.set_solver_specific_parameters(parameters)
    solving.solve(model)
    if solving.status() != model_builder_helper.SolveStatus.OPTIMAL:
        return None
    values: Floats = np.asarray(solving.variable_values(), np.float64)
    # A first-order solver may return a vector that breaks rows: check it.
    rows = matrix @ values
    return values if (rows >= low - _SLACK).all() and (rows <= high + _SLACK).all() else None
