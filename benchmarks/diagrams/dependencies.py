"""Which predicates on one axis imply which: the paper's table of variable dependencies (li2005, section 4.4).

The table holds `x -> y`, x implies y, only where no other variable lies between them: it is the transitive reduction of
covering, complete and as small as can be. What covers a predicate, or what it covers, is found by following it.

Deviation: the paper adds every dependency of a new variable and then removes each that the others imply, in time that is
quadratic in them (figure 8). Here the nearest variables on both sides are found by following the table, and only what
leads from one side to the other is looked at again. The result is the same: there is only one such table.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable

__all__ = ["DependencyTable", "Side", "SortedChains", "holds_side"]

Side = tuple[int, int]  # low and high


def holds_side(outer: Side, inner: Side) -> bool:
    """Whether a side covers or equals another."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


class DependencyTable:
    """Variables of different sides on one axis, and the dependencies between neighbours.

    Examples
    --------
    >>> table = DependencyTable()
    >>> for variable, low in ((1, 10), (2, 8), (3, 5)):
    ...     table.add(variable, (low, 99))
    >>> sorted(table.covering(1)), table.dependencies
    ([1, 2, 3], [(1, 2), (2, 3)])
    """

    def __init__(self) -> None:
        self._sides: dict[int, Side] = {}
        self._wider: dict[int, set[int]] = {}
        self._narrower: dict[int, set[int]] = {}
        self._widest: set[int] = set()  # what nothing covers
        self._narrowest: set[int] = set()  # what covers nothing

    @property
    def dependencies(self) -> list[tuple[int, int]]:
        """All pairs of the table: the first implies the second."""
        return sorted((each, wider) for each, some in self._wider.items() for wider in some)

    def add(self, variable: int, side: Side) -> None:
        """Know a variable from now on, whose side no other has."""
        above = self._last_of(self._widest, self._narrower, lambda each: holds_side(self._sides[each], side))
        below = self._last_of(self._narrowest, self._wider, lambda each: holds_side(side, self._sides[each]))
        self._sides[variable], self._wider[variable], self._narrower[variable] = side, set(), set()
        for each in below:
            for wider in above & self._wider[each]:
                self._unlink(each, wider)
            self._link(each, variable)
        for wider in above:
            self._link(variable, wider)
        self._note_ends({variable, *above, *below})

    def remove(self, variable: int) -> None:
        """Forget a variable that is known."""
        above, below = self._wider[variable].copy(), self._narrower[variable].copy()
        for wider in above:
            self._unlink(variable, wider)
        for each in below:
            self._unlink(each, variable)
            for wider in above:
                others = (self._sides[other] for other in self._wider[each])
                if not any(holds_side(self._sides[wider], other) for other in others):
                    self._link(each, wider)
        del self._sides[variable], self._wider[variable], self._narrower[variable]
        self._widest.discard(variable)
        self._narrowest.discard(variable)
        self._note_ends({*above, *below})

    def covering(self, variable: int) -> set[int]:
        """The variables that a known one implies, itself among them."""
        return _followed([variable], self._wider)

    def covered(self, variable: int) -> set[int]:
        """The variables that imply a known one, itself among them."""
        return _followed([variable], self._narrower)

    def _last_of(
        self, ends: set[int], onwards: dict[int, set[int]], is_related: Callable[[int], bool]
    ) -> set[int]:
        """From one end of the table, the related variables that lead to no related one."""
        seen = {each for each in ends if is_related(each)}
        waiting, last = list(seen), set()
        while waiting:
            each = waiting.pop()
            following = {other for other in onwards[each] if is_related(other)}
            if not following:
                last.add(each)
            waiting += following - seen
            seen |= following
        return last

    def _link(self, narrower: int, wider: int) -> None:
        self._wider[narrower].add(wider)
        self._narrower[wider].add(narrower)

    def _unlink(self, narrower: int, wider: int) -> None:
        self._wider[narrower].remove(wider)
        self._narrower[wider].remove(narrower)

    def _note_ends(self, variables: Iterable[int]) -> None:
        for each in variables:
            for ends, neighbours in ((self._widest, self._wider), (self._narrowest, self._narrower)):
                if neighbours[each]:
                    ends.discard(each)
                else:
                    ends.add(each)


def _followed(start: list[int], table: dict[int, set[int]]) -> set[int]:
    seen, waiting = set(start), start
    while waiting:
        fresh = table[waiting.pop()] - seen
        seen |= fresh
        waiting += fresh
    return seen


_Link = tuple[Side, int]


class SortedChains:
    """Variables of different sides on one axis.

    Examples
    --------
    >>> chains = SortedChains()
    >>> for variable, side in enumerate([(0, 9), (0, 4), (3, 3), (3, 9)]):
    ...     chains.add(variable, side)
    >>> sorted(chains.covering(2)), sorted(chains.covered(0))
    ([0, 1, 2, 3], [0, 1, 2, 3])
    """

    def __init__(self) -> None:
        self._sides: dict[int, Side] = {}
        self._values: list[tuple[int, int]] = []  # and their variables
        self._chains: list[list[_Link]] = []

    def add(self, variable: int, side: Side) -> None:
        """Know a variable from now on, whose side no other has."""
        self._sides[variable] = side
        if side[0] == side[1]:
            insort(self._values, (side[0], variable))
            return
        for chain in self._chains:
            at = _first_covering(chain, side)
            if at == 0 or holds_side(side, chain[at - 1][0]):
                chain.insert(at, (side, variable))
                return
        self._chains.append([(side, variable)])

    def remove(self, variable: int) -> None:
        """Forget a variable that is known."""
        side = self._sides.pop(variable)
        if side[0] == side[1]:
            self._values.remove((side[0], variable))
            return
        for chain in self._chains:
            at = _first_covering(chain, side)
            if at < len(chain) and chain[at][1] == variable:
                del chain[at]
        self._chains = [chain for chain in self._chains if chain]

    def covering(self, variable: int) -> set[int]:
        """The variables that a known one implies, itself among them."""
        side = self._sides[variable]
        found = {variable}
        for chain in self._chains:
            found.update(each for _, each in chain[_first_covering(chain, side) :])
        return found

    def covered(self, variable: int) -> set[int]:
        """The variables that imply a known one, itself among them."""
        side = self._sides[variable]
        start, end = (bisect_left(self._values, (value, -1)) for value in (side[0], side[1] + 1))
        found = {variable, *(each for _, each in self._values[start:end])}
        for chain in self._chains:
            end = bisect_left(chain, True, key=lambda link: not holds_side(side, link[0]))  # noqa: FBT003 - what the key gives
            found.update(each for _, each in chain[:end])
        return found


def _first_covering(chain: list[_Link], side: Side) -> int:
    """Where in a chain those begin that cover or equal a side."""
    return bisect_left(chain, True, key=lambda link: holds_side(link[0], side))  # noqa: FBT003 - what the key gives
