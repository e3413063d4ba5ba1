"""What a broker knows: its links and clients, who wants what, who may publish what, and what was sent on which link.

The routing tables are exact: whatever links leave out of what they forward, nothing is left out here. A subscription or
an advertisement has a **hop**: the neighbour or client that it came from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, TypeAlias

from thatch.broker.advertisement_index import AdvertisementIndex
from thatch.broker.channel import Channel, session_name
from thatch.broker.deliveries import KeptDeliveries
from thatch.broker.draw_index import DrawIndex
from thatch.broker.effects import Ignored, Refuse
from thatch.broker.facts import Facts
from thatch.broker.link_entries import ADVERTISEMENTS, MERGER, SUBSCRIPTIONS, LinkEntries
from thatch.broker.merge_timer import MergeTimer
from thatch.broker.messages import Advertise, Subscribe
from thatch.broker.network_map import NetworkMap
from thatch.broker.publishers import Publishers
from thatch.broker.routing_index import RoutingIndex
from thatch.broker.settings import Limits, Routing, Timing
from thatch.broker.step import BrokerStep
from thatch.errors import shown
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.model.values import is_id

__all__ = [
    "BrokerLink",
    "Hop",
    "KnownAdvertisement",
    "KnownSubscription",
    "LocalClient",
    "Pending",
    "RoutingTables",
]

_LATEST = 2**63  # of an expiry that is an integer, so that drivers can add it to their clocks


@dataclass(slots=True, eq=False, repr=False)
class KnownSubscription:
    """A subscription and its hop; while it is leaving, it waits for acknowledgements."""

    kind: ClassVar[str] = "subscription"

    id: str
    filter: Filter
    hop: Hop
    order: int  # of arrival
    expires: float | None = None
    leaving: Pending | None = None
    durable: bool = False
    slot: int = -1  # in the routing index
    closed: ClassVar[bool] = False  # as an advertisement may be


@dataclass(slots=True, eq=False, repr=False)
class KnownAdvertisement:
    """An advertisement and its hop."""

    kind: ClassVar[str] = "advertisement"

    id: str
    filter: Filter
    hop: Hop
    order: int
    _: KW_ONLY
    closed: bool = False
    expires: float | None = None
    leaving: ClassVar[None] = None  # as a subscription may be


@dataclass(slots=True, eq=False, repr=False)
class Pending:
    """An unsubscription that waits for acknowledgements, and whom to tell when all have come."""

    id: int  # a number at this broker
    subscription: str  # that ends
    owed: list[tuple[Hop, str]]  # who wants a request acknowledged
    waiting: dict[str, str] = field(default_factory=dict)  # requests of ours, and the neighbour of each


@dataclass(slots=True, eq=False, repr=False)
class LocalClient:
    """A client of this broker."""

    kind: ClassVar[str] = "client"

    name: str
    is_connected: bool = False
    subscriptions: dict[str, KnownSubscription] = field(default_factory=dict)
    advertisements: dict[str, KnownAdvertisement] = field(default_factory=dict)
    offers: AdvertisementIndex = field(default_factory=AdvertisementIndex)
    durable: set[str] = field(default_factory=set)  # those of the subscriptions for which events are kept
    kept: KeptDeliveries | None = None  # None if there never was one


@dataclass(slots=True, eq=False, repr=False)
class BrokerLink:
    """A link to a neighbour, and what each side has told the other."""

    kind: ClassVar[str] = "broker"

    name: str
    channel: Channel
    order: int
    began: (
        str  # when both sides agree that it began; this side's first session until the other has said its own
    )
    is_joined: bool = False  # whether its side is known to be separate from ours
    awaits_reports: bool = True  # whether the next message must be `Joined`
    # What came from there.
    subscriptions: dict[str, KnownSubscription] = field(default_factory=dict)
    advertisements: dict[str, KnownAdvertisement] = field(default_factory=dict)
    offers: AdvertisementIndex = field(default_factory=AdvertisementIndex)
    gives_subscriptions: bool = (
        True  # whether it sends all of its side; see `RoutingTables.note_completeness`
    )
    gives_advertisements: bool = True
    # What was sent there.
    sent_subscriptions: LinkEntries[Subscribe] = field(init=False)
    sent_advertisements: LinkEntries[Advertise] = field(init=False)
    said_complete: tuple[bool, bool] = (True, True)  # that we send all subscriptions, all advertisements
    merge_timer: MergeTimer = field(init=False)

    def __post_init__(self) -> None:
        self.sent_subscriptions = LinkEntries(SUBSCRIPTIONS, self.channel)
        self.sent_advertisements = LinkEntries(ADVERTISEMENTS, self.channel)
        self.merge_timer = MergeTimer(self.name)

    @property
    def sent(self) -> tuple[LinkEntries[Subscribe], LinkEntries[Advertise]]:
        """What was sent there, of both kinds."""
        return self.sent_subscriptions, self.sent_advertisements


Hop: TypeAlias = BrokerLink | LocalClient


@dataclass(eq=False, repr=False)
class RoutingTables:
    """All that a broker knows."""

    name: str
    routing: Routing
    timing: Timing
    schema: Schema | None
    limits: Limits
    trusts_topology: bool
    links: dict[str, BrokerLink] = field(default_factory=dict)
    partial: dict[str, BrokerLink] = field(
        default_factory=dict
    )  # links that do not give all subscriptions, so that they get every event
    unguided: dict[str, BrokerLink] = field(
        default_factory=dict
    )  # links that do not give all advertisements, so that they get every subscription
    map: NetworkMap = field(default_factory=NetworkMap)
    mapped: set[str] = field(default_factory=set)  # the brokers that are connected with this one
    contradicted: int = 0  # reports in this broker's name that it had not made
    clients: dict[str, LocalClient] = field(default_factory=dict)
    subscriptions: dict[str, KnownSubscription] = field(default_factory=dict)
    advertisements: dict[str, KnownAdvertisement] = field(default_factory=dict)
    index: RoutingIndex[BrokerLink, LocalClient, KnownSubscription] = field(init=False)
    draws: DrawIndex[BrokerLink] = field(default_factory=DrawIndex)
    awaited: dict[str, Pending] = field(default_factory=dict)  # by our request
    # Neighbours whose entry (by kind and id) was refused because another one has its id.
    contested: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    freed: list[tuple[str, str]] = field(default_factory=list)  # contested ids that became free in this step
    expiries: list[tuple[float, str, str]] = field(default_factory=list)  # a heap of (time, kind, id)
    publishers: Publishers = field(default_factory=Publishers)
    ignored: Counter[str] = field(default_factory=Counter)
    _order: int = 0

    def __post_init__(self) -> None:
        self.facts = Facts(self.limits.facts)
        self.index = RoutingIndex(self.schema)

    def next_order(self) -> int:
        """A number above all earlier ones."""
        self._order += 1
        return self._order

    def continue_order(self, after: int) -> None:
        """Make the next number greater than one from before a restart."""
        self._order = max(self._order, after)

    def new_session(self, step: BrokerStep) -> str:
        """A name for a session that begins now."""
        return session_name(step.now, self.next_order())

    def joined_links(self) -> Iterator[BrokerLink]:
        """The links that are part of the network."""
        return (link for link in self.links.values() if link.is_joined)

    def note_completeness(self, link: BrokerLink, *, subscriptions: bool, advertisements: bool) -> None:
        """Note whether a link gives all subscriptions and all advertisements of its side."""
        link.gives_subscriptions, link.gives_advertisements = subscriptions, advertisements
        for is_complete, links in ((subscriptions, self.partial), (advertisements, self.unguided)):
            if is_complete:
                links.pop(link.name, None)
            else:
                links[link.name] = link

    def client(self, name: str) -> LocalClient:
        """The client of a name, made if need be."""
        return self.clients.setdefault(name, LocalClient(name))

    def kept_for(self, step: BrokerStep, client: LocalClient) -> KeptDeliveries:
        """What is kept for a client until it acknowledges it."""
        if client.kept is None:
            client.kept = KeptDeliveries(client.name, self.limits.keeping, self.new_session(step))
            client.kept.open(step)
        return client.kept

    # --- entries -----------------------------------------------------------------------------------------------------

    def put_subscription(self, subscription: KnownSubscription) -> None:
        """Add a subscription under an id that is free."""
        hop = subscription.hop
        self.subscriptions[subscription.id] = hop.subscriptions[subscription.id] = subscription
        if isinstance(hop, BrokerLink):
            self.index.add(subscription, link=hop)
        elif subscription.leaving is None:
            self.index.add(subscription, client=hop)
            self.note_durable(subscription)

    def drop_subscription(self, subscription: KnownSubscription) -> None:
        """Remove a subscription."""
        self._free(subscription)
        hop = subscription.hop
        del self.subscriptions[subscription.id]
        del hop.subscriptions[subscription.id]
        self.stop_deliveries(subscription)

    def stop_deliveries(self, subscription: KnownSubscription) -> None:
        """Send and deliver nothing more for a subscription."""
        if subscription.slot >= 0:
            self.index.remove(subscription)
        if isinstance(subscription.hop, LocalClient):
            subscription.hop.durable.discard(subscription.id)

    def note_durable(self, subscription: KnownSubscription) -> None:
        """Note whether events are kept for a subscription of a client."""
        assert isinstance(subscription.hop, LocalClient)
        if subscription.durable:
            subscription.hop.durable.add(subscription.id)
        else:
            subscription.hop.durable.discard(subscription.id)

    def put_advertisement(self, advertisement: KnownAdvertisement) -> None:
        """Add an advertisement under an id that is free."""
        self.advertisements[advertisement.id] = advertisement
        advertisement.hop.advertisements[advertisement.id] = advertisement
        advertisement.hop.offers.add(advertisement)
        if isinstance(advertisement.hop, BrokerLink):
            self.draws.add(advertisement, advertisement.hop)

    def drop_advertisement(self, advertisement: KnownAdvertisement) -> None:
        """Remove an advertisement."""
        self._free(advertisement)
        del self.advertisements[advertisement.id]
        del advertisement.hop.advertisements[advertisement.id]
        advertisement.hop.offers.remove(advertisement)
        if isinstance(advertisement.hop, BrokerLink):
            self.draws.remove(advertisement)

    def contest(self, step: BrokerStep, hop: Hop, entry: KnownSubscription | KnownAdvertisement) -> None:
        """Note that a neighbour has an entry too whose id is taken here: it will be asked again when the id is free.

        So nothing is lost if entries came over several links that closed a cycle, of which one is closed later.
        """
        if isinstance(hop, BrokerLink):
            self.contested.setdefault((entry.kind, entry.id), set()).add(hop.name)
            step.persist(("contested", entry.kind, entry.id, hop.name), 1)

    def stop_contesting(self, step: BrokerStep, neighbour: str) -> None:
        """Forget what was refused of a neighbour that is gone."""
        for (kind, about), names in self.contested.items():
            if neighbour in names:
                names.discard(neighbour)
                step.persist(("contested", kind, about, neighbour), None)

    def _free(self, entry: KnownSubscription | KnownAdvertisement) -> None:
        if (entry.kind, entry.id) in self.contested:
            self.freed.append((entry.kind, entry.id))

    # --- refusals ----------------------------------------------------------------------------------------------------

    def ignore(self, step: BrokerStep, sender: str, reason: str, count: int = 1) -> None:
        """Count what cannot be used."""
        self.ignored[reason] += count
        step.effects.append(Ignored(cause=step.cause, sender=sender, reason=reason, count=count))

    def refuse(self, step: BrokerStep, hop: Hop, about: object, reason: str, detail: str = "") -> None:
        """Refuse a message: a client is told why, a neighbour is not, and both are counted.

        There are few reasons, so that they can be counted; `detail` explains one to a client.
        """
        name = about if isinstance(about, str) else shown(about)
        if isinstance(hop, LocalClient):
            self.ignored[reason] += 1
            text = f"{reason}: {detail}" if detail else reason
            step.effects.append(Refuse(cause=step.cause, client=hop.name, about=name, reason=text))
            self.facts.append((step.cause, name, "refused", hop.name, text))
        else:
            self.ignore(step, hop.name, reason)
            self.facts.append((step.cause, name, "ignored", hop.name, reason))

    def reason_to_refuse(self, hop: Hop, about: Any, filter: Any, expires: Any, now: float) -> str:
        """Why a subscription or an advertisement cannot be accepted, empty if it can."""
        if not is_id(about):
            return "an id that is not text"
        # Neighbours send mergers too, but under longer names than the numbers that mergers have inside a link.
        if about.startswith(MERGER) and (
            isinstance(hop, LocalClient) or about.removeprefix(MERGER).isdigit()
        ):
            return "an id that is reserved for mergers"
        if not isinstance(filter, Filter):
            return "a filter that cannot be read"
        if filter.schema != self.schema:
            return "a filter with another schema"
        if not filter.alternatives:
            return "a filter that never matches"
        if expires is not None:
            is_time = isinstance(expires, (int, float)) and not isinstance(expires, bool)
            if not is_time or expires != expires or (isinstance(expires, int) and expires > _LATEST):
                return "an expiry that is not a number"
            if expires <= now:
                return "an expiry in the past"
        return ""
