"""Advertisements that come and end: they lead subscriptions to where events may come from."""

from __future__ import annotations

from thatch.broker.forwarding import announce, is_guided, refresh_subscriptions, unannounce
from thatch.broker.leases import lease
from thatch.broker.messages import Advertise, Unadvertise
from thatch.broker.overlap import overlaps
from thatch.broker.refusals import refuse, unusable_filter
from thatch.broker.step import Step
from thatch.broker.tables import Advertisement, Client, Hop, Link, Subscription, Tables

__all__ = ["end_advertisement", "on_advertise", "on_unadvertise"]

_FEW = 64  # advertisements that are worth a look before all subscriptions are looked at


def on_advertise(tables: Tables, step: Step, hop: Hop, message: Advertise) -> None:
    """Take in an advertisement; from a neighbour it draws the subscriptions that it overlaps."""
    reason = unusable_filter(tables, hop, message.advertisement, message.filter, message.expires, step.now)
    known = None if reason else tables.advertisements.get(message.advertisement)
    is_client = isinstance(hop, Client)
    if known is not None:
        if known.hop is not hop:
            reason = "an id that is taken"
        elif known.filter == message.filter and known.closed == bool(message.closed):
            if is_client and known.expires != message.expires:
                known.expires = message.expires
                _persist(step, known)
                lease(tables, step, "advertisement", known.id, known.expires)
            return
        elif is_client:
            reason = "an id that is taken by another filter (unadvertise first)"
    if reason:
        refuse(tables, step, hop, message.advertisement, reason)
        return
    if known is not None:
        end_advertisement(tables, step, known)
    made = Advertisement(
        message.advertisement,
        message.filter,
        hop,
        tables.next_order(),
        closed=bool(message.closed),
        expires=message.expires if is_client else None,  # whose client it is sees to its end
    )
    drawn = _drawn_by(tables, hop, made) if isinstance(hop, Link) else []
    tables.put_advertisement(made)
    _persist(step, made)
    lease(tables, step, "advertisement", made.id, made.expires)
    if tables.routing.way == "advertisements":
        for link in tables.joined_links():
            if link is not hop:
                announce(tables, step, link, made)
    if drawn:
        assert isinstance(hop, Link)
        refresh_subscriptions(tables, step, hop, drawn)


def on_unadvertise(tables: Tables, step: Step, hop: Hop, message: Unadvertise) -> None:
    """End an advertisement of the one who asks; what is not known is over already."""
    known = (
        tables.advertisements.get(message.advertisement) if isinstance(message.advertisement, str) else None
    )
    if known is not None and known.hop is not hop:
        refuse(tables, step, hop, message.advertisement, "an end of somebody else's advertisement")
    elif known is not None:
        end_advertisement(tables, step, known)


def end_advertisement(tables: Tables, step: Step, advertisement: Advertisement) -> None:
    """Forget an advertisement; its hop's link keeps only the subscriptions that another one still draws."""
    hop = advertisement.hop
    tables.drop_advertisement(advertisement)
    step.persist(("advertisement", advertisement.id), None)
    for link in tables.links.values():
        unannounce(tables, step, link, advertisement.id)
    if isinstance(hop, Link) and hop.forwarded is not None and is_guided(tables, hop):
        there = [tables.subscriptions[each] for each in hop.forwarded]
        drawn = [
            each for each in there if overlaps(advertisement.filter, each.filter, closed=advertisement.closed)
        ]
        refresh_subscriptions(tables, step, hop, drawn)


def _drawn_by(tables: Tables, link: Link, advertisement: Advertisement) -> list[Subscription]:
    """The subscriptions that a new advertisement draws to a link, beyond those that are drawn there already."""
    if not is_guided(tables, link):
        return []
    others = link.advertisements.values()
    if len(others) <= _FEW and not advertisement.closed:
        for each in others:
            if not each.closed and each.filter.covers(advertisement.filter):
                return []
    return [
        each
        for each in tables.subscriptions.values()
        if each.hop is not link
        and (link.forwarded is None or each.id not in link.forwarded)
        and overlaps(advertisement.filter, each.filter, closed=advertisement.closed)
    ]


def _persist(step: Step, advertisement: Advertisement) -> None:
    message = Advertise(
        advertisement=advertisement.id,
        filter=advertisement.filter,
        closed=advertisement.closed,
        expires=advertisement.expires,
    )
    kind = "client" if isinstance(advertisement.hop, Client) else "broker"
    value = (message, kind, advertisement.hop.name, advertisement.order)
    step.persist(("advertisement", advertisement.id), value)
