"""Subscribers that are to be split among branches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.problem import Problem
from thatch.placement.rows import Ints
from thatch.placement.slp.branches import Branches
from thatch.placement.types import CandidateSets, Types

__all__ = ["Part"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Part:
    """Some or all subscribers of a problem, and what they are split among.

    Parameters
    ----------
    members : the subscribers
    types : theirs: `types.of` has a type for each of them, and candidates are leaves below the branches
    capacities : of all leaves
    """

    problem: Problem
    members: Ints
    types: Types
    branches: Branches
    capacities: Ints

    @classmethod
    def of(
        cls, problem: Problem, types: Types, branches: Branches, capacities: Ints, members: Ints | None = None
    ) -> Part:
        """These members, by default everybody, of the types of the whole problem."""
        if members is None:
            members = np.arange(problem.subscribers)
        chosen, number = np.unique(types.of[members], return_inverse=True)
        local = Types(
            interest=types.interest[chosen],
            candidates=types.candidates[chosen],
            count=np.bincount(number, minlength=len(chosen)),
            of=number,
            sets=CandidateSets(matrix=types.sets.matrix & (branches.of_leaf >= 0), of=types.sets.of[members]),
        )
        return cls(problem=problem, members=members, types=local, branches=branches, capacities=capacities)
