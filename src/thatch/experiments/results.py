"""Results of trials, means over their seeds, and both as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from thatch.experiments.trials import Value
from thatch.reports.formatting import format_value

__all__ = ["Results", "join", "number", "percent", "ratio"]

Array = npt.NDArray[Any]


def number(value: float | None) -> str | None:
    """A number as text, whole numbers without a fraction; None stays None."""
    if value is None:
        return None
    return format_value(int(value) if float(value).is_integer() else value)


def percent(share: float | None) -> str | None:
    """A share as a percentage; None stays None."""
    return None if share is None else format_value(share, "percent")


def ratio(value: float | None, of: float | None) -> float | None:
    """A quotient; None if one of the two is missing or the second is 0."""
    return None if value is None or not of else value / of


def join(values: Iterable[str | None], between: str = " / ") -> str | None:
    """Several values separated by slashes or another text; None if all of them are None."""
    texts = list(values)
    return between.join(text or "–" for text in texts) if any(texts) else None


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

    def show_means(
        self,
        names: str | Sequence[str],
        show: Callable[[float | None], str | None] = number,
        between: str = " / ",
        /,
        **where: Value | tuple[Value, ...],
    ) -> str | None:
        """Means as text: one for each result, and one for each combination of parameters that have several values."""
        choices = {key: each if isinstance(each, tuple) else (each,) for key, each in where.items()}
        chosen = [dict(zip(choices, each, strict=True)) for each in product(*choices.values())]
        columns = [names] if isinstance(names, str) else names
        return join((show(self.mean(name, **each)) for name in columns for each in chosen), between)

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
