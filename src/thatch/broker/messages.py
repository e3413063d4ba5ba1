"""What brokers and clients say to each other. Every message is complete: it says all that its receiver needs to know.

Ids are given by whoever asks first: a client's subscription keeps its id through the whole network. A message that
changes routing is answered by nothing but, for an unsubscription, an acknowledgement; links between brokers are made
reliable below (see `channel`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from thatch.model.filters import Filter

__all__ = [
    "Advertise",
    "Bucket",
    "Complete",
    "Digest",
    "Entries",
    "Joined",
    "Left",
    "Message",
    "Publish",
    "Subscribe",
    "Unadvertise",
    "Unsubscribe",
    "Unsubscribed",
    "Wanted",
    "id_in",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertise:
    """Events that satisfy this filter may be published from where this comes.

    Parameters
    ----------
    advertisement : its id
    closed : whether such events carry no attributes but those that the filter names
    expires : when it ends by itself, in seconds since 1970; None for never
    """

    advertisement: str
    filter: Filter
    closed: bool = False
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """An advertisement ends."""

    advertisement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe:
    """Events that satisfy this filter are wanted where this comes from."""

    subscription: str
    filter: Filter
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A subscription ends; `request` names this message for the acknowledgement, and is empty if none is needed."""

    subscription: str
    request: str


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """An unsubscription is done here and wherever it had to go from here."""

    request: str


@dataclass(frozen=True, slots=True)
class Publish:
    """An event; `publication` is its id, unique in the network."""

    publication: str
    event: Mapping[str, Any]


# --- when a link comes up ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Joined:
    """The brokers on this side of a link, each with the neighbour through which it is reached from the sender.

    `routes` has a pair (broker, the one before it on the way) for each, the sender first with itself: so a path can be
    told when two sides turn out to be connected already.
    """

    routes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Brokers on this side of a link that are reached no more."""

    brokers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Complete:
    """Whether what the sender forwards on this link is all there is to know of its side; so it is until told otherwise.

    Parameters
    ----------
    subscriptions : if not, every event must be sent this way, since somebody unknown may want it
    advertisements : if not, every subscription must be sent this way, since an event may come from somebody unknown
    """

    subscriptions: bool
    advertisements: bool


Bucket: TypeAlias = tuple[int, int]  # number of the bucket, hash of what is in it


@dataclass(frozen=True, slots=True)
class Digest:
    """Hashes of what the sender has forwarded on this link, in buckets: the receiver asks for those that differ."""

    subscriptions: tuple[Bucket, ...]
    advertisements: tuple[Bucket, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The buckets of a digest that differ from what the sender of this knows."""

    subscriptions: tuple[int, ...]
    advertisements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    """All that is forwarded on this link in some buckets: what the receiver knows in them beyond this is gone."""

    buckets: Wanted
    subscriptions: tuple[Subscribe, ...]
    advertisements: tuple[Advertise, ...]


Message: TypeAlias = (
    Advertise
    | Unadvertise
    | Subscribe
    | Unsubscribe
    | Unsubscribed
    | Publish
    | Joined
    | Left
    | Complete
    | Digest
    | Wanted
    | Entries
)


def id_in(message: Message) -> str | None:
    """The id of the subscription, advertisement or publication that a client's message is about."""
    for name in ("subscription", "advertisement", "publication"):
        if hasattr(message, name):
            return str(getattr(message, name))
    return None
