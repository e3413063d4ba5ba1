"""The subsumption problem: is this box, or this filter, inside the union of those?

Every algorithm of the package answers it with a `Verdict`. «Not covered» is always a safe answer, because a subscription
that is forwarded needlessly only costs traffic. «Covered» must be proved, or be marked as uncertain.

How a verdict was reached (`decided_by`):

    empty              there is nothing to cover, or nothing to cover it with
    pairwise           one of the others contains it (ouksel2006, corollary 1)
    counting           the numbers of defined entries leave room for a witness (ouksel2006, corollary 3)
    mcs                no row is left once those that cannot matter are removed (ouksel2006, algorithm 2)
    rspc               random points (ouksel2006, algorithm 1); a yes is not certain
    rspc capped        the same with fewer points than the accepted error needs
    branch_and_bound   exact search with geometric resolution
    event_search       search for an event on trees, with text decided by automata; a yes by one of the others is `pairwise`
    reference          one of the slow definitions
    negative_space     the space that is not covered yet (jafarpour2008)
    budget             not proved: the budget ran out
    gap                not proved: the part that may be uncovered lies between neighbouring values
    residual           not proved: the part that may be uncovered depends on conditions that are not intervals
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["NOTHING", "BoxVerdict", "Moves", "Net", "Point", "Verdict", "Work"]

WitnessT = TypeVar("WitnessT")
Point = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Work:
    """What an answer cost: rows compared, cells searched, calls of the checker, random points drawn."""

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
    witness : for a no, something that matches the filter and none of the others
    used : for a yes, the others that prove it: by number, or by id if they are the subscriptions of an engine
    decided_by : the rule or algorithm, as listed above
    work : what it cost
    """

    covered: bool | None
    certain: bool
    decided_by: str
    witness: WitnessT | None = None
    used: tuple[Any, ...] = ()
    work: Work = field(default_factory=Work)


BoxVerdict = Verdict[Point]


# --- what must be sent after a set of subscriptions has changed -------------------------------------------------------


class Moves(NamedTuple):
    """Rows to forward and rows to withdraw, in the order in which to send them.

    Make before break: send all of `forward`, then all of `withdraw`, so that no event is missed that a live subscription
    wants.
    """

    forward: tuple[int, ...] = ()
    withdraw: tuple[int, ...] = ()


NOTHING = Moves()


class Net:
    """Several moves combined: a row that is forwarded and withdrawn in the same step is never sent."""

    def __init__(self) -> None:
        self._forward: dict[int, None] = {}
        self._withdraw: dict[int, None] = {}

    def add(self, moves: Moves) -> None:
        """Append some moves."""
        forward, withdraw = self._forward, self._withdraw
        for rows, own, other in ((moves.forward, forward, withdraw), (moves.withdraw, withdraw, forward)):
            for row in rows:
                if row in other:
                    del other[row]
                else:
                    own[row] = None

    def moves(self) -> Moves:
        """The combined moves."""
        return Moves(tuple(self._forward), tuple(self._withdraw))
