"""What a change of a set of subscriptions asks to be sent."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NOTHING", "Moves"]


class Moves(NamedTuple):
    """Which rows to make known elsewhere and which to take back, in the order in which they are to be sent.

    Make before break: all of `forward` first, then all of `withdraw`, so that at no time an event is missed that some
    live subscription wants.
    """

    forward: tuple[int, ...] = ()
    withdraw: tuple[int, ...] = ()


NOTHING = Moves()
