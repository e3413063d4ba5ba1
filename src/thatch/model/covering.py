"""Exact questions about two disjunctions of conjunctions: is one inside the other, do they meet?

Covering subtracts: a conjunction lies in a union exactly when nothing is left after every member of the union was
taken away from it. Taking a member away leaves at most one piece per constrained attribute. The number of pieces
can explode in theory (the problem is co-NP-complete), so the work is bounded; out of budget means not proved.
"""

from __future__ import annotations

from collections.abc import Sequence

from thatch.model.conjunctions import (
    Conjunction,
    Dead,
    close,
    count_tests,
    implied_constraint,
    implies_residual,
)
from thatch.model.lines import WHOLE, Constraint, difference, intersect
from thatch.model.lines import covers as line_covers
from thatch.model.schema import Schema

__all__ = ["covers", "intersects", "overlap", "subtract"]

_MAX_PIECES = 200_000
_MAX_TESTS = 100_000  # of single values against checks

Sides = dict[str, Constraint]


def covers(outer: Sequence[Conjunction], inner: Sequence[Conjunction], schema: Schema | None) -> bool:
    """Whether the union of `outer` is proved to contain the union of `inner`."""
    return all(_is_covered(each, outer, schema) for each in inner)


def intersects(first: Sequence[Conjunction], second: Sequence[Conjunction], schema: Schema | None) -> bool:
    """Whether some flat event may satisfy a member of each; False is proved."""
    return any(_meet(one, other, schema) for one in first for other in second)


def _meet(one: Conjunction, other: Conjunction, schema: Schema | None) -> bool:
    sides = dict(one.constraints)
    for key, constraint in other.constraints:
        sides[key] = intersect(sides.get(key, WHOLE), constraint)
        if not sides[key]:
            return False
    if count_tests(sides, one.residuals + other.residuals, schema) > _MAX_TESTS:
        return True  # as far as is known
    try:
        close(sides, one.residuals + other.residuals, schema)
    except Dead:
        return False
    return True


def _is_covered(inner: Conjunction, outer: Sequence[Conjunction], schema: Schema | None) -> bool:
    if any(_contains(each, inner, schema) for each in outer):
        return True
    # A member whose residuals are not known to hold inside cannot take anything away.
    useful = [
        each
        for each in outer
        if all(implies_residual(inner, residual, schema) for residual in each.residuals)
        and _meet(inner, each, schema)
    ]
    if len(useful) < 2:
        return False
    keys = {key for each in useful for key, _ in each.constraints}
    sides = {key: implied_constraint(inner, key, schema) for key in keys}
    members = [dict(each.constraints) for each in useful]
    return _nothing_left(sides, members)


def _contains(outer: Conjunction, inner: Conjunction, schema: Schema | None) -> bool:
    known = dict(inner.constraints)
    for key, constraint in outer.constraints:
        own = known.get(key)
        if (own is None or not line_covers(constraint, own)) and not line_covers(
            constraint, implied_constraint(inner, key, schema)
        ):
            return False
    return all(implies_residual(inner, residual, schema) for residual in outer.residuals)


def _nothing_left(sides: Sides, members: list[Sides]) -> bool:
    """Subtract the members one after the other, depth first, until a piece survives them all."""
    pending = [(sides, 0)]
    pieces = 0
    while pending:
        piece, index = pending.pop()
        while index < len(members) and not overlap(piece, members[index]):
            index += 1
        if index == len(members):
            return False
        for rest in subtract(piece, members[index]):
            pieces += 1
            if pieces > _MAX_PIECES:
                return False
            pending.append((rest, index + 1))
    return True


def overlap(piece: Sides, member: Sides) -> bool:
    """Whether two boxes have something in common."""
    return all(intersect(piece.get(key, WHOLE), constraint) for key, constraint in member.items())


def subtract(piece: Sides, member: Sides) -> list[Sides]:
    """Disjoint pieces that together are the piece without the member, which must overlap."""
    result = []
    inside = dict(piece)
    for key, constraint in member.items():
        own = inside.get(key, WHOLE)
        outside = difference(own, constraint)
        if outside:
            result.append({**inside, key: outside})
            inside[key] = intersect(own, constraint)
    return result
