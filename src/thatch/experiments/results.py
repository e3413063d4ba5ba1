"""Results of trials, and means over their seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.experiments.trials import Value

__all__ = ["Results"]

Array = npt.NDArray[Any]


class Results:
    """The rows of a grid's finished trials, by column.

    Parameters
    ----------
    table : a column for each parameter and each result, and `seed`
    trials : number of trials in the grid
    done : number of finished ones, which the table holds
    """

    def __init__(self, table: pa.Table, *, trials: int, done: int) -> None:
        self.trials, self.done = trials, done
        self._columns: dict[str, Array] = {
            name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names
        }
        self._rows = int(table.num_rows)

    def __len__(self) -> int:
        return self._rows

    def values(self, name: str, **where: Value) -> Array:
        """One column of the rows that have these values."""
        return self._columns[name][self._mask(where)]

    def mean(self, name: str, **where: Value) -> float | None:
        """The mean of a result over rows that have these values; None if it is missing in all of them."""
        values = self.values(name, **where).astype(float)
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else None

    def total(self, name: str, **where: Value) -> float | None:
        """The sum of a result over rows that have these values; None if there are no such rows."""
        values = self.values(name, **where)
        return float(values.sum()) if len(values) else None

    def choices(self, name: str, **where: Value) -> list[Value]:
        """The distinct values of a column, sorted."""
        return [
            each.item() if hasattr(each, "item") else each for each in np.unique(self.values(name, **where))
        ]

    def lines(
        self, across: str, up: str, by: Iterable[str] = (), where: Mapping[str, Value] | None = None
    ) -> dict[str, tuple[list[Value], list[float | None]]]:
        """A line of means for each combination of `by`, named by the values that differ between lines."""
        names, chosen = list(by), dict(where or {})
        counts = {name: len(self.choices(name, **chosen)) for name in names}
        found = {}
        for values in self._combinations(names, chosen):
            here = {**chosen, **dict(zip(names, values, strict=True))}
            pairs = zip(names, values, strict=True)
            label = ", ".join(_label(name, value) for name, value in pairs if counts[name] > 1)
            xs = self.choices(across, **here)
            found[label] = (xs, [self.mean(up, **{**here, across: x}) for x in xs])
        return found

    def _combinations(self, names: list[str], where: Mapping[str, Value]) -> list[tuple[Value, ...]]:
        rows = zip(*(self.values(name, **where).tolist() for name in names), strict=True)
        return sorted(set(rows)) if names else [()]

    def _mask(self, where: Mapping[str, Value]) -> Array:
        masks = (self._columns[name] == value for name, value in where.items())
        return reduce(np.logical_and, masks, np.ones(self._rows, bool))


def _label(name: str, value: Value) -> str:
    return value if isinstance(value, str) else f"{name.replace('_', ' ')} {value}"
