"""Conjunctions made fewer without changing what they say together: merged, absorbed, in their fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from thatch.errors import FilterTooLargeError
from thatch.model.conditions import Draft
from thatch.model.conjunctions import Conjunction, close
from thatch.model.lines import Constraint, union
from thatch.model.schema import Schema, line_of, tighten

__all__ = ["simplify"]


_MAX_STEPS = 2_000_000  # conjunctions that are looked at, and pairs that are compared
_FEW = 16  # conjunctions that are compared without arrays

Group = list[tuple[Conjunction, Draft]]
_Hulls = dict[Constraint, tuple[int, int]]


def simplify(conjunctions: Iterable[Conjunction], schema: Schema | None) -> list[Conjunction]:
    """Merge, absorb, and put into the fixed order, until nothing changes.

    Raises `FilterTooLargeError` if that would take too many steps.
    """
    work = _Work()
    current = sorted(set(conjunctions), key=Conjunction.sort_key)
    while True:
        count = len(current)
        work.add(count)
        while len(merged := _merged(current, schema)) < len(current):
            current = merged
            work.add(len(current))
        current = _absorbed(current, work)
        if len(current) == count:
            return current


class _Work:
    """Counts steps."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps = 0

    def add(self, steps: int) -> None:
        self.steps += steps
        if self.steps > _MAX_STEPS:
            raise FilterTooLargeError("comparisons of alternatives with each other", self.steps, _MAX_STEPS)


def _absorbed(conjunctions: list[Conjunction], work: _Work) -> list[Conjunction]:
    """Without those that lie inside another one.

    Only a conjunction with fewer attributes and residuals, or with just the same, can hold another.
    """
    groups: dict[int, Group] = {}  # by names and residuals, each of which is a bit
    bits: dict[object, int] = {}
    for each in conjunctions:
        draft = Draft(dict(each.constraints), frozenset(each.residuals))
        names = 0
        for name in (*draft.constraints, *each.residuals):
            names |= bits.setdefault(name, 1 << len(bits))
        groups.setdefault(names, []).append((each, draft))
    hulls = _hulls(conjunctions) if len(conjunctions) > _FEW else {}
    inside: set[Conjunction] = set()
    for names, inner in groups.items():
        work.add(len(groups) >> 3)
        for others, outer in groups.items():
            if others & names == others:
                inside.update(_inside(inner, outer, hulls, work))
    return [each for each in conjunctions if each not in inside]


def _inside(inner: Group, outer: Group, hulls: dict[str, _Hulls], work: _Work) -> Iterator[Conjunction]:
    """Those of one group that lie inside one of another, or of the same, whose attributes they all have."""
    is_large = len(outer) > _FEW
    if is_large:
        keys = list(outer[0][1].constraints)
        ranks = [np.array([hulls[key][dict(each.constraints)[key]] for each, _ in outer]) for key in keys]
    for one, draft in inner:
        rivals: Iterable[tuple[Conjunction, Draft]] = outer
        if is_large:
            work.add(len(outer) * len(keys) >> 8)
            may_hold = np.ones(len(outer), np.bool_)
            for key, rank in zip(keys, ranks, strict=True):
                low, high = hulls[key][draft.constraints[key]]
                may_hold &= (rank[:, 0] <= low) & (rank[:, 1] >= high)
            rivals = (outer[index] for index in np.flatnonzero(may_hold).tolist())
        for other, wide in rivals:
            work.add(1)
            if other is not one and wide.covers(draft):
                yield one
                break


def _hulls(conjunctions: list[Conjunction]) -> dict[str, _Hulls]:
    """Where each constraint on an attribute begins and ends, as numbers in the order of cuts."""
    found: dict[str, set[Constraint]] = {}
    for each in conjunctions:
        for key, constraint in each.constraints:
            found.setdefault(key, set()).add(constraint)
    result = {}
    for key, constraints in found.items():
        ends = sorted({end for constraint in constraints for end in (constraint[0], constraint[-1])})
        number = {end: at for at, end in enumerate(ends)}
        result[key] = {each: (number[each[0]], number[each[-1]]) for each in constraints}
    return result


def _merged(conjunctions: list[Conjunction], schema: Schema | None) -> list[Conjunction]:
    """Unite groups of conjunctions that differ on a single attribute."""
    for position in range(max((len(each.constraints) for each in conjunctions), default=0)):
        groups: dict[object, list[Conjunction]] = {}
        for each in conjunctions:
            constraints = each.constraints
            if position < len(constraints):
                rest = (*constraints[:position], constraints[position][0], *constraints[position + 1 :])
                groups.setdefault((rest, each.residuals), []).append(each)
            else:
                groups[each] = [each]
        if len(groups) < len(conjunctions):
            united = [_united(group, position, schema) for group in groups.values()]
            return sorted(set(united), key=Conjunction.sort_key)
    return conjunctions


def _united(group: list[Conjunction], position: int, schema: Schema | None) -> Conjunction:
    if len(group) == 1:
        return group[0]
    first = group[0]
    key = first.constraints[position][0]
    constraints = dict(first.constraints)
    line = line_of(key, schema)
    constraints[key] = tighten(union(each.constraints[position][1] for each in group), line)
    return close(constraints, first.residuals, schema)
