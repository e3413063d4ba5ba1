"""Whether what links forward is all there is: how brokers that route in different ways work together.

A broker that forwards no subscriptions, or that has a neighbour whose subscriptions are not all there, says on its other
links that its own are not complete; then every event is sent to it. The same for advertisements: then every subscription
is. So a network may change its way broker by broker: what is no longer complete is said before anything is taken back,
and what is complete again is said after all of it was sent.
"""

from __future__ import annotations

from collections.abc import Iterable

from thatch.broker.forwarding import rebuild, refresh_subscriptions
from thatch.broker.messages import Complete
from thatch.broker.settings import Routing
from thatch.broker.step import Step
from thatch.broker.tables import Link, Tables

__all__ = ["complete_on", "grant", "on_complete", "persist_link", "revoke", "switch"]


def switch(tables: Tables, step: Step, routing: Routing) -> None:
    """Route in another way from now on."""
    tables.routing = routing
    revoke(tables, step)
    for link in tables.joined_links():
        rebuild(tables, step, link)
    grant(tables, step)


def on_complete(tables: Tables, step: Step, link: Link, message: Complete) -> None:
    """A neighbour says whether its subscriptions and advertisements are all there."""
    was_guided = link.gives_advertisements
    link.gives_subscriptions = bool(message.subscriptions)
    link.gives_advertisements = bool(message.advertisements)
    persist_link(step, link)
    revoke(tables, step)
    if link.gives_advertisements != was_guided:
        refresh_subscriptions(tables, step, link)
    grant(tables, step)


def complete_on(tables: Tables, link: Link) -> tuple[bool, bool]:
    """Whether all subscriptions, and all advertisements, of this side of a link are represented on it."""
    return _complete_on(tables, link, _lacking(tables))


def _lacking(tables: Tables) -> tuple[int, int]:
    """How many links do not give all subscriptions, and how many not all advertisements."""
    subscriptions = advertisements = 0
    for link in tables.links.values():
        if link.is_joined:
            subscriptions += not link.gives_subscriptions
            advertisements += not link.gives_advertisements
    return subscriptions, advertisements


def _complete_on(tables: Tables, link: Link, lacking: tuple[int, int]) -> tuple[bool, bool]:
    way = tables.routing.way
    subscriptions = lacking[0] - (link.is_joined and not link.gives_subscriptions)
    advertisements = lacking[1] - (link.is_joined and not link.gives_advertisements)
    return (way != "events" and not subscriptions, way == "advertisements" and not advertisements)


def revoke(tables: Tables, step: Step, links: Iterable[Link] | None = None) -> None:
    """Say on every link, or on some, what is no longer complete there."""
    _tell(tables, step, links, is_revoking=True)


def grant(tables: Tables, step: Step, links: Iterable[Link] | None = None) -> None:
    """Say on every link, or on some, what is complete there."""
    _tell(tables, step, links, is_revoking=False)


def _tell(tables: Tables, step: Step, links: Iterable[Link] | None, *, is_revoking: bool) -> None:
    lacking = _lacking(tables)
    for link in tables.joined_links() if links is None else links:
        subscriptions, advertisements = _complete_on(tables, link, lacking)
        if is_revoking:
            subscriptions, advertisements = subscriptions and link.told[0], advertisements and link.told[1]
        if link.told != (subscriptions, advertisements):
            link.told = (subscriptions, advertisements)
            persist_link(step, link)
            link.channel.send(step, Complete(subscriptions, advertisements))


def persist_link(step: Step, link: Link) -> None:
    """Keep what is known of a link, beside its channel and the brokers beyond it."""
    flags = (
        link.is_joined,
        link.awaits_routes,
        link.gives_subscriptions,
        link.gives_advertisements,
        *link.told,
    )
    step.persist(("link", link.name), (link.order, *map(int, flags)))
