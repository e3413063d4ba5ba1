"""Subscriptions that come: from a client or a neighbour into the table, and on to the links where they belong."""

from __future__ import annotations

from thatch.broker.forwarding import belongs, forward, possible_links
from thatch.broker.leases import lease
from thatch.broker.messages import Subscribe
from thatch.broker.refusals import refuse, unusable_filter
from thatch.broker.step import Step
from thatch.broker.tables import Client, Hop, Subscription, Tables
from thatch.broker.unsubscribing import end_subscription, persist_subscription

__all__ = ["on_subscribe"]


def on_subscribe(tables: Tables, step: Step, hop: Hop, message: Subscribe) -> None:
    """Take in a subscription.

    Again from the same hop, it says nothing new, but a client may move its end. While the old one of that id is leaving,
    the new one takes its place; the unsubscription is acknowledged all the same when it is done.
    """
    reason = unusable_filter(tables, hop, message.subscription, message.filter, message.expires, step.now)
    known = None if reason else tables.subscriptions.get(message.subscription)
    if known is not None and known.leaving is None:
        if known.hop is not hop:
            reason = "an id that is taken"
        elif known.filter == message.filter:
            _move_end(tables, step, known, message.expires)
            return
        elif isinstance(hop, Client):
            reason = "an id that is taken by another filter (unsubscribe first)"
    if reason:
        refuse(tables, step, hop, message.subscription, reason)
        return
    if known is not None:
        _make_room(tables, step, known)
    # Whose client it is sees to its end.
    expires = message.expires if isinstance(hop, Client) else None
    made = Subscription(message.subscription, message.filter, hop, tables.next_order(), expires)
    tables.put_subscription(made)
    persist_subscription(step, made)
    lease(tables, step, "subscription", made.id, made.expires)
    for link in possible_links(tables):
        if belongs(tables, link, made):
            forward(tables, step, link, made)


def _move_end(tables: Tables, step: Step, subscription: Subscription, expires: float | None) -> None:
    if isinstance(subscription.hop, Client) and subscription.expires != expires:
        subscription.expires = expires
        persist_subscription(step, subscription)
        lease(tables, step, "subscription", subscription.id, expires)


def _make_room(tables: Tables, step: Step, known: Subscription) -> None:
    """Let a subscription give its id to another."""
    if known.leaving is None:
        end_subscription(tables, step, known, [])
    if known.id in tables.subscriptions:
        tables.drop_subscription(known)
