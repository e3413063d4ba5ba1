"""What belongs on a link, and the messages that bring its other end up to date: make before break.

A subscription belongs on every link but the one it came from; where advertisements guide, only on those from where an
advertisement came that it overlaps. An advertisement belongs on every link but the one it came from, if advertisements
guide. What of that is really sent, the link's `Outgoing` decides. It may send one filter around several: a merger is a
subscription of this broker itself, under a name that no other has in the whole network, nor ever had.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from thatch.broker.messages import Advertise, Subscribe, Unadvertise, Unsubscribe
from thatch.broker.outgoing import MERGER, Entry, Outgoing
from thatch.broker.overlap import overlaps
from thatch.broker.step import Step
from thatch.broker.tables import Advertisement, Link, Subscription, Tables
from thatch.model.schema import Schema
from thatch.reduction.forwarding.forwarding_set import Changes
from thatch.reduction.forwarding.policies import Policy

__all__ = [
    "announce",
    "belonging_advertisements",
    "belonging_subscriptions",
    "belongs",
    "catch_up",
    "forward",
    "is_guided",
    "look",
    "possible_links",
    "rebuild",
    "refresh_subscriptions",
    "retract",
    "unannounce",
    "watch",
]


def is_guided(tables: Tables, link: Link) -> bool:
    """Whether subscriptions are sent over a link only towards advertisements."""
    return tables.routing.way == "advertisements" and link.gives_advertisements


def belongs(tables: Tables, link: Link, subscription: Subscription) -> bool:
    """Whether a subscription must be represented on a link."""
    if (
        not link.is_joined
        or subscription.hop is link
        or subscription.leaving is not None
        or tables.routing.way == "events"
    ):
        return False
    return not is_guided(tables, link) or any(
        overlaps(each.filter, subscription.filter, closed=each.closed)
        for each in link.advertisements.values()
    )


def possible_links(tables: Tables) -> list[Link]:
    """The links on which a subscription may belong: where advertisements guide, most of many links have none."""
    if tables.routing.way == "advertisements":
        return [
            link for link in tables.links.values() if link.advertisements or not link.gives_advertisements
        ]
    return list(tables.links.values())


def belonging_subscriptions(tables: Tables, link: Link) -> list[Subscription]:
    """All subscriptions that must be represented on a link, in the order of arrival."""
    return [each for each in tables.subscriptions.values() if belongs(tables, link, each)]


def belonging_advertisements(tables: Tables, link: Link) -> list[Advertisement]:
    """All advertisements that must be represented on a link, in the order of arrival."""
    if not link.is_joined or tables.routing.way != "advertisements":
        return []
    return [each for each in tables.advertisements.values() if each.hop is not link]


# --- one entry -------------------------------------------------------------------------------------------------------


def forward(tables: Tables, step: Step, link: Link, subscription: Subscription) -> None:
    """Represent a subscription on a link."""
    if link.forwarded is None:
        link.forwarded = Outgoing(tables.routing.policy, tables.schema)
    look(tables, step, link)  # for it decides by the time it knows
    _send_subscriptions(tables, step, link, link.forwarded.add(subscription.id, subscription.filter))
    watch(step, link)


def retract(
    tables: Tables, step: Step, link: Link, subscription: str, *, asks: bool = False
) -> tuple[str, ...]:
    """Take a subscription back from a link, if it is represented there.

    Parameters
    ----------
    asks : whether the unsubscriptions that must be sent, of itself or of mergers, are to be acknowledged

    Returns
    -------
    The requests that will be acknowledged.
    """
    if link.forwarded is None or subscription not in link.forwarded:
        return ()
    changes = link.forwarded.remove(subscription)
    requests = _send_subscriptions(tables, step, link, changes, asks_for=subscription if asks else None)
    watch(step, link)
    if not link.forwarded:
        link.forwarded = None
    return requests


def announce(tables: Tables, step: Step, link: Link, advertisement: Advertisement) -> None:
    """Represent an advertisement on a link."""
    if link.announced is None:
        link.announced = Outgoing(tables.routing.advertising, tables.schema)
    look(tables, step, link)
    changes = link.announced.add(advertisement.id, advertisement.filter, advertisement.closed)
    _send_advertisements(tables, step, link, changes)
    watch(step, link)


def unannounce(tables: Tables, step: Step, link: Link, advertisement: str) -> None:
    """Take an advertisement back from a link, if it is represented there."""
    if link.announced is None or advertisement not in link.announced:
        return
    _send_advertisements(tables, step, link, link.announced.remove(advertisement))
    watch(step, link)
    if not link.announced:
        link.announced = None


# --- occasions to merge ----------------------------------------------------------------------------------------------


def look(tables: Tables, step: Step, link: Link, bandwidth: float | None = None) -> None:
    """Merge on a link, if it is time to.

    Parameters
    ----------
    bandwidth : events a second that were sent over it, None if they were not counted
    """
    if link.forwarded is not None:
        _send_subscriptions(tables, step, link, link.forwarded.tell(step.now, bandwidth))
    if link.announced is not None:
        _send_advertisements(tables, step, link, link.announced.tell(step.now, bandwidth))
    watch(step, link)


def watch(step: Step, link: Link) -> None:
    """See to it that a link is looked at when it may be time to merge."""
    for outgoing in (link.forwarded, link.announced):
        if outgoing is not None:
            link.looks.ask(step, outgoing.next_look(link.looks.counted_at))


# --- many entries ----------------------------------------------------------------------------------------------------


def refresh_subscriptions(
    tables: Tables, step: Step, link: Link, candidates: Iterable[Subscription] | None = None
) -> None:
    """Represent on a link just what belongs there.

    Parameters
    ----------
    candidates : the subscriptions that may have to come or go, None for all
    """
    gone: list[str] = []
    for each in list(tables.subscriptions.values() if candidates is None else candidates):
        is_there = link.forwarded is not None and each.id in link.forwarded
        if belongs(tables, link, each) != is_there:
            if is_there:
                gone.append(each.id)
            else:
                forward(tables, step, link, each)
    told = link.forwarded.told if link.forwarded is not None else {}
    # Those that are not known at the other end go first: so none of them becomes known only to be taken back.
    for subscription in sorted(gone, key=told.__contains__):
        retract(tables, step, link, subscription)


def rebuild(tables: Tables, step: Step, link: Link) -> None:
    """Decide anew all that a link forwards, and send what differs from what its other end was told."""
    subscriptions = [(each.id, each.filter, False) for each in belonging_subscriptions(tables, link)]
    advertisements = [(each.id, each.filter, each.closed) for each in belonging_advertisements(tables, link)]
    link.announced = _rebuilt(link.announced, tables.routing.advertising, tables.schema, advertisements)
    link.forwarded = _rebuilt(link.forwarded, tables.routing.policy, tables.schema, subscriptions)
    catch_up(tables, step, link)


def catch_up(tables: Tables, step: Step, link: Link) -> None:
    """Send what a link should have told and has not, then take back what it has told and should not."""
    if link.announced is not None:
        _send_advertisements(tables, step, link, _untold(link.announced))
    if link.forwarded is not None:
        _send_subscriptions(tables, step, link, _untold(link.forwarded))
    if not link.announced:
        link.announced = None
    if not link.forwarded:
        link.forwarded = None


def _rebuilt(
    old: Outgoing | None, policy: Policy, schema: Schema | None, entries: list[Entry]
) -> Outgoing | None:
    if old is None and not entries:
        return None
    return Outgoing.of(policy, schema, entries, {} if old is None else old.told)


def _untold(outgoing: Outgoing) -> Changes:
    active = outgoing.active()
    forward = tuple(each for each in active.items() if each[0] not in outgoing.told)
    return Changes(forward, tuple(each for each in outgoing.told if each not in active))


# --- messages --------------------------------------------------------------------------------------------------------


def _send_subscriptions(
    tables: Tables, step: Step, link: Link, changes: Changes, asks_for: str | None = None
) -> tuple[str, ...]:
    assert link.forwarded is not None
    for about, filter in changes.forward:
        subscription = _tell(tables, step, link, "forwarded", about)
        link.channel.send(step, Subscribe(subscription=subscription, filter=filter))
    requests = []
    for about in changes.withdraw:
        subscription = _untell(tables, step, link, "forwarded", about)
        is_asked = asks_for is not None and (
            about == asks_for or about != subscription
        )  # itself, or a merger
        request = link.channel.next_request(tables.name) if is_asked else ""
        link.channel.send(step, Unsubscribe(subscription, request))
        if is_asked:
            requests.append(request)
    return tuple(requests)


def _send_advertisements(tables: Tables, step: Step, link: Link, changes: Changes) -> None:
    assert link.announced is not None
    for about, filter in changes.forward:
        advertisement = _tell(tables, step, link, "announced", about)
        closed = about in tables.advertisements and tables.advertisements[about].closed
        link.channel.send(step, Advertise(advertisement=advertisement, filter=filter, closed=closed))
    for about in changes.withdraw:
        advertisement = _untell(tables, step, link, "announced", about)
        link.channel.send(step, Unadvertise(advertisement))


def _tell(tables: Tables, step: Step, link: Link, kind: Literal["forwarded", "announced"], about: str) -> str:
    """Note that the other end is told an entry; what it is called there."""
    outgoing: Outgoing = getattr(link, kind)
    merger = outgoing.merged(about)
    if merger is not None:
        name = MERGER + link.channel.next_request(
            tables.name
        )  # as the message that tells it, the only one so called
        outgoing.name(about, name)
        kept = Subscribe(subscription=name, filter=merger.filter)
        degree = (merger.degree.imperfect, merger.degree.threshold)
        step.persist(("merger", link.name, name), (kept, merger.parts, *degree))
        about = name
    outgoing.told[about] = tables.next_order()
    step.persist((kind, link.name, about), outgoing.told[about])
    tables.facts.append((step.cause, about, "forwarded", link.name))
    return about


def _untell(
    tables: Tables, step: Step, link: Link, kind: Literal["forwarded", "announced"], about: str
) -> str:
    """Note that the other end is told to forget an entry; what it is called there."""
    outgoing: Outgoing = getattr(link, kind)
    name = outgoing.unname(about)
    del outgoing.told[name]
    step.persist((kind, link.name, name), None)
    if name.startswith(MERGER):
        step.persist(("merger", link.name, name), None)
    tables.facts.append((step.cause, name, "withdrawn", link.name))
    return name
