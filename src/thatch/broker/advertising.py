"""Advertisements that come and end: they lead subscriptions to where events may come from."""

from __future__ import annotations

from thatch.broker.expiry import schedule_expiry
from thatch.broker.forwarding import forward, is_guided, refresh_subscriptions, retract
from thatch.broker.messages import Advertise, Unadvertise
from thatch.broker.overlap import overlaps
from thatch.broker.step import BrokerStep
from thatch.broker.tables import (
    BrokerLink,
    Hop,
    KnownAdvertisement,
    KnownSubscription,
    LocalClient,
    RoutingTables,
)

__all__ = ["end_advertisement", "on_advertise", "on_unadvertise"]

_FEW = 64  # advertisements that are checked before all subscriptions are


def on_advertise(tables: RoutingTables, step: BrokerStep, hop: Hop, message: Advertise) -> None:
    """Add an advertisement; from a neighbour it draws the subscriptions that it overlaps."""
    reason = tables.reason_to_refuse(hop, message.advertisement, message.filter, message.expires, step.now)
    reason = reason or _reason_to_refuse_flag(message)
    known = None if reason else tables.advertisements.get(message.advertisement)
    is_client = isinstance(hop, LocalClient)
    if known is not None:
        if known.hop is not hop:
            reason = "an id that is taken"
            tables.contest(step, hop, known)
        elif _is_same(known, message):
            if is_client and known.expires != message.expires:
                known.expires = message.expires
                _persist(step, known)
                schedule_expiry(tables, step, known)
            return
        elif is_client:
            reason = "an id that is taken by another filter (unadvertise first)"
    if reason:
        tables.refuse(step, hop, message.advertisement, reason)
        return
    if known is not None:
        end_advertisement(tables, step, known)
    made = KnownAdvertisement(
        message.advertisement,
        message.filter,
        hop,
        tables.next_order(),
        closed=message.closed,
        expires=message.expires if is_client else None,  # only the broker of the client ends it
    )
    drawn = _drawn_by(tables, hop, made) if isinstance(hop, BrokerLink) else []
    tables.put_advertisement(made)
    _persist(step, made)
    schedule_expiry(tables, step, made)
    if tables.routing.way == "advertisements":
        for link in tables.joined_links():
            if link is not hop:
                forward(tables, step, link, link.sent_advertisements, made)
    if drawn:
        assert isinstance(hop, BrokerLink)
        refresh_subscriptions(tables, step, hop, drawn)


def _is_same(known: KnownAdvertisement, message: Advertise) -> bool:
    """Whether an advertisement says what is known; closed ones also by the names that they give."""
    return (
        known.filter == message.filter
        and known.closed == message.closed
        and (not message.closed or known.filter.also_named == message.filter.also_named)
    )


def _reason_to_refuse_flag(message: Advertise) -> str:
    if isinstance(message.closed, bool):
        return ""
    return "a flag that is neither true nor false"


def on_unadvertise(tables: RoutingTables, step: BrokerStep, hop: Hop, message: Unadvertise) -> None:
    """End an advertisement of the hop that asks; what is not known has ended already."""
    known = (
        tables.advertisements.get(message.advertisement) if isinstance(message.advertisement, str) else None
    )
    if known is not None and known.hop is not hop:
        tables.refuse(step, hop, message.advertisement, "the end of another's advertisement")
    elif known is not None:
        end_advertisement(tables, step, known)


def end_advertisement(tables: RoutingTables, step: BrokerStep, advertisement: KnownAdvertisement) -> None:
    """Remove an advertisement; its hop's link keeps only the subscriptions that another one still draws."""
    hop = advertisement.hop
    tables.drop_advertisement(advertisement)
    step.persist(("advertisement", advertisement.id), None)
    for link in tables.links.values():
        retract(tables, step, link, link.sent_advertisements, advertisement.id)
    if isinstance(hop, BrokerLink) and is_guided(tables, hop):
        drawn = [
            each
            for each in tables.index.meeting(advertisement.filter)
            if each.id in hop.sent_subscriptions
            and overlaps(advertisement.filter, each.filter, closed=advertisement.closed)
        ]
        refresh_subscriptions(tables, step, hop, drawn)


def _drawn_by(
    tables: RoutingTables, link: BrokerLink, advertisement: KnownAdvertisement
) -> list[KnownSubscription]:
    """The subscriptions that a new advertisement draws to a link where they are not yet."""
    if not is_guided(tables, link):
        return []
    others = link.advertisements.values()
    if len(others) <= _FEW and not advertisement.closed:
        for each in others:
            if not each.closed and each.filter.covers(advertisement.filter):
                return []
    return [
        each
        for each in tables.index.meeting(advertisement.filter)
        if each.hop is not link
        and each.id not in link.sent_subscriptions
        and overlaps(advertisement.filter, each.filter, closed=advertisement.closed)
    ]


def _persist(step: BrokerStep, advertisement: KnownAdvertisement) -> None:
    message = Advertise(
        advertisement=advertisement.id,
        filter=advertisement.filter,
        closed=advertisement.closed,
        expires=advertisement.expires,
    )
    hop = advertisement.hop
    value = (message, hop.kind, hop.name, advertisement.order)
    step.persist(("advertisement", advertisement.id), value)
