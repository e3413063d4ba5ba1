"""Groups of literals: a test reads one stamp, which each of its literals sets.

Literals that are frequent and in many groups are groups of their own, as each time that one holds all its groups are
marked. The lists of literals of a table are numbered: those of its tests, then those of their needles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Doubles, Int64s
from thatch.matching.arrays import starts_of
from thatch.matching.segments.rules.draft import RuleTable
from thatch.matching.segments.rules.numbering import lists_by, numbered_lists, taken_lists

__all__ = ["LiteralGroups"]

_MOST_MARKS = 5.0  # groups that an event marks through literals that are in several


class LiteralGroups(NamedTuple):
    """The groups of each list, of which one is marked if one of its literals holds; and the literals of each group."""

    total: int
    at: Int64s  # where those of each list begin
    numbers: Int64s
    owners: Int64s  # of the literals in groups: the group
    atoms: Int64s

    @classmethod
    def of(cls, table: RuleTable, shares: Doubles) -> LiteralGroups:
        """The groups of a table whose literals hold in such shares of events."""
        list_at = np.concatenate([table.test_atom_at, table.test_atom_at[-1] + table.test_needle_at[1:]])
        literals = np.concatenate([table.test_atoms, table.test_needles])
        is_single = _single(list_at, literals, shares)
        chosen = is_single[literals]
        lists = np.repeat(np.arange(len(list_at) - 1), np.diff(list_at))
        single = np.flatnonzero(is_single)
        number_of = np.zeros(len(is_single), np.int64)
        number_of[single] = np.arange(len(single))
        rest_at = starts_of(np.bincount(lists[~chosen], minlength=len(list_at) - 1))
        numbers, rows = numbered_lists(rest_at, literals[~chosen])
        is_filled = np.diff(rest_at) > 0
        own_at, own = taken_lists(rest_at, literals[~chosen], rows)
        # A list has its single literals, and then what is left of it if anything is.
        owners = np.concatenate([lists[chosen], np.flatnonzero(is_filled)])
        found = np.concatenate([number_of[literals[chosen]], len(single) + numbers[is_filled]])
        at, values = lists_by(owners, found, len(list_at) - 1)
        return cls(
            len(single) + len(rows),
            at.astype(np.int64),
            values.astype(np.int64),
            np.concatenate(
                [np.arange(len(single)), len(single) + np.repeat(np.arange(len(rows)), np.diff(own_at))]
            ),
            np.concatenate([single, own]),
        )


def _single(list_at: Int64s, literals: npt.NDArray[np.int32], shares: Doubles) -> npt.NDArray[np.bool_]:
    """Which literals are groups of their own: those that would mark the most, until the others mark few."""
    _, rows = numbered_lists(list_at, literals)
    uses = np.bincount(taken_lists(list_at, literals, rows)[1], minlength=len(shares))
    marks = np.where(uses > 1, shares * uses, 0.0)
    order = np.argsort(-marks, kind="stable")
    before = np.cumsum(marks[order]) - marks[order]
    is_single = np.zeros(len(shares), np.bool_)
    is_single[order[(marks.sum() - before > _MOST_MARKS) & (uses[order] > 1)]] = True
    return is_single
