"""Whether links forward everything they should: how brokers that route in different ways work together.

A broker that forwards no subscriptions, or that has a neighbour which does not send all of its own, tells its other
neighbours that its subscriptions are incomplete; then every event is sent to it. The same holds for advertisements: then
every subscription is sent to it. So a network can switch its routing broker by broker: a broker says that something is
no longer complete before it withdraws anything, and that it is complete again after it has sent everything.
"""

from __future__ import annotations

from collections.abc import Iterable

from thatch.broker.forwarding import rebuild, refresh_subscriptions
from thatch.broker.messages import Complete
from thatch.broker.settings import Routing
from thatch.broker.step import BrokerStep
from thatch.broker.tables import BrokerLink, RoutingTables

__all__ = ["complete_on", "count_lacking", "grant", "on_complete", "persist_link", "revoke", "switch"]


def switch(tables: RoutingTables, step: BrokerStep, routing: Routing) -> None:
    """Change how this broker routes."""
    tables.routing = routing
    revoke(tables, step)
    for link in tables.joined_links():
        rebuild(tables, step, link)
    grant(tables, step)


def on_complete(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Complete) -> None:
    """Note whether a neighbour sends all subscriptions and advertisements of its side."""
    if not (isinstance(message.subscriptions, bool) and isinstance(message.advertisements, bool)):
        tables.ignore(step, link.name, "malformed completeness")
        return
    was_guided = link.gives_advertisements
    tables.note_completeness(link, subscriptions=message.subscriptions, advertisements=message.advertisements)
    persist_link(step, link)
    revoke(tables, step)
    if link.gives_advertisements != was_guided:
        refresh_subscriptions(tables, step, link)
    grant(tables, step)


def count_lacking(tables: RoutingTables) -> tuple[int, int]:
    """How many links do not send all subscriptions, and how many not all advertisements."""
    joined = list(tables.joined_links())
    return (
        sum(not link.gives_subscriptions for link in joined),
        sum(not link.gives_advertisements for link in joined),
    )


def complete_on(tables: RoutingTables, link: BrokerLink, lacking: tuple[int, int]) -> tuple[bool, bool]:
    """Whether all subscriptions, and all advertisements, of this side of a link are represented on it."""
    way = tables.routing.way
    subscriptions = lacking[0] - (link.is_joined and not link.gives_subscriptions)
    advertisements = lacking[1] - (link.is_joined and not link.gives_advertisements)
    return (way != "events" and not subscriptions, way == "advertisements" and not advertisements)


def revoke(tables: RoutingTables, step: BrokerStep, links: Iterable[BrokerLink] | None = None) -> None:
    """Tell all neighbours, or some, what is no longer complete."""
    _tell(tables, step, links, is_revoking=True)


def grant(tables: RoutingTables, step: BrokerStep, links: Iterable[BrokerLink] | None = None) -> None:
    """Tell all neighbours, or some, what is complete."""
    _tell(tables, step, links, is_revoking=False)


def _tell(
    tables: RoutingTables, step: BrokerStep, links: Iterable[BrokerLink] | None, *, is_revoking: bool
) -> None:
    lacking = count_lacking(tables)
    for link in tables.joined_links() if links is None else links:
        complete, said = complete_on(tables, link, lacking), link.said_complete
        if is_revoking:
            complete = (complete[0] and said[0], complete[1] and said[1])
        if complete != said:
            link.said_complete = complete
            persist_link(step, link)
            link.channel.send(step, Complete(*complete))


def persist_link(step: BrokerStep, link: BrokerLink) -> None:
    """Persist the state of a link, without its channel and the brokers beyond it."""
    flags = (
        link.is_joined,
        link.awaits_reports,
        link.gives_subscriptions,
        link.gives_advertisements,
        *link.said_complete,
    )
    step.persist(("link", link.name), (link.order, link.began, *map(int, flags)))
