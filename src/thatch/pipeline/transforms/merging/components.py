"""Filters that differ in one attribute: which of them touch there, and the gaps between those that do not.

Filters whose constraints touch or overlap have a perfect merger, the union of them, and so have `< v` and `> v`, which
are `!= v` together. What is left is a row of *components* on one line, with gaps between them. To close a gap makes one
filter of two and lets through the events in it: an imperfect merger (paper L, table 1). Gaps are disjoint, so that a
merger lets through what its gaps hold, each counted once, however many are closed and in whatever order.

Only gaps between numbers, or between texts, can be closed, as in `thatch.reduction.merging.rules`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from thatch.model.lines import BOTTOM, EMPTY, Constraint, union
from thatch.model.schema import tighten
from thatch.model.types import Line
from thatch.reduction.merging.rules import predicates_in

__all__ = ["Component", "components_of"]


@dataclass(frozen=True, slots=True)
class Component:
    """Filters that are merged without any loss.

    Parameters
    ----------
    constraint : the union of theirs
    parts : their numbers, rising
    gap : what lies between the component before it and this one; empty if it is the first, or the gap cannot be closed
    """

    constraint: Constraint
    parts: tuple[int, ...]
    gap: Constraint = EMPTY


def components_of(parts: Iterable[tuple[int, Constraint]], line: Line | None = None) -> list[Component]:
    """The components of filters on one line, lowest first.

    Parameters
    ----------
    parts : the number of each and its constraint on the line, one interval or `!=`
    line : what is declared of the line
    """
    found: list[Component] = []
    run: list[tuple[int, Constraint]] = []
    reach = BOTTOM  # of the run
    for part in sorted(parts, key=lambda each: (each[1][0], each[1][-1], each[0])):
        low, high = part[1][0], part[1][-1]
        if run and low > reach:
            _add(found, run, line)
            run = []
        reach = max(reach, high) if run else high
        run.append(part)
    if run:
        _add(found, run, line)
    return found


def _add(found: list[Component], run: list[tuple[int, Constraint]], line: Line | None) -> None:
    """Add a component, to the one before it where both together are one predicate."""
    constraint = tighten(union(each for _, each in run), line)
    parts = tuple(sorted(number for number, _ in run))
    if not found:
        found.append(Component(constraint, parts))
        return
    before = found[-1]
    both = union((before.constraint, constraint))
    if predicates_in(both) == 1:
        found[-1] = Component(both, tuple(sorted(before.parts + parts)), before.gap)
        return
    low, high = before.constraint[-1], constraint[0]
    is_closable = low[0] == high[0] and len(low) == len(high) == 3
    found.append(Component(constraint, parts, (low, high) if is_closable else EMPTY))
