"""What a broker asks its driver to do, in this order.

The effects of one stimulus are one step. Its `Persist` effects must be on disk, all of them, before anything of that
step is sent; a step of which nothing is on disk has not happened.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from thatch.broker.event_frames import EventFrame, RefusedEvent
from thatch.broker.messages import Message, Publish, message_id
from thatch.broker.stimuli import Packet
from thatch.errors import EventError, SubscriptionError, ThatchError
from thatch.model.frozen import quick_value

__all__ = [
    "CancelTimer",
    "CloseLink",
    "Confirm",
    "DeadLetter",
    "Deliver",
    "Effect",
    "Ignored",
    "NeighbourFailed",
    "Persist",
    "Published",
    "Refuse",
    "SendPacket",
    "SetTimer",
]


@quick_value
class _Effect:
    """The cause of an effect is the number of the stimulus that led to it."""

    cause: int


@quick_value
class SendPacket(_Effect):
    """Send a packet to a neighbour; it may be lost, duplicated or late, but packets of one link keep their order."""

    neighbour: str
    packet: Packet


@quick_value
class Deliver(_Effect):
    """Give events to a client, each with the ids of its subscriptions that want it."""

    client: str
    frame: EventFrame
    subscriptions: tuple[tuple[str, ...], ...]  # of each event
    session: str = ""  # of the number
    number: int = 0  # to be acknowledged, if it is for durable subscriptions; else 0


@quick_value
class DeadLetter(_Effect):
    """Events for durable subscriptions of a client that it will not get: nothing is kept of them."""

    client: str
    frame: EventFrame
    subscriptions: tuple[tuple[str, ...], ...]  # of each event
    reason: str


@quick_value
class Confirm(_Effect):
    """Tell a client that its unsubscription is done everywhere."""

    client: str
    request: str


@quick_value
class Published(_Effect):
    """Tell a client up to which number its events have been taken, and which of the last ones were refused."""

    client: str
    through: int
    refused: tuple[RefusedEvent, ...] = ()


@quick_value
class Refuse(_Effect):
    """Tell a client that its message was refused, and why; nothing has changed."""

    client: str
    about: str  # the id of the subscription or advertisement, or of the first event of a frame
    reason: str

    def error_for(self, message: Message) -> ThatchError | None:
        """The error for the client that sent a message, None if this refuses another one."""
        if self.about != message_id(message):
            return None
        kind = EventError if isinstance(message, Publish) else SubscriptionError
        return kind(
            f"The broker refused to {type(message).__name__.lower()}: {self.reason}", where=self.about
        )


@quick_value
class Ignored(_Effect):
    """Something that came could not be used: it is counted by reason, and nothing has changed."""

    sender: str
    reason: str
    count: int = 1  # how many, such as events of one frame


@quick_value
class Persist(_Effect):
    """Keep a value under a key, or delete it where the value is None.

    Keys are tuples of texts; values are messages, numbers, texts and tuples of these, so that a driver can write them.
    """

    key: tuple[str, ...]
    value: Any


@quick_value
class SetTimer(_Effect):
    """Call back at a time, unless the timer is set again or cancelled before."""

    timer: str
    at: float


@quick_value
class CancelTimer(_Effect):
    """Do not call back."""

    timer: str


@quick_value
class NeighbourFailed(_Effect):
    """A neighbour has acknowledged nothing for too long; messages for it are kept until its link is up again."""

    neighbour: str


@quick_value
class CloseLink(_Effect):
    """Close a link that must not exist: the neighbour is forgotten here already."""

    neighbour: str
    reason: str


Effect: TypeAlias = (
    SendPacket
    | Deliver
    | DeadLetter
    | Confirm
    | Published
    | Refuse
    | Ignored
    | Persist
    | SetTimer
    | CancelTimer
    | NeighbourFailed
    | CloseLink
)
