"""What a broker knows: who is there, who wants what, who may publish what, and on which links that was made known.

The routing tables are exact: whatever links leave out of what they forward, nothing is left out here. A subscription and
an advertisement have a **last hop**: the neighbour or client that they came from.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import TypeAlias

from thatch.broker.channel import Channel, session_name
from thatch.broker.looks import Looks
from thatch.broker.outgoing import Outgoing
from thatch.broker.settings import Limits, Routing, Timing
from thatch.broker.step import Step
from thatch.matching.growing import GrowingIndex
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["Advertisement", "Client", "Hop", "Link", "Pending", "Subscription", "Tables", "Wishes"]


class Subscription:
    """A subscription with its last hop; while it is leaving, it waits for acknowledgements."""

    __slots__ = ("expires", "filter", "hop", "id", "leaving", "order", "place")

    def __init__(
        self, about: str, filter: Filter, hop: Hop, order: int, expires: float | None = None
    ) -> None:
        self.id = about
        self.filter = filter
        self.hop = hop
        self.order = order  # rising in the order of arrival
        self.expires = expires
        self.leaving: Pending | None = None
        self.place = -1  # in the index of its hop


class Advertisement:
    """An advertisement with its last hop."""

    __slots__ = ("closed", "expires", "filter", "hop", "id", "order")

    def __init__(
        self,
        about: str,
        filter: Filter,
        hop: Hop,
        order: int,
        *,
        closed: bool = False,
        expires: float | None = None,
    ) -> None:
        self.id = about
        self.filter = filter
        self.hop = hop
        self.order = order
        self.closed = closed
        self.expires = expires


class Pending:
    """An unsubscription that waits for acknowledgements, and who is to be told when all have come.

    Parameters
    ----------
    number : names it among those of this broker
    subscription : what ends
    owed : pairs of a hop and the request that it wants acknowledged
    """

    __slots__ = ("id", "owed", "subscription", "waiting")

    def __init__(self, number: int, subscription: str, owed: list[tuple[Hop, str]]) -> None:
        self.id = number
        self.subscription = subscription
        self.owed = owed
        self.waiting: dict[
            str, str
        ] = {}  # requests of our own that are not acknowledged, with the neighbour asked


class Wishes:
    """Subscriptions that can be matched against events. An index is made for the first."""

    __slots__ = ("_index", "_next", "by_place")

    def __init__(self) -> None:
        self._index: GrowingIndex | None = None
        self._next = 0
        self.by_place: dict[int, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        """Take one in."""
        if self._index is None or self._next > 2 * len(self.by_place) + 4_096:
            self._renew()
        assert self._index is not None
        subscription.place = self._next
        self._next += 1
        self._index.add(subscription.place, subscription.filter)
        self.by_place[subscription.place] = subscription

    def remove(self, subscription: Subscription) -> None:
        """Forget one."""
        del self.by_place[subscription.place]
        if self.by_place:
            assert self._index is not None
            self._index.remove(subscription.place)
        else:
            self._index = None

    def any(self, record: Record) -> bool:
        """Whether some subscription wants an event; stops at the first."""
        return self._index is not None and self._index.any(record)

    def match(self, record: Record) -> list[Subscription]:
        """The subscriptions that want an event, oldest first."""
        if self._index is None:
            return []
        return [self.by_place[int(place)] for place in self._index.match(record)]

    def _renew(self) -> None:
        """An index without the places that are no longer used."""
        self._index = GrowingIndex()
        kept = list(self.by_place.values())
        for place, each in enumerate(kept):
            each.place = place
        self.by_place = dict(enumerate(kept))
        self._next = len(kept)
        self._index.extend({each.place: each.filter for each in kept})


class Client:
    """A client of this broker."""

    __slots__ = ("advertisements", "is_connected", "name", "subscriptions")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_connected = False
        self.subscriptions: dict[str, Subscription] = {}
        self.advertisements: dict[str, Advertisement] = {}


class Link:
    """A link to a neighbour, and what each side has told the other."""

    __slots__ = (
        "advertisements",
        "announced",
        "awaits_routes",
        "channel",
        "forwarded",
        "gives_advertisements",
        "gives_subscriptions",
        "is_joined",
        "looks",
        "members",
        "name",
        "order",
        "subscriptions",
        "told",
        "wishes",
    )

    def __init__(self, name: str, channel: Channel, order: int) -> None:
        self.name = name
        self.channel = channel
        self.order = order
        self.is_joined = False  # whether its side was found to be no part of ours
        self.awaits_routes = True  # whether the next message about brokers tells all of them
        self.members: dict[str, str] = {}  # brokers on its side, each with the one before it on the way there
        # What came from there.
        self.subscriptions: dict[str, Subscription] = {}
        self.wishes = Wishes()
        self.advertisements: dict[str, Advertisement] = {}
        self.gives_subscriptions = self.gives_advertisements = True  # whether that is all there is
        # What was sent there.
        self.forwarded: Outgoing | None = None
        self.announced: Outgoing | None = None
        self.looks = Looks(name)
        self.told = (True, True)  # what was said of being complete: subscriptions, advertisements


Hop: TypeAlias = Link | Client


class Tables:
    """All that a broker knows."""

    def __init__(
        self,
        name: str,
        routing: Routing,
        timing: Timing,
        schema: Schema | None,
        limits: Limits,
        *,
        trusts: bool,
    ) -> None:
        self.name = name
        self.routing = routing
        self.timing = timing
        self.schema = schema
        self.limits = limits
        self.trusts_topology = trusts
        self.links: dict[str, Link] = {}
        self.clients: dict[str, Client] = {}
        self.subscriptions: dict[str, Subscription] = {}
        self.advertisements: dict[str, Advertisement] = {}
        self.wishes = Wishes()  # of clients
        self.awaited: dict[str, Pending] = {}  # by request of our own
        self.leases: list[tuple[float, str, str]] = []  # a heap: when, of which kind, id
        self.published: dict[
            str, int
        ] = {}  # the last publications of clients, with the slot where each is kept
        self.ignored: Counter[str] = Counter()
        self.facts: deque[tuple[object, ...]] = deque(maxlen=limits.facts)
        self._order = 0

    def next_order(self) -> int:
        """A number above all that were given."""
        self._order += 1
        return self._order

    def continue_order(self, after: int) -> None:
        """Let the next number be above one that was given in an earlier life."""
        self._order = max(self._order, after)

    def new_session(self, step: Step) -> str:
        """A name for a session that begins now."""
        return session_name(step.now, self.next_order())

    def joined_links(self) -> Iterator[Link]:
        """The links that are part of the network."""
        return (link for link in self.links.values() if link.is_joined)

    def client(self, name: str) -> Client:
        """The client of a name, made if need be."""
        known = self.clients.get(name)
        if known is None:
            known = self.clients[name] = Client(name)
        return known

    # --- entries -----------------------------------------------------------------------------------------------------

    def put_subscription(self, subscription: Subscription) -> None:
        """Take in a subscription of an id that is free."""
        hop = subscription.hop
        self.subscriptions[subscription.id] = hop.subscriptions[subscription.id] = subscription
        if subscription.leaving is None or isinstance(hop, Link):
            (hop.wishes if isinstance(hop, Link) else self.wishes).add(subscription)

    def drop_subscription(self, subscription: Subscription) -> None:
        """Forget a subscription."""
        hop = subscription.hop
        del self.subscriptions[subscription.id]
        del hop.subscriptions[subscription.id]
        if isinstance(hop, Link):
            hop.wishes.remove(subscription)
        else:
            self.silence(subscription)

    def silence(self, subscription: Subscription) -> None:
        """Deliver nothing more to a client for a subscription of its own."""
        if subscription.place >= 0:
            self.wishes.remove(subscription)
            subscription.place = -1

    def put_advertisement(self, advertisement: Advertisement) -> None:
        """Take in an advertisement of an id that is free."""
        self.advertisements[advertisement.id] = advertisement
        advertisement.hop.advertisements[advertisement.id] = advertisement

    def drop_advertisement(self, advertisement: Advertisement) -> None:
        """Forget an advertisement."""
        del self.advertisements[advertisement.id]
        del advertisement.hop.advertisements[advertisement.id]
