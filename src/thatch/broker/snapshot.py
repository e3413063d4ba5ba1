"""Restore a broker: its tables and channels from what its `Persist` effects have left.

What links forward is decided anew, but entries that were sent come first, in the order of sending, so that the decisions
are the same. Where they are not (another policy, another way, a budget that ran out), the first step sends the
difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from heapq import heapify
from itertools import chain
from typing import Any

from thatch.broker.channel import Channel, began
from thatch.broker.completeness import grant, revoke
from thatch.broker.deliveries import KeptDeliveries
from thatch.broker.expiry import set_expiry_timer
from thatch.broker.forwarding import advertisements_on, catch_up, merge_if_due, subscriptions_on
from thatch.broker.messages import Message
from thatch.broker.step import BrokerStep
from thatch.broker.tables import (
    BrokerLink,
    Hop,
    KnownAdvertisement,
    KnownSubscription,
    Pending,
    RoutingTables,
)
from thatch.reduction.forwarding.forwarding_set import MergerRecord

__all__ = ["Items", "load", "resume"]

Items = Mapping[tuple[str, ...], Any]


def load(tables: RoutingTables, items: Items) -> None:
    """Fill empty tables with what was persisted."""
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
    tables.publishers.load(by_kind["publisher"])
    _load_kept(tables, by_kind)
    for kind, about, name in by_kind["contested"]:
        tables.contested.setdefault((kind, about), set()).add(name)
    for link in tables.links.values():
        _load_sent(tables, link, by_kind)


def resume(tables: RoutingTables, step: BrokerStep) -> None:
    """In the first step after a restart, send what is to be sent and set the timers that were set."""
    tables.publishers.restart(step.now)
    for client in tables.clients.values():
        if client.kept is not None:
            client.kept.watch(step)
    set_expiry_timer(tables, step)
    revoke(tables, step)
    for link in tables.joined_links():
        catch_up(tables, step, link)
        merge_if_due(tables, step, link)
    grant(tables, step)


def _load_links(
    tables: RoutingTables, items: Items, by_kind: Mapping[str, Mapping[tuple[str, ...], Any]]
) -> None:
    outboxes: dict[str, dict[int, Message]] = defaultdict(dict)
    for (name, number), message in by_kind["out"].items():
        outboxes[name][int(number)] = message
    for (name,), (order, since, *flags) in sorted(by_kind["link"].items(), key=lambda each: each[1][0]):
        channel = Channel(name, tables.timing, "")
        channel.load(items, outboxes[name])
        link = tables.links[name] = BrokerLink(name, channel, order, since)
        is_joined, awaits_reports, gives_subscriptions, gives_advertisements, *said = map(bool, flags)
        link.is_joined, link.awaits_reports = is_joined, awaits_reports
        tables.note_completeness(link, subscriptions=gives_subscriptions, advertisements=gives_advertisements)
        link.said_complete = (said[0], said[1])
        tables.continue_order(order)
        tables.continue_order(int(channel.session.rpartition("#")[2]))
    for (broker,), report in by_kind["report"].items():
        tables.map.put((broker, *report))
        tables.mapped.add(broker)
    if tables.name in tables.mapped:
        tables.continue_order(began(tables.map.reports[tables.name][1])[1])


def _load_entries(
    tables: RoutingTables,
    by_kind: Mapping[str, Mapping[tuple[str, ...], Any]],
    waiting: Mapping[int, Pending],
) -> None:
    """Subscriptions and advertisements, in the order of their arrival."""
    for message, kind, name, order, pending in sorted(
        by_kind["subscription"].values(), key=lambda each: each[3]
    ):
        subscription = KnownSubscription(
            message.subscription, message.filter, _hop(tables, kind, name), order, message.expires
        )
        subscription.durable = message.durable
        subscription.leaving = waiting[pending] if pending else None
        tables.put_subscription(subscription)
        tables.continue_order(order)
    for message, kind, name, order in sorted(by_kind["advertisement"].values(), key=lambda each: each[3]):
        advertisement = KnownAdvertisement(
            message.advertisement,
            message.filter,
            _hop(tables, kind, name),
            order,
            closed=message.closed,
            expires=message.expires,
        )
        tables.put_advertisement(advertisement)
        tables.continue_order(order)
    entries: Iterable[KnownSubscription | KnownAdvertisement]
    entries = chain(tables.subscriptions.values(), tables.advertisements.values())
    tables.expiries = [
        (each.expires, each.kind, each.id)
        for each in entries
        if each.expires is not None and each.leaving is None
    ]
    heapify(tables.expiries)


def _load_kept(tables: RoutingTables, by_kind: Mapping[str, Mapping[tuple[str, ...], Any]]) -> None:
    """The deliveries that clients have not acknowledged."""
    kept: dict[str, dict[int, Any]] = defaultdict(dict)
    for (name, number), value in by_kind["kept"].items():
        kept[name][int(number)] = value
    for (name,), (session, acknowledged) in by_kind["acknowledged"].items():
        deliveries = tables.client(name).kept = KeptDeliveries(name, tables.limits.keeping, session)
        deliveries.load(acknowledged, kept[name])
        tables.continue_order(began(session)[1])


def _hop(tables: RoutingTables, kind: str, name: str) -> Hop:
    return tables.client(name) if kind == "client" else tables.links[name]


def _load_sent(
    tables: RoutingTables, link: BrokerLink, by_kind: Mapping[str, Mapping[tuple[str, ...], Any]]
) -> None:
    mergers = _mergers(by_kind["merger"], link)
    told = _told(tables, by_kind["forwarded"], link)
    link.sent_subscriptions.restore(tables, subscriptions_on(tables, link), told, mergers)
    told = _told(tables, by_kind["announced"], link)
    link.sent_advertisements.restore(tables, advertisements_on(tables, link), told, mergers)


def _mergers(kept: Mapping[tuple[str, ...], Any], link: BrokerLink) -> dict[str, MergerRecord]:
    from thatch.reduction.merging import Degree

    return {
        about: MergerRecord(message.filter, tuple(parts), Degree(imperfect, threshold))
        for (name, about), (message, parts, imperfect, threshold) in kept.items()
        if name == link.name
    }


def _told(tables: RoutingTables, kept: Mapping[tuple[str, ...], int], link: BrokerLink) -> dict[str, int]:
    told = sorted((order, about) for (name, about), order in kept.items() if name == link.name)
    tables.continue_order(told[-1][0] if told else 0)
    return {about: order for order, about in told}
