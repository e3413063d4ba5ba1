"""How likely a predicate is to be true where others are: independent of them, or as it was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Protocol

from thatch.planning.problem import Problem

__all__ = ["Chances", "Independent", "Paired"]

_UNSEEN = 1e-12  # in place of a probability of 0, in logarithms only


class Chances(Protocol):
    """Conditional selectivities."""

    def after(self, true: Sequence[int], predicate: int) -> float:
        """The probability that a predicate is true where those of `true` are, all of them."""


class Independent:
    """Every predicate has its selectivity, whatever others are that it does not imply: the paper's model."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def after(self, true: Sequence[int], predicate: int) -> float:
        return self._problem.chance(predicate, true)


class Paired:
    """Selectivities of predicates and of some pairs: of all known pairs the one that tells most is used.

    Parameters
    ----------
    pairs : the probability that both are true, by two predicates of which the first has the lower number
    """

    def __init__(self, problem: Problem, pairs: Mapping[tuple[int, int], float]) -> None:
        self._problem = problem
        self._selectivities = problem.selectivities
        self._pairs = pairs

    def after(self, true: Sequence[int], predicate: int) -> float:
        own = self._selectivities[predicate]
        best = self._problem.chance(predicate, true)
        told = abs(log(max(best, _UNSEEN) / max(own, _UNSEEN)))
        for each in true:
            both = self._pairs.get((min(each, predicate), max(each, predicate)))
            if both is None or not self._selectivities[each]:
                continue
            given = min(both / self._selectivities[each], 1.0)
            tells = abs(log(max(given, _UNSEEN) / max(own, _UNSEEN)))
            if tells > told:
                best, told = given, tells
        return best
