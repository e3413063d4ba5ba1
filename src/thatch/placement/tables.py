"""A problem from a table with a row for each box: columns of coordinates, and of low and high ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from thatch.engine.tables import arrow_table
from thatch.errors import TableError
from thatch.placement.arrays import Floats
from thatch.placement.problem import PlacementProblem
from thatch.placement.tree import BrokerTree

__all__ = ["problem_from_table"]


def problem_from_table(
    tree: BrokerTree,
    table: Any,
    *,
    locations: Sequence[str],
    boxes: Mapping[str, tuple[str, str]],
    subscriber: str | None = None,
    limit: str | None = None,
    **more: Any,
) -> tuple[PlacementProblem, tuple[Any, ...]]:
    """Read a problem; also the names of its subscribers, from a column or else the numbers of rows.

    Parameters
    ----------
    table : pyarrow, pandas or polars
    locations : the columns of coordinates
    boxes : for each axis the columns of low and high ends
    subscriber : the column of names, where subscribers have several boxes; the first row of each has its location
    limit : the column with the longest path that each subscriber accepts
    more : as for `PlacementProblem.of`

    Raises
    ------
    TableError
        If a column is missing or has values that are not numbers.
    """
    source = arrow_table(table, "subscribers")
    points, lows, highs = (
        np.column_stack([_numbers(source, name) for name in names]).reshape(source.num_rows, -1)
        for names in (locations, [low for low, _ in boxes.values()], [high for _, high in boxes.values()])
    )
    names, first, owners = range(source.num_rows), np.arange(source.num_rows), None
    if subscriber is not None:
        _check(source, subscriber)
        codes = source.column(subscriber).combine_chunks().dictionary_encode()
        if codes.null_count:
            raise TableError("a subscriber in every row", "null", f"column `{subscriber}`")
        names, owners = codes.dictionary.to_pylist(), codes.indices.to_numpy().astype(np.int64)
        first = np.unique(owners, return_index=True)[1]
    limits = None if limit is None else _numbers(source, limit)[first]
    problem = PlacementProblem.of(tree, points[first], lows, highs, owners=owners, limits=limits, **more)
    return problem, tuple(names)


def _check(table: pa.Table, name: str) -> None:
    if name not in table.column_names:
        raise TableError(f"a column `{name}`", ", ".join(table.column_names), "the table of subscribers")


def _numbers(table: pa.Table, name: str) -> Floats:
    _check(table, name)
    column = table.column(name)
    try:
        numbers: Floats = column.cast(pa.float64()).combine_chunks().to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError("numbers", str(column.type), f"column `{name}`") from error
    return numbers
