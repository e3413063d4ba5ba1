"""Events on their way: over every link beyond which somebody may want them, and to the clients here that do.

For a link one match is enough; for clients all matches are found, exactly. A client that sends a publication twice,
since it did not know whether the first had arrived, has published it once: the last ones are remembered by id, and the
second is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thatch.broker.effects import Deliver
from thatch.broker.forwarding import is_guided, watch
from thatch.broker.messages import Publish
from thatch.broker.overlap import allows
from thatch.broker.refusals import ignore, refuse
from thatch.broker.step import Step
from thatch.broker.tables import Client, Hop, Link, Tables
from thatch.errors import EventError
from thatch.model.events import MAX_DEPTH, Record, read_event
from thatch.model.matching import holds

__all__ = ["on_publish", "wanting_clients", "wanting_links"]


def on_publish(tables: Tables, step: Step, hop: Hop, message: Publish) -> None:
    """Send an event on, and deliver it."""
    if not _is_well_formed(tables, step, hop, message):
        return
    try:
        record = read_event(message.event, tables.schema)
        reason = _unwelcome(tables, hop, record)
        links = [] if reason else wanting_links(tables, record, hop)
        delivered = {} if reason else wanting_clients(tables, record)
    except EventError as error:  # also of matching, if lists have too many pairs
        refuse(tables, step, hop, message.publication, "an event that cannot be read", str(error))
        return
    if reason:
        refuse(tables, step, hop, message.publication, reason)
        return
    if isinstance(hop, Client):
        _remember(tables, step, message.publication)
    for link in links:
        link.channel.send(step, message)
        if link.looks.count(step.now):
            watch(step, link)
    for client, subscriptions in delivered.items():
        step.effects.append(
            Deliver(
                cause=step.cause,
                client=client,
                publication=message.publication,
                event=message.event,
                subscriptions=tuple(subscriptions),
            )
        )
    sent = tuple(link.name for link in links)
    tables.facts.append((step.cause, message.publication, "published", hop.name, sent, tuple(delivered)))


def wanting_links(tables: Tables, record: Record, hop: Hop | None = None) -> list[Link]:
    """The links that an event must be sent over, except the one it came from."""
    return [
        link
        for link in tables.links.values()
        if (link.subscriptions or not link.gives_subscriptions)  # most of many links have none
        and link is not hop
        and link.is_joined
        and (not link.gives_subscriptions or link.wishes.any(record))
    ]


def wanting_clients(tables: Tables, record: Record) -> dict[str, list[str]]:
    """The clients here that want an event, each with the ids of its subscriptions that do."""
    found: dict[str, list[str]] = {}
    for subscription in tables.wishes.match(record):
        found.setdefault(subscription.hop.name, []).append(subscription.id)
    return found


def _is_well_formed(tables: Tables, step: Step, hop: Hop, message: Publish) -> bool:
    if not isinstance(message.publication, str) or not message.publication:
        refuse(tables, step, hop, message.publication, "a publication whose id is no text")
        return False
    if isinstance(hop, Client) and message.publication in tables.published:
        ignore(tables, step, hop.name, "a publication that came before")
        return False
    if _size(message.event, tables.limits.event_size) < 0:
        limit = f"at most {tables.limits.event_size:,} values and characters are taken"
        refuse(tables, step, hop, message.publication, "an event that is too large", limit)
        return False
    return True


def _unwelcome(tables: Tables, hop: Hop, record: Record) -> str:
    """Why an event must not come from there, empty if it may."""
    if isinstance(hop, Client):
        if tables.routing.way == "advertisements" and not _is_allowed(hop, record):
            return "an event that the client has not advertised"
    elif is_guided(tables, hop) and not _is_expected(hop, record):
        return "an event that the neighbour has not advertised"
    return ""


def _size(value: Any, room: int, depth: int = 0) -> int:
    """What is left of the room after a value, below zero as soon as it is too small.

    What is nested too deep, as a cycle is, is refused when it is read.
    """
    room -= 1
    if depth > MAX_DEPTH:
        return room
    if isinstance(value, str):
        return room - len(value)
    if isinstance(value, Mapping):
        for name, each in value.items():
            room = _size(each, room - len(name) if isinstance(name, str) else room, depth + 1)
            if room < 0:
                break
    elif isinstance(value, (list, tuple)):
        for each in value:
            room = _size(each, room, depth + 1)
            if room < 0:
                break
    return room


def _is_allowed(client: Client, record: Record) -> bool:
    return any(allows(each.filter, record, closed=each.closed) for each in client.advertisements.values())


def _is_expected(link: Link, record: Record) -> bool:
    """Whether an event may come from a link.

    Several advertisements together may have made superfluous the one that allowed it, each holding some of its flat
    events: so it is enough that one of them holds one.
    """
    return any(
        holds(conjunction, record)
        for each in link.advertisements.values()
        for conjunction in each.filter.conjunctions
    )


def _remember(tables: Tables, step: Step, publication: str) -> None:
    """Keep the ids of the last publications, in a ring of slots."""
    published = tables.published
    if len(published) < tables.limits.publications:
        slot = len(published)
    else:
        oldest = next(iter(published))
        slot = published.pop(oldest)
    published[publication] = slot
    step.persist(("published", str(slot)), (publication, tables.next_order()))
