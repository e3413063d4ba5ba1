"""The messages of brokers and clients. Every message is complete: it has all that its receiver needs to know.

A client's subscription keeps its id through the whole network. Messages are not answered, except that an unsubscription
is acknowledged; the `channel` below makes links between brokers reliable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from thatch.broker.event_frames import EventFrame, event_id, why_malformed
from thatch.model.filters import Filter
from thatch.model.frozen import quick_value

__all__ = [
    "Acknowledge",
    "Advertise",
    "Bucket",
    "BucketRequest",
    "Complete",
    "Digest",
    "Entries",
    "Joined",
    "Linked",
    "Message",
    "Publish",
    "Report",
    "Subscribe",
    "Unadvertise",
    "Unsubscribe",
    "Unsubscribed",
    "message_id",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertise:
    """Events that satisfy this filter may be published on the sender's side."""

    advertisement: str
    filter: Filter
    closed: bool = False  # whether such events carry only attributes that the filter names
    expires: float | None = None  # when it ends by itself, in seconds since 1970; None for never


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """An advertisement ends."""

    advertisement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe:
    """Events that satisfy this filter are wanted on the sender's side."""

    subscription: str
    filter: Filter
    expires: float | None = None
    durable: bool = False  # of a client: whether events are kept for it until it acknowledges them


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A subscription ends; `request` identifies this message in the acknowledgement, and is empty if none is needed."""

    subscription: str
    request: str


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """An unsubscription is done here and everywhere beyond."""

    request: str


@quick_value
class Publish:
    """Events of one publisher."""

    frame: EventFrame


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """A client has all deliveries for its durable subscriptions up to a number."""

    session: str  # of the number, as the delivery told
    through: int


# --- when a link comes up ------------------------------------------------------------------------------------------


# A broker, when it said so, and the other ends of its links, each with when that link began. Times are names of sessions.
Report: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Joined:
    """The first message on a link: when it began, as the sender knows, and the brokers on this side, the sender first."""

    began: str
    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class Linked:
    """News of brokers and their links."""

    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class Complete:
    """Whether the sender forwards all of its side on this link; without this message, it does."""

    subscriptions: bool  # if not, every event must be sent to it, since an unknown subscription may want it
    advertisements: (
        bool  # if not, every subscription must be sent to it, since an unknown publisher may be there
    )


Bucket: TypeAlias = tuple[int, int]  # number of the bucket, hash of what is in it


@dataclass(frozen=True, slots=True)
class Digest:
    """Hashes of what the sender has forwarded on this link, in buckets: the receiver asks for those that differ."""

    subscriptions: tuple[Bucket, ...]
    advertisements: tuple[Bucket, ...]


@dataclass(frozen=True, slots=True)
class BucketRequest:
    """A request for the buckets of a digest that differ from what the sender knows."""

    subscriptions: tuple[int, ...]
    advertisements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """The contents of some buckets: whatever else the receiver knows in them has ended."""

    buckets: BucketRequest
    subscriptions: tuple[Subscribe, ...]
    advertisements: tuple[Advertise, ...]


Message: TypeAlias = (
    Acknowledge
    | Advertise
    | Unadvertise
    | Subscribe
    | Unsubscribe
    | Unsubscribed
    | Publish
    | Joined
    | Linked
    | Complete
    | Digest
    | BucketRequest
    | Entries
)


def message_id(message: Message) -> str:
    """The id of the subscription, the advertisement or the first event in a message, empty if it is about none of them."""
    for name in ("subscription", "advertisement"):
        if hasattr(message, name):
            return str(getattr(message, name))
    if isinstance(message, Publish) and not why_malformed(message.frame):
        return event_id(message.frame.publisher, message.frame.numbers[0])
    return ""
