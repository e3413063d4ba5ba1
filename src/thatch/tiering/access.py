"""What the subscriptions of a cluster have in common: an equality that at least two have, else their attributes.

Of several equalities the most selective is taken: by what is known of events, else the one that the fewest have. They
are counted with loss, so that a flood of values that never come again takes no memory: when the table is full, those
seen once are dropped (after Manku and Motwani's lossy counting).
"""

from __future__ import annotations

from thatch.model.filters import Filter
from thatch.model.lines import Constraint, first_point, is_single, value_at
from thatch.model.selectivity import Selectivity

__all__ = ["AccessKeys", "wider_keys"]

_LONGEST = 120  # characters of a key; longer ones with the same beginning are one
_ENTRY_BYTES = 104  # of a dict, an entry with a large number as key


class AccessKeys:
    """Chooses the key of the cluster that a filter belongs to.

    Parameters
    ----------
    room : how many equalities are counted at most
    selectivity : what is known of events
    """

    def __init__(self, room: int, selectivity: Selectivity | None = None) -> None:
        self._room = room
        self._selectivity = selectivity
        self._counts: dict[int, int] = {}

    def key(self, filter: Filter) -> str:
        """The key of a filter, whose equalities are counted from now on."""
        held = []
        for key, constraint in _equalities(filter):
            count = self._count(hash((key, constraint)))
            if count >= 2:
                share = (
                    float(count) if self._selectivity is None else self._selectivity.estimate(key, constraint)
                )
                held.append((share, f"{key} = {value_at(first_point(constraint[0]))!r}"))
        if held:
            return min(held)[1][:_LONGEST]
        keys = {key for each in filter.outer_conjunctions for key, _ in each.constraints}
        return ", ".join(sorted(keys))[:_LONGEST]

    def nbytes(self) -> int:
        """Bytes of the counts."""
        return _ENTRY_BYTES * len(self._counts)

    def _count(self, predicate: int) -> int:
        if predicate not in self._counts and len(self._counts) >= self._room:
            self._counts = {each: count for each, count in self._counts.items() if count > 1}
            if len(self._counts) > self._room // 2:  # frequent ones age too
                self._counts = {each: count // 2 for each, count in self._counts.items() if count > 3}
        count = self._counts[predicate] = self._counts.get(predicate, 0) + 1
        return count


def wider_keys(key: str) -> list[str]:
    """The keys that a small cluster may be folded into, narrowest first: any value of its attribute, then anything."""
    name, equals, _ = key.partition(" = ")
    wider = [f"{name} = any", "any"] if equals else ["any"]
    return wider[wider.index(key) + 1 :] if key in wider else wider


def _equalities(filter: Filter) -> list[tuple[str, Constraint]]:
    """The predicates that require one value, and that all conjunctions of the filter have."""
    first, *others = filter.outer_conjunctions
    return [
        (key, constraint)
        for key, constraint in first.constraints
        if len(constraint) == 2
        and constraint[0] >= (1,)
        and is_single(*constraint)
        and all((key, constraint) in each.constraints for each in others)
    ]
