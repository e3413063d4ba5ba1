"""Why a message was or was not sent, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thatch.broker.forwarding import is_guided
from thatch.broker.outgoing import Outgoing
from thatch.broker.publishing import wanting_clients, wanting_links
from thatch.broker.tables import Advertisement, Client, Hop, Link, Subscription, Tables
from thatch.model.events import read_event

__all__ = ["Route", "route", "story"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where an event would go from a broker.

    Parameters
    ----------
    links : for each link that it would be sent over, the ids of the subscriptions beyond it that want it, as far as they
        are known here; none where every event is sent
    clients : for each client here that wants it, the ids of its subscriptions that do
    """

    links: Mapping[str, tuple[str, ...]]
    clients: Mapping[str, tuple[str, ...]]


def route(tables: Tables, event: Mapping[str, Any], source: str | None = None) -> Route:
    """Where an event would go that comes from a neighbour, or, without one, from a client."""
    record = read_event(event, tables.schema)
    links = wanting_links(tables, record, None if source is None else tables.links.get(source))
    return Route(
        links={link.name: tuple(each.id for each in link.wishes.match(record)) for link in links},
        clients={name: tuple(ids) for name, ids in wanting_clients(tables, record).items()},
    )


def story(tables: Tables, about: str) -> list[str]:
    """What happened to a subscription, advertisement or publication here, and why it is where it is."""
    told = [_fact(fact) for fact in tables.facts if fact[1] == about]
    subscription = tables.subscriptions.get(about)
    if subscription is not None:
        told.extend(_about_subscription(tables, subscription))
    advertisement = tables.advertisements.get(about)
    if advertisement is not None:
        told.extend(_about_advertisement(tables, advertisement))
    return told


def _fact(fact: tuple[Any, ...]) -> str:
    cause, _, kind, whom, *rest = fact
    match kind:
        case "published":
            sent, delivered = rest
            going = f"sent on to {_listed(sent)}" if sent else "sent on to nobody"
            here = f"delivered to {_listed(delivered)}" if delivered else "wanted by no client here"
            return f"Step {cause}: came from {whom}, was {going} and {here}."
        case "forwarded":
            return f"Step {cause}: was told to {whom}."
        case "withdrawn":
            return f"Step {cause}: was taken back from {whom}."
        case _:
            return f"Step {cause}: came from {whom} and was {kind}: {rest[0]}."


def _about_subscription(tables: Tables, subscription: Subscription) -> Iterator[str]:
    yield f"It came from {_named(subscription.hop)}."
    if subscription.leaving is not None:
        asked = _listed(sorted(set(subscription.leaving.waiting.values())))
        yield f"It is leaving, and waits for {asked} to acknowledge that."
        return
    for link in tables.links.values():
        yield f"{link.name}: {_why(tables, link, subscription, link.forwarded)}"


def _about_advertisement(tables: Tables, advertisement: Advertisement) -> Iterator[str]:
    yield f"It came from {_named(advertisement.hop)}."
    for link in tables.links.values():
        yield f"{link.name}: {_why(tables, link, advertisement, link.announced)}"


def _why(tables: Tables, link: Link, entry: Subscription | Advertisement, outgoing: Outgoing | None) -> str:
    if entry.hop is link:
        return "not told, since it came from there."
    if not link.is_joined:
        return "not told, since the neighbour has not joined yet."
    if outgoing is not None and entry.id in outgoing:
        if entry.id in outgoing.told:
            return "told."
        proof = outgoing.reason(entry.id)
        by = f"by {_listed(proof)}" if proof else "by what was told"
        return f"not told, since it is covered there {by}."
    if isinstance(entry, Advertisement):
        return f"not told, since the way is {tables.routing.way!r}."
    if tables.routing.way == "events":
        return "not told, since only events travel."
    assert is_guided(tables, link)
    return "not told, since no advertisement from there overlaps it."


def _named(hop: Hop) -> str:
    return f"the client {hop.name}" if isinstance(hop, Client) else f"the broker {hop.name}"


def _listed(names: Any) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else str(last)
