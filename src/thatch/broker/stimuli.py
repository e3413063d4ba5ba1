"""What can happen to a broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thatch.broker.messages import Message
from thatch.broker.settings import Routing
from thatch.errors import ParameterError, shown
from thatch.model.frozen import quick_value

__all__ = [
    "ClientConnected",
    "ClientDisconnected",
    "LinkDown",
    "LinkUp",
    "MessageReceived",
    "Packet",
    "PacketReceived",
    "RoutingSwitched",
    "Stimulus",
    "TimerFired",
    "check_stimulus",
]


_LATEST = 1e300  # beyond any time


@quick_value
class Packet:
    """What travels on a link between brokers: a message with its number, and an acknowledgement."""

    session: str  # of the sender; it begins a new one when it has lost its memory
    number: int  # of the message, counted from 1; 0 for a packet that only acknowledges
    received_session: str  # a session of the receiver,
    received: int  # of which all messages up to this number have arrived
    message: Message | None  # None in a packet that only acknowledges


@quick_value
class Stimulus:
    """Something that happened, and when: the core has no clock."""

    now: float


@quick_value
class PacketReceived(Stimulus):
    """A packet came from a neighbour."""

    neighbour: str
    packet: Packet


@quick_value
class MessageReceived(Stimulus):
    """A message came from a client that is connected here."""

    client: str
    message: Message


@quick_value
class ClientConnected(Stimulus):
    """A client is connected; it still has its earlier subscriptions and advertisements."""

    client: str


@quick_value
class ClientDisconnected(Stimulus):
    """A client has disconnected; `for_good` ends its subscriptions and advertisements."""

    client: str
    for_good: bool = False


@quick_value
class LinkUp(Stimulus):
    """A link to a neighbour can be used; if it is new, the neighbour joins."""

    neighbour: str


@quick_value
class LinkDown(Stimulus):
    """A link cannot be used; `for_good` forgets the neighbour and all that came from it."""

    neighbour: str
    for_good: bool = False


@quick_value
class TimerFired(Stimulus):
    """A timer that was set has expired."""

    timer: str


@quick_value
class RoutingSwitched(Stimulus):
    """The broker is to route in another way from now on."""

    routing: Routing


_NAMES: Mapping[type, str] = {
    PacketReceived: "neighbour",
    LinkUp: "neighbour",
    LinkDown: "neighbour",
    MessageReceived: "client",
    ClientConnected: "client",
    ClientDisconnected: "client",
    TimerFired: "timer",
}


def check_stimulus(stimulus: Any) -> None:
    """Refuse a mistake of the driver; what others sent is not looked at.

    Raises
    ------
    TypeError
        If it is no stimulus.
    ParameterError
        If its time, name, flag or routing is none.
    """
    if not isinstance(stimulus, Stimulus):
        raise TypeError(f"Expected a stimulus, got {shown(stimulus)}")
    now = stimulus.now
    if isinstance(now, bool) or not isinstance(now, (int, float)) or not -_LATEST < now < _LATEST:
        raise ParameterError("a time in seconds", shown(now), "now")
    where = _NAMES.get(type(stimulus))
    if where is not None:
        name = getattr(stimulus, where)
        if not isinstance(name, str) or not name:
            raise ParameterError("a name that is text and not empty", shown(name), where)
    if isinstance(stimulus, (LinkDown, ClientDisconnected)) and not isinstance(stimulus.for_good, bool):
        raise ParameterError("true or false", shown(stimulus.for_good), "for_good")
    if isinstance(stimulus, RoutingSwitched) and not isinstance(stimulus.routing, Routing):
        raise ParameterError("a routing", shown(stimulus.routing), "routing")
