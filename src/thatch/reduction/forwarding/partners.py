"""Who may be merged with whom: active rows by what they have in common (paper L, section 5.2, and beyond it).

The paper looks for partners among outputs with the same attribute above the same tail of a diagram. Here a **tail** is
what is left of a conjunction without any one of its predicates, or, if some error is allowed, without two: so the order
of attributes does not matter. Rows of one tail are kept in the order of what the tail lacks. As long as none of them
holds another, the one that holds a new one stands just before it, and those that it holds stand just behind.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from typing import NamedTuple

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import Constraint, covers
from thatch.model.residuals import Residual

__all__ = ["Pair", "Partners"]

_NEAR = 2  # rows on each side that are tried
_MOST_PAIRED = 8  # attributes of a row that is looked for by all but two of them

Sides = tuple[Constraint, ...]


class _Tail(NamedTuple):
    """What rows that may be merged have in common, and the attributes in which they differ."""

    keys: tuple[str, ...]
    rest: tuple[tuple[str, Constraint], ...]
    residuals: tuple[Residual, ...]


class Pair(NamedTuple):
    """Two rows that differ in some attributes only, and in what."""

    keys: tuple[str, ...]
    own: Sides
    other: Sides
    row: int  # of the other


class Partners:
    """Active rows, by their tails.

    Parameters
    ----------
    pairs : whether rows may differ in two attributes
    """

    def __init__(self, *, pairs: bool) -> None:
        self._pairs = pairs
        self._rows: dict[_Tail, list[tuple[Sides, int]]] = {}  # rising
        self._tails: dict[int, tuple[tuple[_Tail, Sides], ...]] = {}
        self._sizes: Counter[int] = Counter()  # how many rows have so many predicates
        self._size_of: dict[int, int] = {}

    def enter(self, row: int, conjunctions: tuple[Conjunction, ...]) -> None:
        """Know an active row; only one of a single conjunction has partners."""
        self._size_of[row] = size = max(_size(each) for each in conjunctions)
        self._sizes[size] += 1
        tails: list[tuple[_Tail, Sides]] = []
        if len(conjunctions) == 1:
            tails += _tails(conjunctions[0], 1)
            if self._pairs and size <= _MOST_PAIRED:
                tails += _tails(conjunctions[0], 2)
        self._tails[row] = tuple(tails)
        for tail, sides in tails:
            insort(self._rows.setdefault(tail, []), (sides, row))

    def leave(self, row: int) -> None:
        """Forget a row, if it is known."""
        size = self._size_of.pop(row, None)
        if size is None:
            return
        self._sizes[size] -= 1
        if not self._sizes[size]:
            del self._sizes[size]
        for tail, sides in self._tails.pop(row):
            rows = self._rows[tail]
            del rows[bisect_left(rows, (sides, row))]
            if not rows:
                del self._rows[tail]

    def holder(self, conjunctions: tuple[Conjunction, ...]) -> int | None:
        """An active row that holds all that a new one does and differs from it in one attribute, if one stands near."""
        if len(conjunctions) != 1:
            return None
        for tail, sides in _tails(conjunctions[0], 1):
            rows = self._rows.get(tail, ())
            if rows:
                at = bisect_left(rows, (sides,))
                for other, row in rows[max(at - 1, 0) : at + 1]:
                    if covers(other[0], sides[0]):
                        return row
        return None

    def held(self, row: int) -> list[int]:
        """The rows that a row holds and that differ from it in one attribute, as far as they stand near."""
        found = []
        for tail, sides in self._tails[row]:
            if len(sides) == 1:
                rows = self._rows[tail]
                at = bisect_left(rows, (sides, row))
                for places in (range(at - 1, -1, -1), range(at + 1, len(rows))):
                    for place in places:
                        if not covers(sides[0], rows[place][0][0]):
                            break
                        found.append(rows[place][1])
        return found

    def may_hold_others(self, row: int) -> bool:
        """Whether rows may lie in this one that have more predicates than it."""
        own = self._size_of[row]
        return not self._tails[row] or any(size > own for size in self._sizes)

    def near(self, row: int, attributes: int) -> Iterator[Pair]:
        """Rows that differ from this one in so many attributes and stand near, each as often as it does."""
        for tail, sides in self._tails[row]:
            if len(sides) == attributes:
                rows = self._rows[tail]
                if len(rows) > 1:
                    at = bisect_left(rows, (sides, row))
                    for other, each in islice(rows, max(at - _NEAR, 0), at + _NEAR + 1):
                        if each != row:
                            yield Pair(tail.keys, sides, other, each)


def _size(conjunction: Conjunction) -> int:
    return len(conjunction.constraints) + len(conjunction.residuals)


def _tails(conjunction: Conjunction, attributes: int) -> Iterator[tuple[_Tail, Sides]]:
    """What a conjunction has in common with those that differ in so many attributes, and what it has by itself."""
    constraints, residuals = conjunction.constraints, conjunction.residuals
    if attributes == 1:
        for number, (key, constraint) in enumerate(constraints):
            rest = constraints[:number] + constraints[number + 1 :]
            yield _Tail((key,), rest, residuals), (constraint,)
        return
    for chosen in combinations(constraints, attributes):
        rest = tuple(each for each in constraints if each not in chosen)
        yield _Tail(tuple(key for key, _ in chosen), rest, residuals), tuple(side for _, side in chosen)
