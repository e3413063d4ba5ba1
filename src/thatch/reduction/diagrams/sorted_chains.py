"""Which predicates on one axis imply which, without a table: each covers the one before it in a chain.

Sides that hold each other stand in one chain, from the narrowest to the widest: all `<=` make one, all `>=` another, and
ranges as few as a first fit finds. What covers a side is the end of every chain, what it covers the beginning, both found
by bisection. Single values, which cover nothing, stand in their order.
"""

from __future__ import annotations

from bisect import bisect_left, insort

from thatch.reduction.diagrams.dependencies import Side, holds_side

__all__ = ["SortedChains"]

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
            end = bisect_left(chain, True, key=lambda link: not holds_side(side, link[0]))  # noqa: FBT003
            found.update(each for _, each in chain[:end])
        return found


def _first_covering(chain: list[_Link], side: Side) -> int:
    """Where in a chain those begin that cover or equal a side."""
    return bisect_left(chain, True, key=lambda link: holds_side(link[0], side))  # noqa: FBT003
