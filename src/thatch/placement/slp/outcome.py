"""What SLP answers, and the load that it plans for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.flow import least_factor
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.types import CandidateSets

__all__ = ["Outcome", "load_target"]

_ABOVE = 1.02  # where β cannot be met: how far above the least load factor


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The answer, and the value of the linear program: None where none was solved."""

    served_by: Ints
    filters: tuple[Floats, ...]
    fractional: float | None


def load_target(problem: Problem, sets: CandidateSets) -> float:
    """The load factor to plan for: β, or a little above the least there is, at most β_max if that can be met."""
    supplies = np.bincount(sets.of, minlength=len(sets.matrix))
    found = least_factor(problem, supplies, sets.matrix, problem.beta)
    if found is None or found[0] <= problem.beta:
        return problem.beta
    return max(found[0], min(problem.beta_max, _ABOVE * found[0]))
