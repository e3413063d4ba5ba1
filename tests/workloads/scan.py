"""The plain way to match numeric workloads: look at every condition of every subscription."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from thatch.workloads import Cells, Intervals, Matrix, TextConditions, TextEvents, Workload
from thatch.workloads.columns import Floats


def rows(workload: Workload) -> Iterator[Floats]:
    """Every event as one number per attribute, NaN = missing."""
    cells = workload.publications
    cells = cells.cells() if isinstance(cells, Matrix) else cells
    assert isinstance(cells, Cells)
    for event in range(len(cells)):
        part = slice(cells.offsets[event], cells.offsets[event + 1])
        row = np.full(len(workload.attributes), np.nan)
        row[cells.attribute[part]] = cells.value[part]
        yield row


def is_matched(subscriptions: Intervals, row: Floats) -> np.ndarray:
    """Which subscriptions contain the event."""
    values = row[subscriptions.attribute]
    holds = (subscriptions.low <= values) & (values <= subscriptions.high)
    return np.logical_and.reduceat(holds, subscriptions.offsets[:-1])


def share_of_matches(workload: Workload) -> float:
    """The mean share of subscriptions that an event matches."""
    subscriptions = workload.subscriptions
    assert isinstance(subscriptions, Intervals)
    return float(np.mean([is_matched(subscriptions, row).mean() for row in rows(workload)]))


Columns: TypeAlias = Intervals | TextConditions | Matrix | Cells | TextEvents


def arrays(columns: Columns) -> dict[str, np.ndarray]:
    """The columns by name."""
    return {name: getattr(columns, name) for name in type(columns).__slots__}


def are_equal(first: Columns, second: Columns) -> bool:
    """Whether two sets of columns are the same, types of arrays included."""
    left, right = arrays(first), arrays(second)
    return left.keys() == right.keys() and all(
        left[name].dtype == right[name].dtype and np.array_equal(left[name], right[name], equal_nan=True)
        for name in left
    )
