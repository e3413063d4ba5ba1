"""Where the events of a frame go: over which links, and to which clients here.

One index says who wants an event: a link once, a client with all its subscriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thatch.broker.advertisement_index import AllowedRows
from thatch.broker.event_codec import EncodedEvent
from thatch.broker.event_frames import EventFrame
from thatch.broker.forwarding import is_guided
from thatch.broker.tables import BrokerLink, Hop, LocalClient, RoutingTables
from thatch.errors import EventError
from thatch.model.events import Record

__all__ = ["FrameRoute", "route_frame", "wanting"]


@dataclass(slots=True, eq=False, repr=False)
class FrameRoute:
    """Where the events of a frame go; they are given by their places in it, in order."""

    links: dict[str, list[int]] = field(default_factory=dict)
    clients: dict[str, list[int]] = field(default_factory=dict)
    # Of each event for a client, the ids of its subscriptions that want it.
    subscriptions: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    refused: dict[int, tuple[str, str]] = field(default_factory=dict)  # why: what is counted, and more


def route_frame(tables: RoutingTables, hop: Hop, frame: EventFrame) -> FrameRoute:
    """Find where each event of a frame from a hop goes; one that cannot be used does not hold up the others."""
    route = FrameRoute()
    events = _Events(tables, frame, route)
    if isinstance(hop, LocalClient):
        if tables.routing.way == "advertisements":
            events.keep(hop.offers.allowed, "an event that the client has not advertised")
    elif is_guided(tables, hop):
        events.keep(hop.offers.expected, "an event that the neighbour has not advertised")
    found = tables.index.route(events.rows, events.read)
    events.refuse(found.refused)
    wanted = {link: events.places_of(rows) for link, rows in found.links.items() if link.gives_subscriptions}
    if tables.partial:
        unread = found.refused.keys()
        every = [place for row, place in enumerate(events.places) if row not in unread]
        wanted |= dict.fromkeys(tables.partial.values(), every) if every else {}
    for link in sorted(wanted, key=lambda link: link.order):
        if link is not hop and link.is_joined:
            route.links[link.name] = wanted[link]
    for client, (rows, some) in found.clients.items():
        route.clients[client.name] = events.places_of(rows)
        route.subscriptions[client.name] = [tuple([each.id for each in wanting]) for wanting in some]
    return route


class _Events:
    """The events of a frame that are not refused so far; each has a row among them, and a place in the frame."""

    def __init__(self, tables: RoutingTables, frame: EventFrame, route: FrameRoute) -> None:
        self._schema, self._refused = tables.schema, route.refused
        self._read: dict[int, EncodedEvent] = {}  # by place
        self.rows: Sequence[bytes] = frame.rows
        self.places: Sequence[int] = range(len(frame.rows))
        most = tables.limits.event_size
        if set(map(type, frame.rows)) != {bytes} or max(map(len, frame.rows)) > most:
            for place, row in enumerate(frame.rows):
                if type(row) is not bytes:
                    self._refused[place] = ("an event that cannot be read", "its row is not bytes")
                elif len(row) > most:
                    limit = f"it has {len(row):,} bytes, and at most {most:,} are accepted"
                    self._refused[place] = ("an event that is too large", limit)
            self._select([place for place in self.places if place not in self._refused])

    def read(self, row: int) -> EncodedEvent:
        """One event."""
        place = self.places[row]
        event = self._read.get(place)
        if event is None:
            event = self._read[place] = EncodedEvent(self.rows[row], self._schema)
        return event

    def keep(
        self, choose: Callable[[Sequence[bytes], Callable[[int], EncodedEvent]], AllowedRows], reason: str
    ) -> None:
        """Refuse the events that are not chosen."""
        rows, unread = choose(self.rows, self.read)
        if len(rows) < len(self.rows):
            self.refuse(unread)
            kept = set(rows)
            for row, place in enumerate(self.places):
                if row not in kept and row not in unread:
                    self._refused[place] = (reason, "")
            self._select(rows)

    def refuse(self, unread: dict[int, EventError]) -> None:
        """Refuse events that cannot be read or matched."""
        for row, error in unread.items():
            self._refused[self.places[row]] = ("an event that cannot be read", str(error))

    def places_of(self, rows: list[int]) -> list[int]:
        """The places of rows."""
        return rows if type(self.places) is range else [self.places[row] for row in rows]

    def _select(self, rows: list[int]) -> None:
        self.rows, self.places = [self.rows[row] for row in rows], [self.places[row] for row in rows]


def wanting(
    tables: RoutingTables, record: Record, hop: Hop | None = None
) -> tuple[list[BrokerLink], dict[str, list[str]]]:
    """Who wants an event: links, except the one it came from, and clients here, each with the ids of its subscriptions."""
    wanted = tables.index.wanted_by(record)
    known = set(wanted.links)
    links = [
        link
        for link in tables.links.values()
        if link is not hop and link.is_joined and (link in known or not link.gives_subscriptions)
    ]
    clients: dict[str, list[str]] = {}
    for subscription in wanted.subscriptions:
        clients.setdefault(subscription.hop.name, []).append(subscription.id)
    return links, clients
