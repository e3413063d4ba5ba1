"""Merging rules (paper L, section 5.1 and table 1), all of them cases of one: unite what differs, then close gaps.

Two conjunctions on the same attributes that differ in one have a perfect merger: the union of its two constraints. As a
predicate that is `<= v` for `< v` and `= v`, `!= v` for `< v` and `> v`, any number for `<= a` and `>= b` where b <= a,
a range for two that touch, a list for single values. If the union has more intervals than a predicate may have, the
least likely gaps between them are closed: table 1's imperfect mergers, and ranges around several values. Only gaps
between numbers, or between texts, are closed: `isPresent`, the paper's choice, would let through other types too. Where
that does not help, the predicate is dropped. With two attributes that differ, the same is done on both: a box around
two boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from thatch.model.conjunctions import Conjunction, Dead, close
from thatch.model.lines import WHOLE, Constraint, is_single, union
from thatch.model.schema import Schema, line_of, tighten
from thatch.reduction.merging.densities import Density

__all__ = ["around", "merged", "predicates_in", "replaced", "united"]


def merged(
    one: Conjunction,
    other: Conjunction,
    *,
    intervals: int,
    density: Density,
    schema: Schema | None = None,
) -> Conjunction | None:
    """A conjunction around two that constrain the same attributes and differ in one or two; None if they do not.

    Parameters
    ----------
    intervals : most that a predicate of the merger may have
    density : tells which gaps cost least
    """
    first, second = dict(one.constraints), dict(other.constraints)
    if first.keys() != second.keys() or one.residuals != other.residuals:
        return None
    different = [key for key in first if first[key] != second[key]]
    if not 1 <= len(different) <= 2:
        return None
    sides = {
        key: around(key, (first[key], second[key]), intervals=intervals, density=density, schema=schema)
        for key in different
    }
    return replaced(one, sides, schema)


def united(
    key: str, constraints: Iterable[Constraint], intervals: int, schema: Schema | None
) -> Constraint | None:
    """The union of constraints on an attribute, None if it has more intervals than a predicate may have."""
    found = tighten(union(constraints), line_of(key, schema))
    return found if predicates_in(found) <= intervals else None


def around(
    key: str, constraints: Iterable[Constraint], *, intervals: int, density: Density, schema: Schema | None
) -> Constraint:
    """A constraint on an attribute around others that has at most so many intervals."""
    line = line_of(key, schema)
    return tighten(_widened(key, tighten(union(constraints), line), intervals, density), line)


def replaced(
    conjunction: Conjunction, sides: Mapping[str, Constraint], schema: Schema | None
) -> Conjunction | None:
    """A conjunction with other constraints on some of its attributes; None if nothing satisfies that."""
    constraints = {**dict(conjunction.constraints), **sides}
    try:
        return close(constraints, conjunction.residuals, schema)
    except Dead:  # pragma: no cover - it holds what its parts hold
        return None


def predicates_in(constraint: Constraint) -> int:
    """How many intervals a constraint has, all but one value of a type being one, as `!=` says it."""
    if len(constraint) == 4 and is_single(constraint[1], constraint[2]):
        low, high = constraint[0], constraint[3]
        if len(low) == len(high) == 1 and high[0] == low[0] + 1:
            return 1
    return len(constraint) // 2


def _widened(key: str, constraint: Constraint, most: int, density: Density) -> Constraint:
    """A constraint around another with at most so many intervals; the whole line if there is no such."""
    while predicates_in(constraint) > most:
        gaps = [
            (density.probability(key, constraint[index : index + 2]), index)
            for index in range(1, len(constraint) - 1, 2)
            if constraint[index][0] == constraint[index + 1][0]
            and len(constraint[index]) == len(constraint[index + 1]) == 3
        ]
        if not gaps:
            return WHOLE
        _, index = min(gaps)
        constraint = constraint[:index] + constraint[index + 2 :]
    return constraint
