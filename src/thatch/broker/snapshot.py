"""A broker that comes back: its tables and channels from what it had asked to be kept.

What links forward is decided anew, but what was told stays told: those entries come first, in the order in which they
were told, so that the decisions are the same again. Where they are not (another policy, another way, work that ran out),
the first step after coming back sends the difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from heapq import heapify
from typing import Any

from thatch.broker.channel import Channel
from thatch.broker.completing import grant, revoke
from thatch.broker.forwarding import belonging_advertisements, belonging_subscriptions, catch_up, look
from thatch.broker.leases import set_lease_timer
from thatch.broker.messages import Message
from thatch.broker.outgoing import Entry, Outgoing
from thatch.broker.step import Step
from thatch.broker.tables import Advertisement, Hop, Link, Pending, Subscription, Tables
from thatch.reduction.forwarding.forwarding_set import MergerRecord

__all__ = ["Items", "load", "resume"]

Items = Mapping[tuple[str, ...], Any]


def load(tables: Tables, items: Items) -> None:
    """Fill empty tables with what was kept."""
    by_kind: dict[str, dict[tuple[str, ...], Any]] = defaultdict(dict)
    for key, value in items.items():
        by_kind[key[0]][key[1:]] = value
    _load_links(tables, items, by_kind)
    pending = {int(key): value for (key,), value in by_kind["pending"].items()}
    waiting = {number: Pending(number, value[0], []) for number, value in pending.items()}
    _load_entries(tables, by_kind, waiting)
    for number, (_, owed, asked) in pending.items():
        made = waiting[number]
        made.owed = [(_hop(tables, kind, name), request) for kind, name, request in owed]
        for request, neighbour in asked:
            made.waiting[request] = neighbour
            tables.awaited[request] = made
        tables.continue_order(number)
    kept = sorted(
        (order, publication, slot) for (slot,), (publication, order) in by_kind["published"].items()
    )
    tables.published = {publication: int(slot) for _, publication, slot in kept}
    tables.continue_order(max((order for order, _, _ in kept), default=0))
    for link in tables.links.values():
        _load_outgoing(tables, link, by_kind)


def resume(tables: Tables, step: Step) -> None:
    """In the first step after coming back: say what is to be said, and set the timers that were set."""
    set_lease_timer(tables, step)
    revoke(tables, step)
    for link in tables.joined_links():
        catch_up(tables, step, link)
        look(tables, step, link)
    grant(tables, step)


def _load_links(tables: Tables, items: Items, by_kind: Mapping[str, Mapping[tuple[str, ...], Any]]) -> None:
    outboxes: dict[str, dict[int, Message]] = defaultdict(dict)
    for (name, number), message in by_kind["out"].items():
        outboxes[name][int(number)] = message
    for (name,), (order, *flags) in sorted(by_kind["link"].items(), key=lambda each: each[1][0]):
        channel = Channel(name, tables.timing, "")
        channel.load(items, outboxes[name])
        link = tables.links[name] = Link(name, channel, order)
        is_joined, awaits_routes, gives_subscriptions, gives_advertisements, *told = map(bool, flags)
        link.is_joined, link.awaits_routes = is_joined, awaits_routes
        link.gives_subscriptions, link.gives_advertisements = gives_subscriptions, gives_advertisements
        link.told = (told[0], told[1])
        tables.continue_order(order)
        tables.continue_order(int(channel.session.rpartition("#")[2]))
    for (name, broker), before in by_kind["member"].items():
        tables.links[name].members[broker] = before


def _load_entries(
    tables: Tables, by_kind: Mapping[str, Mapping[tuple[str, ...], Any]], waiting: Mapping[int, Pending]
) -> None:
    """Subscriptions and advertisements, in the order of their arrival."""
    for message, kind, name, order, pending in sorted(
        by_kind["subscription"].values(), key=lambda each: each[3]
    ):
        subscription = Subscription(
            message.subscription, message.filter, _hop(tables, kind, name), order, message.expires
        )
        subscription.leaving = waiting[pending] if pending else None
        tables.put_subscription(subscription)
        if message.expires is not None and not pending:
            tables.leases.append((message.expires, "subscription", message.subscription))
        tables.continue_order(order)
    for message, kind, name, order in sorted(by_kind["advertisement"].values(), key=lambda each: each[3]):
        advertisement = Advertisement(
            message.advertisement,
            message.filter,
            _hop(tables, kind, name),
            order,
            closed=message.closed,
            expires=message.expires,
        )
        tables.put_advertisement(advertisement)
        if message.expires is not None:
            tables.leases.append((message.expires, "advertisement", message.advertisement))
        tables.continue_order(order)
    heapify(tables.leases)


def _hop(tables: Tables, kind: str, name: str) -> Hop:
    return tables.client(name) if kind == "client" else tables.links[name]


def _load_outgoing(tables: Tables, link: Link, by_kind: Mapping[str, Mapping[tuple[str, ...], Any]]) -> None:
    mergers = _mergers(by_kind["merger"], link)
    forwarded = _told(tables, by_kind["forwarded"], link)
    subscriptions = [(each.id, each.filter, False) for each in belonging_subscriptions(tables, link)]
    if forwarded or subscriptions:
        entries = _told_first(subscriptions, forwarded)
        link.forwarded = Outgoing.of(tables.routing.policy, tables.schema, entries, forwarded, mergers)
    announced = _told(tables, by_kind["announced"], link)
    advertisements = [(each.id, each.filter, each.closed) for each in belonging_advertisements(tables, link)]
    if announced or advertisements:
        entries = _told_first(advertisements, announced)
        link.announced = Outgoing.of(tables.routing.advertising, tables.schema, entries, announced, mergers)


def _mergers(kept: Mapping[tuple[str, ...], Any], link: Link) -> dict[str, MergerRecord]:
    from thatch.reduction.merging import Degree

    return {
        about: MergerRecord(message.filter, tuple(parts), Degree(imperfect, threshold))
        for (name, about), (message, parts, imperfect, threshold) in kept.items()
        if name == link.name
    }


def _told(tables: Tables, kept: Mapping[tuple[str, ...], int], link: Link) -> dict[str, int]:
    told = sorted((order, about) for (name, about), order in kept.items() if name == link.name)
    tables.continue_order(told[-1][0] if told else 0)
    return {about: order for order, about in told}


def _told_first(entries: Iterable[Entry], told: Mapping[str, int]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (entry[0] not in told, told.get(entry[0], 0)))
