"""The truth values of predicates on many events at once: for each predicate a set of events, as an integer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from thatch.errors import ParameterError
from thatch.model.events import Record
from thatch.model.lines import Constraint, Cut, intervals
from thatch.model.printing import PrintedCondition
from thatch.model.residuals import Residual

__all__ = ["columns_of"]


def columns_of(predicates: Sequence[PrintedCondition], records: Sequence[Record]) -> list[int]:
    """For each predicate the set of events on which it is true, bit e for event e.

    Raises `ParameterError` if an event has lists: there, single predicates do not decide who matches.
    """
    for place, record in enumerate(records):
        if record.choices:
            raise ParameterError("Events with lists are not supported here", where=f"event {place}")
    asked: dict[str, list[tuple[int, Constraint]]] = {}
    for number, predicate in enumerate(predicates):
        for key, constraint in predicate.constraints:
            asked.setdefault(key, []).append((number, constraint))
    found = [(1 << len(records)) - 1] * len(predicates)
    for key, constraints in asked.items():  # one attribute at a time, to bound memory
        line = _Line(key, records)
        for number, constraint in constraints:
            found[number] &= line.inside(constraint)
    for number, predicate in enumerate(predicates):
        if predicate.residual is not None:
            found[number] = _checked(predicate.residual, found[number], records)
    return found


class _Line:
    """The values of events on one line: for each value the set of events with a lower one."""

    def __init__(self, key: str, records: Sequence[Record]) -> None:
        at: dict[Cut, int] = {}
        for number, record in enumerate(records):
            place = record.point(key)
            at[place] = at.get(place, 0) | 1 << number
        self._places = sorted(at)
        self._lower = [0]
        for place in self._places:
            self._lower.append(self._lower[-1] | at[place])

    def inside(self, constraint: Constraint) -> int:
        found = 0
        for low, high in intervals(constraint):
            found |= (
                self._lower[bisect_left(self._places, high)] & ~self._lower[bisect_left(self._places, low)]
            )
        return found


def _checked(check: Residual, some: int, records: Sequence[Record]) -> int:
    found = 0
    while some:
        bit = some & -some
        record = records[bit.bit_length() - 1]
        if check.holds([record.point(key) for key in check.keys]):
            found |= bit
        some ^= bit
    return found
