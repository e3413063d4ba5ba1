"""Why a message was or was not sent, in sentences; and where an event would go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thatch.broker.forwarding import is_guided
from thatch.broker.frame_routing import wanting
from thatch.broker.link_entries import LinkEntries
from thatch.broker.tables import BrokerLink, KnownAdvertisement, KnownSubscription, RoutingTables
from thatch.model.events import read_event

__all__ = ["LocalRoute", "explain", "route"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRoute:
    """Where an event would go from a broker."""

    # For each link that it would be sent over, the ids of known subscriptions beyond it that want it; empty where every
    # event is sent.
    links: Mapping[str, tuple[str, ...]]
    clients: Mapping[str, tuple[str, ...]]  # for each that wants it, the ids of its subscriptions that do


def route(tables: RoutingTables, event: Mapping[str, Any], source: str | None = None) -> LocalRoute:
    """Where an event from a neighbour, or from a client if `source` is None, would go."""
    record = read_event(event, tables.schema)
    links, clients = wanting(tables, record, None if source is None else tables.links.get(source))
    matching = tables.index.match(record)
    return LocalRoute(
        links={link.name: tuple(each.id for each in matching if each.hop is link) for link in links},
        clients={name: tuple(ids) for name, ids in clients.items()},
    )


def explain(tables: RoutingTables, about: str) -> list[str]:
    """What happened to a subscription, advertisement or event here, and why it was sent where it was."""
    sentences = [_sentence(fact) for fact in tables.facts.about(about)]
    for entries in (tables.subscriptions, tables.advertisements):
        if about in entries:
            sentences.extend(_about_entry(tables, entries[about]))
    return sentences


def _sentence(fact: tuple[Any, ...]) -> str:
    cause, _, kind, whom, *rest = fact
    match kind:
        case "published":
            sent, delivered = rest
            going = f"sent on to {_enumerate(sent)}" if sent else "sent on to nobody"
            here = f"delivered to {_enumerate(delivered)}" if delivered else "wanted by no client here"
            return f"Step {cause}: came from {whom}, was {going} and {here}."
        case "forwarded":
            return f"Step {cause}: was sent to {whom}."
        case "withdrawn":
            return f"Step {cause}: was withdrawn from {whom}."
        case _:
            return f"Step {cause}: came from {whom} and was {kind}: {rest[0]}."


def _about_entry(tables: RoutingTables, entry: KnownSubscription | KnownAdvertisement) -> Iterator[str]:
    yield f"It came from the {entry.hop.kind} {entry.hop.name}."
    if entry.leaving is not None:
        asked = _enumerate(sorted(set(entry.leaving.waiting.values())))
        yield f"It is leaving, and waits for {asked} to acknowledge."
        return
    for link in tables.links.values():
        yield f"{link.name}: {_why(tables, link, entry)}"


def _why(tables: RoutingTables, link: BrokerLink, entry: KnownSubscription | KnownAdvertisement) -> str:
    is_advertisement = isinstance(entry, KnownAdvertisement)
    sent: LinkEntries[Any] = link.sent_advertisements if is_advertisement else link.sent_subscriptions
    if entry.hop is link:
        return "not sent, since it came from there."
    if not link.is_joined:
        return "not sent, since the neighbour has not joined yet."
    if entry.id in sent:
        if entry.id in sent.told:
            return "sent."
        proof = sent.proof(entry.id)
        by = _enumerate(proof) if proof else "what was sent"
        return f"not sent, since it is covered there by {by}."
    if is_advertisement:
        return f"not sent, since the way is {tables.routing.way!r}."
    if tables.routing.way == "events":
        return "not sent, since only events travel."
    assert is_guided(tables, link)
    return "not sent, since no advertisement from there overlaps it."


def _enumerate(names: Any) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else str(last)
