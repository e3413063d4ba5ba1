"""Who may be merged with whom: active rows by what they have in common (paper L, section 5.2, and beyond it).

The paper looks for partners among outputs with the same attribute above the same tail of a diagram. Here a **tail** is
what is left of a conjunction without any one of its predicates, or, if some error is allowed, without two: so the order
of attributes does not matter. Rows of one tail are kept in the order of what the tail lacks. As long as none of them
holds another, the one that holds a new one stands just before it, and those that it holds stand just behind.

A tail is written as the numbers of its predicates, which hash and compare much quicker than the predicates themselves.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple, cast

from thatch.model.conjunctions import Conjunction
from thatch.model.lines import Constraint, covers
from thatch.reduction.forwarding.predicates import Numbers

__all__ = ["Pair", "Partners", "Shelved"]

_NEAR = (2, 1)  # rows on each side that are tried, of those that differ in one attribute and in two
_MOST_PAIRED = 8  # attributes of a row that is looked for by all but two of them

Keys = tuple[str, ...]
Sides = tuple[Constraint, ...]
Rest = tuple[tuple[str, Constraint], ...]
Tail = tuple[str | int, ...]  # in which attributes rows differ, then the numbers of what they have in common
Shelved = tuple[Tail, Sides]


class Pair(NamedTuple):
    """Two rows that differ in some attributes only, what they have in common, and in what they differ."""

    keys: Keys
    rest: Rest
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
        self._rows: dict[Tail, list[tuple[Sides, int]]] = {}  # rising
        self._numbers = Numbers()
        self._conjunctions: dict[int, Conjunction] = {}  # of each row that has partners
        self._ones: dict[int, list[Shelved]] = {}  # of each row: where it stands by all but one attribute
        self._paired: set[int] = (
            set()
        )  # rows that stand also by all but two, which is not kept: most leave before
        self._size_of: dict[int, int] = {}
        self._sizes: Counter[int] = Counter()  # how many rows have so many predicates
        self._last: tuple[Conjunction | None, tuple[int, ...], list[Shelved]] = (None, (), [])

    def __len__(self) -> int:
        return len(self._size_of)

    def enter(self, row: int, conjunctions: tuple[Conjunction, ...]) -> int:
        """Know an active row; only one of a single conjunction has partners. How many stand on its fullest tail."""
        self._size_of[row] = size = _size(conjunctions)
        self._sizes[size] += 1
        if len(conjunctions) != 1:
            self._ones[row] = []
            return 1
        (conjunction,) = conjunctions
        self._conjunctions[row] = conjunction
        self._ones[row] = ones = self._all_but_one(conjunction, self._numbers.given(conjunction))
        self._shelve(row, ones)
        return max([len(self._rows[tail]) for tail, _ in ones], default=1)

    def ones(self, row: int) -> list[Shelved]:
        """Where a row stands by all but one of its attributes."""
        return self._ones[row]

    def twos(self, row: int) -> list[Shelved]:
        """Where it stands by all but two: it does so once it is asked for, when nothing better was found for it."""
        conjunction = self._conjunctions.get(row)
        if conjunction is None or not self._pairs or self._size_of[row] > _MOST_PAIRED:
            return []
        shelves = _all_but_two(conjunction, self._numbers.known(conjunction))
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
        """Forget a row, if it is known."""
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
                shelves = shelves + _all_but_two(conjunction, self._numbers.known(conjunction))
            self._numbers.take_back(conjunction)
        for tail, sides in shelves:
            rows = self._rows[tail]
            if len(rows) == 1:
                del self._rows[tail]
            else:
                del rows[bisect_left(rows, (sides, row))]

    def holder(self, conjunctions: tuple[Conjunction, ...]) -> int | None:
        """An active row that holds all that a new one does and differs from it in one attribute, if one stands near."""
        if len(conjunctions) != 1:
            return None
        (conjunction,) = conjunctions
        for tail, sides in self._all_but_one(conjunction, self._numbers.known(conjunction)):
            rows = self._rows.get(tail)
            if rows is not None:
                at = bisect_left(rows, (sides,))
                for other, row in rows[max(at - 1, 0) : at + 1]:
                    if covers(other[0], sides[0]):
                        return row
        return None

    def held(self, row: int) -> list[int]:
        """The rows that a row holds and that differ from it in one attribute, as far as they stand near."""
        found = []
        for tail, sides in self._ones[row]:
            rows = self._rows[tail]
            if len(rows) > 1:
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
        return not self._ones[row] or any(size > own for size in self._sizes)

    def fewest_predicates_first(self, rows: Iterable[int]) -> list[int]:
        """Rows in an order in which what covers others mostly comes before them."""
        return sorted(rows, key=self._size_of.__getitem__)

    def near(self, row: int, shelves: Iterable[Shelved]) -> Iterator[Pair]:
        """Rows that stand near this one, each as often as it does.

        Parameters
        ----------
        shelves : where this one stands, `ones` or `twos` of it
        """
        for tail, sides in shelves:
            rows = self._rows[tail]
            if len(rows) > 1:
                keys, reach = _keys(tail, sides), _NEAR[len(sides) - 1]
                rest = tuple([each for each in self._conjunctions[row].constraints if each[0] not in keys])
                at = bisect_left(rows, (sides, row))
                for other, each in rows[max(at - reach, 0) : at + reach + 1]:
                    if each != row:
                        yield Pair(keys, rest, sides, other, each)

    def beside(self, shelves: Iterable[Shelved]) -> Iterator[tuple[Keys, list[tuple[Sides, int]]]]:
        """All rows that differ from one in the same two attributes, itself among them, for every two."""
        for tail, sides in shelves:
            if len(self._rows[tail]) > 2:
                yield _keys(tail, sides), self._rows[tail]

    def _all_but_one(self, conjunction: Conjunction, numbers: tuple[int, ...]) -> list[Shelved]:
        """Where a row stands; the numbers are of its predicates in their order, then of its residuals."""
        last, known, shelves = self._last
        if last is not conjunction or known != numbers:  # most are looked for, then enter
            shelves = [
                ((key, *numbers[:place], *numbers[place + 1 :]), (constraint,))
                for place, (key, constraint) in enumerate(conjunction.constraints)
            ]
            self._last = (conjunction, numbers, shelves)
        return shelves


def _size(conjunctions: tuple[Conjunction, ...]) -> int:
    return max([len(each.constraints) + len(each.residuals) for each in conjunctions])


def _keys(tail: Tail, sides: Sides) -> Keys:
    """In which attributes the rows of a tail differ."""
    return cast("Keys", tail[: len(sides)])


def _all_but_two(conjunction: Conjunction, numbers: tuple[int, ...]) -> list[Shelved]:
    constraints = conjunction.constraints
    return [
        (
            (one, other, *numbers[:first], *numbers[first + 1 : second], *numbers[second + 1 :]),
            (own, beside),
        )
        for (first, (one, own)), (second, (other, beside)) in combinations(enumerate(constraints), 2)
    ]
