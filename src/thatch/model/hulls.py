"""Hulls: a conjunction around many conjunctions, of bounded size.

A hull is looser than what it holds and never tighter: every flat event that satisfies one of the conjunctions satisfies
it. It constrains an attribute only if all of them do, by the union of their intervals; beyond a number of intervals
those with the narrowest gaps between them are joined. Residual checks are left out. Its cuts are cuts of what it holds.
"""

from __future__ import annotations

from itertools import takewhile

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import WHOLE, Constraint, Cut, union
from thatch.model.schema import Schema, line_of, tighten

__all__ = ["Hull", "coarsen"]

_SLACK = 4  # times as many intervals as are kept are collected before they are united


class Hull:
    """The hull of the conjunctions added so far.

    Parameters
    ----------
    first : a conjunction; there is no hull of none
    most : intervals of numbers, and of texts, that a constraint keeps
    """

    def __init__(self, first: Conjunction, most: int) -> None:
        self._most = most
        self._sides = {key: [constraint] for key, constraint in first.constraints}

    def add(self, conjunction: Conjunction) -> None:
        """Make the hull hold a conjunction too."""
        given = dict(conjunction.constraints)
        for key in [key for key in self._sides if key not in given]:
            del self._sides[key]
        for key, parts in self._sides.items():
            constraint = given[key]
            if constraint != parts[-1]:
                parts.append(constraint)
                if len(parts) > _SLACK * self._most:
                    parts[:] = [coarsen(union(parts), self._most)]

    def count_lost(self, conjunction: Conjunction) -> int:
        """How many attributes would no longer be constrained if it held a conjunction too."""
        return len(self._sides.keys() - {key for key, _ in conjunction.constraints})

    def __len__(self) -> int:
        """How many attributes are constrained."""
        return len(self._sides)

    def conjunction(self, schema: Schema | None = None) -> Conjunction:
        """The hull; without constraints if it holds everything."""
        kept = []
        for key, parts in sorted(self._sides.items()):
            constraint = tighten(coarsen(union(parts), self._most), line_of(key, schema))
            if constraint != WHOLE:
                kept.append((key, constraint))
        return Conjunction(tuple(kept))


def coarsen(constraint: Constraint, most: int) -> Constraint:
    """A constraint around another with at most so many intervals of numbers, and of texts.

    Only gaps inside the numbers or inside the texts are closed, so that nothing else comes to hold, least of all NaN,
    which no filter could say.
    """
    if len(constraint) <= 2 * most:
        return constraint
    gaps: dict[int, list[tuple[float, int]]] = {}
    for index in range(1, len(constraint) - 1, 2):
        high, low = constraint[index], constraint[index + 1]
        if high[0] == low[0] and len(high) == len(low) == 3:
            gaps.setdefault(high[0], []).append((_width(high, low), index))
    closed: set[int] = set()
    for widths in gaps.values():
        too_many = max(0, len(widths) + 1 - most)
        closed.update(index for _, index in sorted(widths)[:too_many])
    return tuple(
        cut for index, cut in enumerate(constraint) if index not in closed and index - 1 not in closed
    )


def _width(high: Cut, low: Cut) -> float:
    """How wide a gap is, only to choose among gaps: by value, and between texts by how little they share."""
    if isinstance(high[1], str):
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(high[1], low[1], strict=False))
        return -sum(1 for _ in shared)
    return float(low[1]) - float(high[1])
