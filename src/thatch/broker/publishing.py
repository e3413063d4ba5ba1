"""Events on their way: over every link beyond which somebody may want them, and to the clients here that want them.

One index says who wants an event: a link once, a client with all its subscriptions. A client may send a publication twice if it does not
know whether the first has arrived: the last ones are remembered by id, and the second is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thatch.broker.effects import Deliver
from thatch.broker.forwarding import is_guided, set_merge_timer
from thatch.broker.messages import Publish
from thatch.broker.overlap import allows
from thatch.broker.step import BrokerStep
from thatch.broker.tables import BrokerLink, Hop, LocalClient, RoutingTables
from thatch.errors import EventError
from thatch.model.events import MAX_DEPTH, Record, read_event
from thatch.model.values import is_id

__all__ = ["on_publish", "wanting"]


def on_publish(tables: RoutingTables, step: BrokerStep, hop: Hop, message: Publish) -> None:
    """Send an event on, and deliver it."""
    if not _is_well_formed(tables, step, hop, message):
        return
    try:
        record = read_event(message.event, tables.schema)
        reason = _reason_to_refuse(tables, hop, record)
        links, delivered = ([], {}) if reason else wanting(tables, record, hop)
    except EventError as error:  # matching raises it too, if lists have too many pairs
        tables.refuse(step, hop, message.publication, "an event that cannot be read", str(error))
        return
    if reason:
        tables.refuse(step, hop, message.publication, reason)
        return
    if isinstance(hop, LocalClient):
        _remember(tables, step, message.publication)
    for link in links:
        link.channel.send(step, message)
        if link.merge_timer.count_event(step.now):
            set_merge_timer(step, link)
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


def _is_well_formed(tables: RoutingTables, step: BrokerStep, hop: Hop, message: Publish) -> bool:
    if not is_id(message.publication):
        tables.refuse(step, hop, message.publication, "a publication whose id is not text")
        return False
    if isinstance(hop, LocalClient) and message.publication in tables.published:
        tables.ignore(step, hop.name, "a publication that came before")
        return False
    if _size(message.event, tables.limits.event_size) < 0:
        limit = f"at most {tables.limits.event_size:,} values and characters are accepted"
        tables.refuse(step, hop, message.publication, "an event that is too large", limit)
        return False
    return True


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


def _size(value: Any, left: int, depth: int = 0) -> int:
    """What is left of a limit after a value; negative as soon as it is exceeded.

    A value that is nested too deeply, such as a cycle, is refused when it is read.
    """
    left -= 1
    if depth > MAX_DEPTH:
        return left
    if isinstance(value, str):
        return left - len(value)
    if isinstance(value, Mapping):
        for name, each in value.items():
            left = _size(each, left - len(name) if isinstance(name, str) else left, depth + 1)
            if left < 0:
                break
    elif isinstance(value, (list, tuple)):
        for each in value:
            left = _size(each, left, depth + 1)
            if left < 0:
                break
    return left


def _is_expected(link: BrokerLink, record: Record) -> bool:
    """Whether an event may come from a link.

    The advertisement that allowed it may have been covered by several others together, each of which holds some of its
    flat events: so it is enough that one of them holds one.
    """
    return any(each.filter.holds(record) for each in link.advertisements.values())


def _remember(tables: RoutingTables, step: BrokerStep, publication: str) -> None:
    """Remember the ids of the last publications, in a ring of slots."""
    published = tables.published
    if len(published) < tables.limits.publications:
        slot = len(published)
    else:
        oldest = next(iter(published))
        slot = published.pop(oldest)
    published[publication] = slot
    step.persist(("published", str(slot)), (publication, tables.next_order()))
