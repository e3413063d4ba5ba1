"""The subsumption problem: is this box, or this filter, inside the union of those?

Every algorithm of the room answers it with a `Verdict`. «Not covered» is always a safe answer, since a subscription
that is forwarded in vain costs traffic only; «covered» must be proved, or be marked as uncertain.

How a verdict was reached, `decided_by`:

    empty              there is nothing to cover, or nothing to cover it with
    pairwise           one of the others contains it (paper 000, corollary 1)
    counting           the numbers of defined entries leave room for a witness (paper 000, corollary 3)
    mcs                nothing is left after rows that cannot matter were removed (paper 000, algorithm 2)
    rspc               random points (paper 000, algorithm 1); a yes is not certain
    rspc capped        the same with fewer points than the error asked for needs
    branch_and_bound   exact search with geometric resolution
    reference          one of the slow definitions
    negative_space     by the space that is not covered yet (paper 001)
    budget             the work allowed was not enough: not proved
    gap                all that may be uncovered lies between neighbouring values: not proved
    residual           all that may be uncovered depends on conditions that are no intervals: not proved
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["BoxVerdict", "Point", "Verdict", "Work"]

WitnessT = TypeVar("WitnessT")
Point = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Work:
    """What an answer cost. `rows` were looked at, of `nodes` cells, in `rounds` of asking, with `trials` random points."""

    rows: int = 0
    nodes: int = 0
    rounds: int = 0
    trials: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.rows + other.rows,
            self.nodes + other.nodes,
            self.rounds + other.rounds,
            self.trials + other.trials,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Verdict(Generic[WitnessT]):
    """Whether something is covered, and why.

    Parameters
    ----------
    covered : True, False, or None for «not proved»
    certain : True for an exact yes and for every no; False for a probable yes and for None
    witness : when False, what matches the filter and none of the others
    used : when True, the others that prove it, by number, or by id where they are the subscriptions of an engine
    decided_by : the rule or the algorithm, as listed above
    work : what it cost
    """

    covered: bool | None
    certain: bool
    decided_by: str
    witness: WitnessT | None = None
    used: tuple[Any, ...] = ()
    work: Work = field(default_factory=Work)


BoxVerdict = Verdict[Point]
