"""Conjunctions made fewer without changing what they say together: merged, absorbed, in their fixed order."""

from __future__ import annotations

from collections.abc import Iterable

from thatch.model.conditions import Draft
from thatch.model.conjunctions import Conjunction, close
from thatch.model.lines import union
from thatch.model.schema import Schema, line_of, tighten

__all__ = ["simplify"]


def simplify(conjunctions: Iterable[Conjunction], schema: Schema | None) -> list[Conjunction]:
    """Merge, absorb, and put into the fixed order, until nothing changes."""
    current = sorted(set(conjunctions), key=Conjunction.sort_key)
    while True:
        count = len(current)
        while len(merged := _merged(current, schema)) < len(current):
            current = merged
        current = _absorbed(current)
        if len(current) == count:
            return current


def _absorbed(conjunctions: list[Conjunction]) -> list[Conjunction]:
    """Without those that lie inside another one.

    Only a conjunction with fewer attributes and residuals, or with just the same, can hold another; so they are kept
    by those, and those with few come first.
    """
    kept: dict[frozenset[object], list[tuple[Conjunction, Draft]]] = {}
    by_size = sorted(conjunctions, key=lambda each: len(each.constraints) + len(each.residuals))
    for inner in by_size:
        draft = Draft(dict(inner.constraints), frozenset(inner.residuals))
        keys = frozenset((*draft.constraints, *inner.residuals))
        rivals = [other for others, group in kept.items() if others < keys for _, other in group]
        same = kept.setdefault(keys, [])
        if any(other.covers(draft) for other in (*rivals, *(each for _, each in same))):
            continue
        same[:] = [each for each in same if not draft.covers(each[1])]
        same.append((inner, draft))
    return sorted((each for group in kept.values() for each, _ in group), key=Conjunction.sort_key)


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
