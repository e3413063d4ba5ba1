"""Covering of pairs (li2005, section 4): remove the subscriptions of a table that another one covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thatch.workloads.li2005 import (
    AT_LEAST,
    AT_MOST,
    ATTRIBUTES,
    EQUAL,
    GREATER,
    LESS,
    UNEQUAL,
    Ints,
    Predicates,
)

if TYPE_CHECKING:
    from thatch.reduction.boxes import Boxes

__all__ = ["boxes_of", "ends_of", "remove_covered"]


def ends_of(table: Predicates) -> tuple[Ints, Ints]:
    """The least and the greatest value that each predicate holds; for `!=` those of all values."""
    operator, value = table.operator, table.value
    starts = [value, value, value + 1]
    lows = np.select([operator == EQUAL, operator == AT_LEAST, operator == GREATER], starts, 0)
    ends = [value - 1, value, value]
    highs = np.select([operator == LESS, operator == AT_MOST, operator == EQUAL], ends, table.values - 1)
    return lows, highs


def remove_covered(table: Predicates) -> Predicates:
    """The subscriptions that no other covers, in their order of arrival; the first of equal ones.

    Notes
    -----
    Larger ones are added first, so one pass is enough. A `!=` is only found to cover an equal `!=`: only mergers have it,
    and they have already replaced what they cover under their own tail.
    """
    from thatch.reduction.index import BoxIndex

    lows, highs = ends_of(table)
    held = np.log((highs - lows + 1 - (table.operator == UNEQUAL)) / table.values)
    rows, counts = _rows_of(table), np.diff(table.offsets)
    order = np.lexsort((counts, -np.round(np.bincount(rows, held, minlength=len(table)), 9)))
    answers = BoxIndex().stream(boxes_of(table.take(order)), pairwise_only=True)
    return table.take(np.sort(order[answers.codes != 1]))


def boxes_of(table: Predicates) -> Boxes:
    """Every subscription as a box; `!=` has a second side, on an axis that only `!=` uses."""
    from thatch.reduction.boxes import Boxes

    lows, highs = ends_of(table)
    unequal = np.flatnonzero(table.operator == UNEQUAL)
    rows = _rows_of(table)
    rows = np.concatenate([rows, rows[unequal]])
    axes = np.concatenate([table.attribute, table.attribute[unequal] + ATTRIBUTES])
    order = np.lexsort((axes, rows))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(table)))])
    ends = (np.concatenate([end, table.value[unequal]])[order] for end in (lows, highs))
    return Boxes(offsets, axes[order].astype(np.int32), *ends)


def _rows_of(table: Predicates) -> Ints:
    """The subscription of each predicate."""
    return np.repeat(np.arange(len(table)), np.diff(table.offsets))
