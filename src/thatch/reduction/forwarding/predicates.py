"""Numbers for the predicates of rows, as long as a row has them."""

from __future__ import annotations

from thatch.model.conjunctions import Conjunction

__all__ = ["Numbers"]

_UNKNOWN = -1  # which no row has


class Numbers:
    """A number for each predicate, and one for each set of residuals; a number that nobody has any more is forgotten."""

    def __init__(self) -> None:
        self._numbers: dict[object, list[int]] = {}  # with how many rows have it
        self._next = 0

    def known(self, conjunction: Conjunction) -> tuple[int, ...]:
        """The numbers of predicates in their order, then of residuals, as far as some row has them."""
        numbers = self._numbers
        return tuple(
            [
                _UNKNOWN if known is None else known[0]
                for known in map(numbers.get, (*conjunction.constraints, conjunction.residuals))
            ]
        )

    def given(self, conjunction: Conjunction) -> tuple[int, ...]:
        """The same for a row that has them from now on."""
        numbers = self._numbers
        given = []
        for each in (*conjunction.constraints, conjunction.residuals):
            known = numbers.get(each)
            if known is None:
                known = numbers[each] = [self._next, 0]
                self._next += 1
            known[1] += 1
            given.append(known[0])
        return tuple(given)

    def take_back(self, conjunction: Conjunction) -> None:
        """Know that a row has them no more."""
        for each in (*conjunction.constraints, conjunction.residuals):
            known = self._numbers[each]
            known[1] -= 1
            if not known[1]:
                del self._numbers[each]
