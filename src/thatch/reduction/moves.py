"""What a change of a set of subscriptions asks to be sent."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NOTHING", "Moves", "Net"]


class Moves(NamedTuple):
    """Which rows to make known elsewhere and which to take back, in the order in which they are to be sent.

    Make before break: all of `forward` first, then all of `withdraw`, so that at no time an event is missed that some
    live subscription wants.
    """

    forward: tuple[int, ...] = ()
    withdraw: tuple[int, ...] = ()


NOTHING = Moves()


class Net:
    """Several moves as one: what becomes known and is taken back in the same step is never sent."""

    def __init__(self) -> None:
        self._forward: dict[int, None] = {}
        self._withdraw: dict[int, None] = {}

    def add(self, moves: Moves) -> None:
        """Let some moves follow those before."""
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
        """What is left of all of them."""
        return Moves(tuple(self._forward), tuple(self._withdraw))
