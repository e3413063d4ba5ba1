"""Merging rules (li2005, section 5.1 and table 1), all of them cases of one: unite what differs, then close gaps.

Two conjunctions on the same attributes that differ in one have a perfect merger: the union of its two constraints. As a
predicate that is `<= v` for `< v` and `= v`, `!= v` for `< v` and `> v`, any number for `<= a` and `>= b` where b <= a,
a range for two that touch, a list for single values. If the union has more intervals than a predicate may have, the
least likely gaps between them are closed: table 1's imperfect mergers, and ranges around several values. Only gaps
between numbers, or between texts, are closed: `isPresent`, the paper's choice, would let through other types too. Where
that does not help, the predicate is dropped. With two attributes that differ, the same is done on both: a box around
two boxes.
"""

from __future__ import annotations

from thatch.model.lines import WHOLE, Constraint, is_single, union
from thatch.model.selectivity import Selectivity

__all__ = ["around", "predicates_in", "unite"]


def unite(one: Constraint, other: Constraint) -> Constraint:
    """The union of two constraints on one attribute; their cuts are normalised, as those of filters are."""
    if len(one) == len(other) == 2:  # by far the most common case
        if one > other:
            one, other = other, one
        if other[0] <= one[1]:
            return (one[0], max(one[1], other[1]))
        return one + other
    return union((one, other))


def around(
    key: str, one: Constraint, other: Constraint, *, intervals: int, selectivity: Selectivity
) -> Constraint:
    """A constraint around two others with at most this many intervals; the whole line if there is none."""
    constraint = unite(one, other)
    while predicates_in(constraint) > intervals:
        gaps = [
            (selectivity.upper(key, constraint[index : index + 2]), index)
            for index in range(1, len(constraint) - 1, 2)
            if constraint[index][0] == constraint[index + 1][0]
            and len(constraint[index]) == len(constraint[index + 1]) == 3
        ]
        if not gaps:
            return WHOLE
        _, index = min(gaps)
        constraint = constraint[:index] + constraint[index + 2 :]
    return constraint


def predicates_in(constraint: Constraint) -> int:
    """How many intervals a constraint has; `!=`, all values of a type but one, counts as one."""
    if len(constraint) == 4 and is_single(constraint[1], constraint[2]):
        low, high = constraint[0], constraint[3]
        if len(low) == len(high) == 1 and high[0] == low[0] + 1:
            return 1
    return len(constraint) // 2
