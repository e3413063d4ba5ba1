"""What must be sent to a neighbour after a set of subscriptions has changed."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NOTHING", "Moves", "Net"]


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
        for row in moves.forward:
            if row in self._withdraw:
                del self._withdraw[row]
            else:
                self._forward[row] = None
        for row in moves.withdraw:
            if row in self._forward:
                del self._forward[row]
            else:
                self._withdraw[row] = None

    def moves(self) -> Moves:
        """The combined moves."""
        return Moves(tuple(self._forward), tuple(self._withdraw))
