"""Which rows may be merged with which: active rows by what they have in common (li2005, section 5.2, and beyond it).

The paper looks for partners among outputs with the same attribute above the same tail of a diagram. Here a **tail** is
what is left of a conjunction without one of its predicates or, if some error is allowed, without two; so the order of
attributes does not matter. The rows of one tail stand on a **shelf**, sorted by their sides on the attributes that the
tail lacks. As long as none of them holds another, a row that holds a new one stands just before it, and rows that the
new one holds stand just behind it.

A tail is written as the numbers of its predicates, which hash and compare much faster than the predicates.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple, cast

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, covers

__all__ = ["Keys", "Pair", "Partners", "Shelved", "ShelvedSides"]

_NEAR = (2, 1)  # rows on each side that are tried, of those that differ in one attribute and in two
_MOST_PAIRED = 8  # attributes of a row that is also shelved by all but two of them
_UNKNOWN = -1  # the number of a predicate that no row has

Keys = tuple[str, ...]
ShelvedSides = tuple[Constraint, ...]
Rest = tuple[tuple[str, Constraint], ...]
Tail = tuple[str | int, ...]  # the attributes in which rows differ, then the numbers of shared predicates
Shelved = tuple[Tail, ShelvedSides]


class Pair(NamedTuple):
    """Two rows that differ in some attributes only: those attributes, what they share, and their sides."""

    keys: Keys
    rest: Rest
    own: ShelvedSides
    other: ShelvedSides
    row: int  # of the other


class Partners:
    """Active rows, by their tails; with `pairs`, rows may differ in two attributes."""

    def __init__(self, *, pairs: bool) -> None:
        self._pairs = pairs
        self._rows: dict[Tail, list[tuple[ShelvedSides, int]]] = {}  # rising
        self._numbers = _PredicateNumbers()
        self._conjunctions: dict[int, Conjunction] = {}  # of each row that has partners
        self._ones: dict[int, list[Shelved]] = {}  # of each row: its shelves by all but one attribute
        self._paired: set[int] = set()  # rows that also have shelves by all but two
        self._size_of: dict[int, int] = {}
        self._sizes: Counter[int] = Counter()  # how many rows have so many predicates
        self._last: tuple[Conjunction | None, tuple[int, ...], list[Shelved]] = (None, (), [])

    def __len__(self) -> int:
        return len(self._size_of)

    def enter(self, row: int, filter: Filter) -> int:
        """Add an active row; returns how many rows its fullest shelf has. Only a single conjunction has partners."""
        size = max([len(each.constraints) + len(each.residuals) for each in filter.outer_conjunctions])
        self._size_of[row] = size
        self._sizes[size] += 1
        conjunction = _only_conjunction(filter)
        if conjunction is None:
            self._ones[row] = []
            return 1
        self._conjunctions[row] = conjunction
        self._ones[row] = ones = self._all_but_one(conjunction, self._numbers.acquire(conjunction))
        self._shelve(row, ones)
        return max([len(self._rows[tail]) for tail, _ in ones], default=1)

    def ones(self, row: int) -> list[Shelved]:
        """The shelves of a row by all but one of its attributes."""
        return self._ones[row]

    def twos(self, row: int) -> list[Shelved]:
        """Its shelves by all but two. It is put there on the first call, when no better partner was found."""
        conjunction = self._conjunctions.get(row)
        if conjunction is None or not self._pairs or self._size_of[row] > _MOST_PAIRED:
            return []
        shelves = _all_but_two(conjunction, self._numbers.look_up(conjunction))
        if row not in self._paired:
            self._paired.add(row)
            self._shelve(row, shelves)
        return shelves

    def _shelve(self, row: int, shelves: list[Shelved]) -> None:
        for tail, sides in shelves:
            known = self._rows.get(tail)
            if known is None:
                self._rows[tail] = [(sides, row)]
            else:
                insort(known, (sides, row))

    def leave(self, row: int) -> None:
        """Remove a row, if it is here."""
        size = self._size_of.pop(row, None)
        if size is None:
            return
        self._sizes[size] -= 1
        if not self._sizes[size]:
            del self._sizes[size]
        shelves = self._ones.pop(row)
        conjunction = self._conjunctions.pop(row, None)
        if conjunction is not None:
            if row in self._paired:
                self._paired.remove(row)
                shelves = shelves + _all_but_two(conjunction, self._numbers.look_up(conjunction))
            self._numbers.release(conjunction)
        for tail, sides in shelves:
            rows = self._rows[tail]
            if len(rows) == 1:
                del self._rows[tail]
            else:
                del rows[bisect_left(rows, (sides, row))]

    def holder(self, filter: Filter) -> int | None:
        """An active row that contains a new one and differs from it in one attribute, if one stands near."""
        conjunction = _only_conjunction(filter)
        if conjunction is None:
            return None
        for tail, sides in self._all_but_one(conjunction, self._numbers.look_up(conjunction)):
            rows = self._rows.get(tail)
            if rows is not None:
                at = bisect_left(rows, (sides,))
                for other, row in rows[max(at - 1, 0) : at + 1]:
                    if covers(other[0], sides[0]):
                        return row
        return None

    def find_held(self, row: int) -> list[int]:
        """The rows that a row contains and that differ from it in one attribute, as far as they stand near."""
        found = []
        for tail, sides in self._ones[row]:
            rows = self._rows[tail]
            if len(rows) > 1:
                at = bisect_left(rows, (sides, row))
                for others in (range(at - 1, -1, -1), range(at + 1, len(rows))):
                    for other in others:
                        if not covers(sides[0], rows[other][0][0]):
                            break
                        found.append(rows[other][1])
        return found

    def may_hold_others(self, row: int) -> bool:
        """Whether rows with more predicates may lie in this one."""
        own = self._size_of[row]
        return not self._ones[row] or any(size > own for size in self._sizes)

    def fewest_predicates_first(self, rows: Iterable[int]) -> list[int]:
        """Sort rows so that those that cover others mostly come first."""
        return sorted(rows, key=self._size_of.__getitem__)

    def near(self, row: int, shelves: Iterable[Shelved]) -> Iterator[Pair]:
        """Rows that stand near this one on some of its `ones` or `twos`, once for each shelf where they do."""
        for tail, sides in shelves:
            rows = self._rows[tail]
            if len(rows) > 1:
                keys, reach = _keys(tail, sides), _NEAR[len(sides) - 1]
                rest = tuple([each for each in self._conjunctions[row].constraints if each[0] not in keys])
                at = bisect_left(rows, (sides, row))
                for other, each in rows[max(at - reach, 0) : at + reach + 1]:
                    if each != row:
                        yield Pair(keys, rest, sides, other, each)

    def beside(self, shelves: Iterable[Shelved]) -> Iterator[tuple[Keys, list[tuple[ShelvedSides, int]]]]:
        """For every two attributes, the shelf of all rows that differ in these, if it has more than two rows."""
        for tail, sides in shelves:
            if len(self._rows[tail]) > 2:
                yield _keys(tail, sides), self._rows[tail]

    def _all_but_one(self, conjunction: Conjunction, numbers: tuple[int, ...]) -> list[Shelved]:
        """The shelves of a row; the numbers are those of its predicates in their order, then of its residuals."""
        last, known, shelves = self._last
        if last is not conjunction or known != numbers:  # most rows are looked up, then entered
            shelves = [
                ((key, *numbers[:index], *numbers[index + 1 :]), (constraint,))
                for index, (key, constraint) in enumerate(conjunction.constraints)
            ]
            self._last = (conjunction, numbers, shelves)
        return shelves


def _only_conjunction(filter: Filter) -> Conjunction | None:
    return filter.conjunctions[0] if filter.has_conjunctions and len(filter.conjunctions) == 1 else None


def _keys(tail: Tail, sides: ShelvedSides) -> Keys:
    """The attributes in which the rows of a tail differ."""
    return cast("Keys", tail[: len(sides)])


def _all_but_two(conjunction: Conjunction, numbers: tuple[int, ...]) -> list[Shelved]:
    constraints = conjunction.constraints
    return [
        ((one, other, *numbers[:first], *numbers[first + 1 : second], *numbers[second + 1 :]), (own, beside))
        for (first, (one, own)), (second, (other, beside)) in combinations(enumerate(constraints), 2)
    ]


class _PredicateNumbers:
    """A number for each predicate and each set of residuals that some row has."""

    def __init__(self) -> None:
        self._numbers: dict[object, list[int]] = {}  # the number, and how many rows have it
        self._next = 0

    def look_up(self, conjunction: Conjunction) -> tuple[int, ...]:
        """The numbers of predicates in their order, then of residuals; -1 for those that no row has."""
        numbers = self._numbers
        return tuple(
            [
                _UNKNOWN if known is None else known[0]
                for known in map(numbers.get, (*conjunction.constraints, conjunction.residuals))
            ]
        )

    def acquire(self, conjunction: Conjunction) -> tuple[int, ...]:
        """The same for a row that has them from now on."""
        numbers = self._numbers
        acquired = []
        for each in (*conjunction.constraints, conjunction.residuals):
            known = numbers.get(each)
            if known is None:
                known = numbers[each] = [self._next, 0]
                self._next += 1
            known[1] += 1
            acquired.append(known[0])
        return tuple(acquired)

    def release(self, conjunction: Conjunction) -> None:
        """Count one row less for each; a number that no row has is forgotten."""
        for each in (*conjunction.constraints, conjunction.residuals):
            known = self._numbers[each]
            known[1] -= 1
            if not known[1]:
                del self._numbers[each]
