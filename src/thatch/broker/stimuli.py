"""What happens to a broker. Each stimulus says when it happened: the core has no clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from thatch.broker.messages import Message
from thatch.broker.settings import Routing

__all__ = [
    "ClientConnected",
    "ClientDisconnected",
    "Frame",
    "FrameReceived",
    "LinkDown",
    "LinkUp",
    "MessageReceived",
    "RoutingSwitched",
    "Stimulus",
    "TimerFired",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What travels on a link between brokers: a message with its number, and which messages have arrived.

    Parameters
    ----------
    session : tells one life of the sender's side of the link from the next; a new one begins when it has lost its memory
    number : of the message, counted from 1; 0 for a frame that only acknowledges
    received_session, received : all messages of the receiver's session up to this number have arrived
    message : None in a frame that only acknowledges
    """

    session: str
    number: int
    received_session: str
    received: int
    message: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameReceived:
    """A frame came from a neighbour."""

    now: float
    neighbour: str
    frame: Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """A message came from a client that is connected here."""

    now: float
    client: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConnected:
    """A client is here; what it had subscribed to and advertised is still its own."""

    now: float
    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientDisconnected:
    """A client went away; `for_good` ends its subscriptions and advertisements."""

    now: float
    client: str
    for_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkUp:
    """A link to a neighbour can be used; if it is new, the neighbour joins."""

    now: float
    neighbour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDown:
    """A link cannot be used; `for_good` forgets the neighbour and all that came from it."""

    now: float
    neighbour: str
    for_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerFired:
    """A timer that was set has run out."""

    now: float
    timer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingSwitched:
    """From now on links reduce, and advertisements guide, in another way."""

    now: float
    routing: Routing


Stimulus: TypeAlias = (
    FrameReceived
    | MessageReceived
    | ClientConnected
    | ClientDisconnected
    | LinkUp
    | LinkDown
    | TimerFired
    | RoutingSwitched
)
