"""Which entries belong on which link, and how a link is brought up to date.

A subscription belongs on every link but the one it came from; where advertisements guide, only on links from which an
overlapping advertisement came. An advertisement belongs on every link but the one it came from, if advertisements guide.
Which of these entries are really sent is decided by the link's `LinkEntries`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thatch.broker.link_entries import LinkEntries
from thatch.broker.step import BrokerStep
from thatch.broker.tables import BrokerLink, KnownAdvertisement, KnownSubscription, RoutingTables

__all__ = [
    "advertisements_on",
    "belongs",
    "catch_up",
    "forward",
    "is_guided",
    "links_for",
    "merge_if_due",
    "rebuild",
    "refresh_subscriptions",
    "retract",
    "set_merge_timer",
    "subscriptions_on",
]


def is_guided(tables: RoutingTables, link: BrokerLink) -> bool:
    """Whether subscriptions are sent over a link only towards advertisements."""
    return tables.routing.way == "advertisements" and link.gives_advertisements


def belongs(tables: RoutingTables, link: BrokerLink, subscription: KnownSubscription) -> bool:
    """Whether a subscription must be represented on a link."""
    if (
        not link.is_joined
        or subscription.hop is link
        or subscription.leaving is not None
        or tables.routing.way == "events"
    ):
        return False
    return not is_guided(tables, link) or link in tables.draws.links(subscription.filter, [link])


def links_for(tables: RoutingTables, subscription: KnownSubscription) -> list[BrokerLink]:
    """The links on which a subscription belongs, which are found by index where advertisements guide."""
    if subscription.leaving is not None or tables.routing.way == "events":
        return []
    links: Iterable[BrokerLink] = tables.links.values()
    if tables.routing.way == "advertisements":
        found = tables.draws.links(subscription.filter).union(tables.unguided.values())
        links = sorted(found, key=lambda link: link.order)
    return [link for link in links if link.is_joined and link is not subscription.hop]


def subscriptions_on(tables: RoutingTables, link: BrokerLink) -> list[KnownSubscription]:
    """All subscriptions that belong on a link, in the order of arrival."""
    return [each for each in tables.subscriptions.values() if belongs(tables, link, each)]


def advertisements_on(tables: RoutingTables, link: BrokerLink) -> list[KnownAdvertisement]:
    """All advertisements that belong on a link, in the order of arrival."""
    if not link.is_joined or tables.routing.way != "advertisements":
        return []
    return [each for each in tables.advertisements.values() if each.hop is not link]


# --- one entry -------------------------------------------------------------------------------------------------------


def forward(
    tables: RoutingTables,
    step: BrokerStep,
    link: BrokerLink,
    sent: LinkEntries[Any],
    entry: KnownSubscription | KnownAdvertisement,
) -> None:
    """Represent an entry on a link; `sent` is the link's subscriptions or its advertisements."""
    sent.prepare(tables)
    merge_if_due(tables, step, link)  # the decision about the entry depends on the time
    sent.add(tables, step, entry)
    set_merge_timer(step, link)


def retract(
    tables: RoutingTables,
    step: BrokerStep,
    link: BrokerLink,
    sent: LinkEntries[Any],
    about: str,
    *,
    acknowledged: bool = False,
) -> tuple[str, ...]:
    """Take an entry back from a link, if it is represented there; see `LinkEntries.remove`."""
    if about not in sent:
        return ()
    requests = sent.remove(tables, step, about, acknowledged=acknowledged)
    set_merge_timer(step, link)
    return requests


# --- merging ---------------------------------------------------------------------------------------------------------


def merge_if_due(
    tables: RoutingTables, step: BrokerStep, link: BrokerLink, bandwidth: float | None = None
) -> None:
    """Merge on a link, if it is due; `bandwidth` is the events a second sent over it, None if they were not counted."""
    for sent in link.sent:
        sent.merge_if_due(tables, step, bandwidth)
    set_merge_timer(step, link)


def set_merge_timer(step: BrokerStep, link: BrokerLink) -> None:
    """Ask to be called back when merging may become due on a link."""
    for sent in link.sent:
        link.merge_timer.set(step, sent.next_merge_check(link.merge_timer.counted_at))


# --- many entries ----------------------------------------------------------------------------------------------------


def refresh_subscriptions(
    tables: RoutingTables,
    step: BrokerStep,
    link: BrokerLink,
    candidates: Iterable[KnownSubscription] | None = None,
) -> None:
    """Represent on a link exactly the subscriptions that belong there; only candidates, if given, may come or go."""
    sent = link.sent_subscriptions
    gone: list[str] = []
    for each in list(tables.subscriptions.values() if candidates is None else candidates):
        is_there = each.id in sent
        if belongs(tables, link, each) != is_there:
            if is_there:
                gone.append(each.id)
            else:
                forward(tables, step, link, sent, each)
    # Those that the other end does not know go first, so that none of them is sent only to be taken back.
    for subscription in sorted(gone, key=sent.told.__contains__):
        retract(tables, step, link, sent, subscription)


def rebuild(tables: RoutingTables, step: BrokerStep, link: BrokerLink) -> None:
    """Decide anew all that a link forwards, and send what differs from what its other end was told."""
    link.sent_advertisements.rebuild(tables, advertisements_on(tables, link))
    link.sent_subscriptions.rebuild(tables, subscriptions_on(tables, link))
    catch_up(tables, step, link)


def catch_up(tables: RoutingTables, step: BrokerStep, link: BrokerLink) -> None:
    """Send what the other end of a link should know and does not, then withdraw what it should not know."""
    link.sent_advertisements.catch_up(tables, step)
    link.sent_subscriptions.catch_up(tables, step)
