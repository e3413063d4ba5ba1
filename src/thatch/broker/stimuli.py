"""What can happen to a broker."""

from __future__ import annotations

from dataclasses import dataclass

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
    """What travels on a link between brokers: a message with its number, and an acknowledgement."""

    session: str  # of the sender; it begins a new one when it has lost its memory
    number: int  # of the message, counted from 1; 0 for a frame that only acknowledges
    received_session: str  # a session of the receiver,
    received: int  # of which all messages up to this number have arrived
    message: Message | None  # None in a frame that only acknowledges


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulus:
    """Something that happened, and when: the core has no clock."""

    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameReceived(Stimulus):
    """A frame came from a neighbour."""

    neighbour: str
    frame: Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived(Stimulus):
    """A message came from a client that is connected here."""

    client: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConnected(Stimulus):
    """A client is connected; it still has its earlier subscriptions and advertisements."""

    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientDisconnected(Stimulus):
    """A client has disconnected; `for_good` ends its subscriptions and advertisements."""

    client: str
    for_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkUp(Stimulus):
    """A link to a neighbour can be used; if it is new, the neighbour joins."""

    neighbour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDown(Stimulus):
    """A link cannot be used; `for_good` forgets the neighbour and all that came from it."""

    neighbour: str
    for_good: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerFired(Stimulus):
    """A timer that was set has expired."""

    timer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingSwitched(Stimulus):
    """The broker is to route in another way from now on."""

    routing: Routing
