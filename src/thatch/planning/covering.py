"""Weaker predicates: `x > 10` implies `x > 5`, so where `x > 5` is false, members with either are false.

A predicate that covers others is thus common to more members than contain it (commonality, section 2.1; «the event has
attribute A» is the weakest case), and a plan may test it first for all of them. Many predicates may cover one; of each
halving of selectivity the one that rejects most members is kept, and plans choose among these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import frexp

import numpy as np
import numpy.typing as npt

from thatch.model.lines import Constraint, Cut
from thatch.model.printing import PrintedCondition

__all__ = ["implied_predicates"]

_MOST_WEAKER = 2_000  # predicates of one attribute that are tried as weaker ones: those in most members
_LEVELS = 10  # halvings of selectivity


def implied_predicates(
    predicates: Sequence[PrintedCondition], selectivities: Sequence[float], uses: Mapping[int, int]
) -> tuple[tuple[int, ...], ...]:
    """For each predicate the numbers of some that it implies, from the rarest to the most frequent.

    Parameters
    ----------
    selectivities : the probability of each; predicates that are always true are left out
    uses : how many members contain each, by number
    """
    found: list[tuple[int, ...]] = [()] * len(predicates)
    for numbers, constraints in _by_attribute(predicates).values():
        if len(numbers) < 2:
            continue
        weaker = [at for at, number in enumerate(numbers) if _is_plain(predicates[number])]
        weaker = [at for at in weaker if 0.0 < selectivities[numbers[at]] < 1.0]
        weaker.sort(key=lambda at: -uses.get(numbers[at], 0))
        table = _RankedPredicates(
            constraints, [selectivities[each] for each in numbers], [uses.get(each, 0) for each in numbers]
        )
        for at, chosen in enumerate(table.choose(sorted(weaker[:_MOST_WEAKER]))):
            found[numbers[at]] += tuple(numbers[each] for each in chosen)
    return tuple(tuple(sorted(set(each), key=lambda number: selectivities[number])) for each in found)


def _by_attribute(predicates: Sequence[PrintedCondition]) -> dict[str, tuple[list[int], list[Constraint]]]:
    found: dict[str, tuple[list[int], list[Constraint]]] = {}
    for number, predicate in enumerate(predicates):
        for key, constraint in predicate.constraints:
            numbers, constraints = found.setdefault(key, ([], []))
            numbers.append(number)
            constraints.append(constraint)
    return found


def _is_plain(predicate: PrintedCondition) -> bool:
    """Whether a predicate is a single interval on one attribute."""
    constraints = predicate.constraints
    return len(constraints) == 1 and predicate.residual is None and len(constraints[0][1]) == 2


class _RankedPredicates:
    """The predicates of one attribute by the ranks of their ends among all cuts; a union counts as its hull."""

    def __init__(
        self, constraints: Sequence[Constraint], selectivities: Sequence[float], uses: Sequence[int]
    ) -> None:
        cuts: set[Cut] = {cut for each in constraints for cut in (each[0], each[-1])}
        rank = {cut: place for place, cut in enumerate(sorted(cuts))}
        self._low = np.array([rank[each[0]] for each in constraints])
        self._high = np.array([rank[each[-1]] for each in constraints])
        self._selectivities = np.array(selectivities)
        self._uses = np.array(uses, np.float64)

    def choose(self, weaker: Sequence[int]) -> list[list[int]]:
        """For each predicate the weaker ones that reject most members, at most one per halving of selectivity."""
        found: list[list[int]] = [[] for _ in self._low]
        levels: dict[int, list[int]] = {}
        for each in weaker:
            levels.setdefault(min(1 - frexp(self._selectivities[each])[1], _LEVELS), []).append(each)
        for level in levels.values():
            some = np.array(level)
            best, is_covered = self._best(some)
            for at in np.flatnonzero(is_covered).tolist():
                found[at].append(int(best[at]))
        return found

    def _best(self, some: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """For each predicate the best of some that cover it, and whether there is one."""
        inside = (self._low[some][:, None] <= self._low) & (self._high[some][:, None] >= self._high)
        inside[np.arange(len(some)), some] = False
        covered = np.array([self._uses[row].sum() for row in inside])
        order = np.argsort(-covered * (1.0 - self._selectivities[some]), kind="stable")
        inside = inside[order]
        return some[order][inside.argmax(axis=0)], np.asarray(inside.any(axis=0))
