"""Where the events of a frame go: over which links, and to which clients here.

One index says who wants an event: a link once, a client with all its subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thatch.broker.event_codec import EncodedEvent
from thatch.broker.event_frames import EventFrame
from thatch.broker.forwarding import is_guided
from thatch.broker.overlap import allows
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
    for place, row in enumerate(frame.rows):
        if type(row) is bytes and len(row) > tables.limits.event_size:
            limit = f"it has {len(row):,} bytes, and at most {tables.limits.event_size:,} are accepted"
            route.refused[place] = ("an event that is too large", limit)
            continue
        try:
            record = EncodedEvent(row, tables.schema).record
            reason = _reason_to_refuse(tables, hop, record)
            links, clients = ([], {}) if reason else wanting(tables, record, hop)
        except EventError as error:  # matching raises it too, if lists have too many pairs
            route.refused[place] = ("an event that cannot be read", str(error))
            continue
        if reason:
            route.refused[place] = (reason, "")
            continue
        for link in links:
            route.links.setdefault(link.name, []).append(place)
        for client, ids in clients.items():
            route.clients.setdefault(client, []).append(place)
            route.subscriptions.setdefault(client, []).append(tuple(ids))
    return route


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


def _reason_to_refuse(tables: RoutingTables, hop: Hop, record: Record) -> str:
    """Why an event from a hop is refused, empty if it is not."""
    if isinstance(hop, LocalClient):
        if tables.routing.way == "advertisements" and not any(
            allows(each.filter, record, closed=each.closed) for each in hop.advertisements.values()
        ):
            return "an event that the client has not advertised"
    elif is_guided(tables, hop) and not _is_expected(hop, record):
        return "an event that the neighbour has not advertised"
    return ""


def _is_expected(link: BrokerLink, record: Record) -> bool:
    """Whether an event may come from a link.

    The advertisement that allowed it may have been covered by several others together, each of which holds some of its
    flat events: so it is enough that one of them holds one.
    """
    return any(each.filter.holds(record) for each in link.advertisements.values())
