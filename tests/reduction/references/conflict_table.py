"""The conflict table straight from the paper's definitions 2, 3 and 5, for tests: every pair of entries is compared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from thatch.reduction.boxes import Ints

__all__ = ["Entry", "conflict", "entries", "free_entries", "has_polyhedron_witness", "minimised"]


class Entry(NamedTuple):
    """The negation of a bound: `x < bound` on an axis if `is_lower`, else `x > bound`."""

    axis: int
    is_lower: bool
    bound: int


def entries(low: Ints, high: Ints, row_low: Ints, row_high: Ints) -> list[Entry]:
    """The defined entries of a row: some point of the box satisfies them (definition 2)."""
    every = [
        Entry(axis, is_lower=is_lower, bound=int(ends[axis]))
        for axis in range(len(low))
        for is_lower, ends in ((True, row_low), (False, row_high))
    ]
    return [entry for entry in every if _is_satisfiable(int(low[entry.axis]), int(high[entry.axis]), [entry])]


def conflict(low: Ints, high: Ints, one: Entry, other: Entry, *, literal: bool = False) -> bool:
    """Whether no point of the box satisfies both entries, which are of different rows (definition 5)."""
    if one.axis != other.axis:
        return False
    return not _is_satisfiable(int(low[one.axis]), int(high[one.axis]), [one, other], literal=literal)


def free_entries(
    low: Ints, high: Ints, lows: Ints, highs: Ints, rows: Sequence[int], row: int, *, literal: bool = False
) -> list[Entry]:
    """The defined entries of a row that conflict with none of the other `rows`."""
    others = [
        entry for other in rows if other != row for entry in entries(low, high, lows[other], highs[other])
    ]
    return [
        entry
        for entry in entries(low, high, lows[row], highs[row])
        if not any(conflict(low, high, entry, other, literal=literal) for other in others)
    ]


def minimised(
    low: Ints, high: Ints, lows: Ints, highs: Ints, order: Sequence[int], *, literal: bool = False
) -> list[int]:
    """The rows that algorithm 2 keeps, if it tries them in this order, and begins anew after each removal."""
    rows = list(order)
    while True:
        for row in rows:
            defined = entries(low, high, lows[row], highs[row])
            if len(defined) >= len(rows) or free_entries(low, high, lows, highs, rows, row, literal=literal):
                rows.remove(row)
                break
        else:
            return sorted(rows)


def has_polyhedron_witness(low: Ints, high: Ints, lows: Ints, highs: Ints) -> bool:
    """Whether entries can be chosen, one of each row, that some point of the box satisfies (definition 3)."""
    tables = [entries(low, high, lows[row], highs[row]) for row in range(len(lows))]
    ends = list(zip(low.tolist(), high.tolist(), strict=True))
    return any(
        all(
            _is_satisfiable(first, last, [entry for entry in chosen if entry.axis == axis])
            for axis, (first, last) in enumerate(ends)
        )
        for chosen in product(*tables)
    )


def _is_satisfiable(first: int, last: int, chosen: Sequence[Entry], *, literal: bool = False) -> bool:
    """Whether a number between the ends satisfies these entries of one axis: a whole one, or any if `literal`."""
    below = [entry.bound for entry in chosen if entry.is_lower]
    above = [entry.bound for entry in chosen if not entry.is_lower]
    if literal:  # open ends between closed ones
        return (
            min(below, default=last + 1) > max(above, default=first - 1)
            and (not below or min(below) > first)
            and (not above or max(above) < last)
        )
    return min([last, *(bound - 1 for bound in below)]) >= max([first, *(bound + 1 for bound in above)])
