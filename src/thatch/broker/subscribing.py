"""Subscriptions that come and end.

A new subscription goes into the table and on to the links where it belongs. Its end is a handshake, so that whoever ends
it knows when it is over everywhere. At once it is removed from what links forward: what only it covered is sent first,
then the unsubscription. (li2005 withdraws first, which leaves a window in which events are lost.) It stays in the table
as leaving, and still guides events towards a neighbour, until every link that was asked has acknowledged; then it is
forgotten, and the one who asked is told. What happens to one subscription:

    state     Subscribe             Unsubscribe                 acknowledged by all, or they are gone
    unknown   live                  acknowledged                ignored
    live      nothing, or refused   leaving (or unknown, if     ignored
                                    no link has to be asked)
    leaving   live                  will be acknowledged too    unknown
"""

from __future__ import annotations

from thatch.broker.effects import Confirm
from thatch.broker.expiry import schedule_expiry
from thatch.broker.forwarding import forward, links_for, retract
from thatch.broker.messages import Subscribe, Unsubscribe, Unsubscribed
from thatch.broker.step import BrokerStep
from thatch.broker.tables import BrokerLink, Hop, KnownSubscription, LocalClient, Pending, RoutingTables

__all__ = [
    "end_all_of",
    "end_subscription",
    "on_subscribe",
    "on_unsubscribe",
    "on_unsubscribed",
    "settle_without",
]


def on_subscribe(tables: RoutingTables, step: BrokerStep, hop: Hop, message: Subscribe) -> None:
    """Add a subscription.

    The same one from the same hop changes nothing, but a client may move its expiry, and make it durable or not. If an old one of that id is leaving,
    the new one replaces it; the unsubscription of the old one is still acknowledged when it is done.
    """
    reason = tables.reason_to_refuse(hop, message.subscription, message.filter, message.expires, step.now)
    reason = reason or _reason_to_refuse_flag(message)
    known = None if reason else tables.subscriptions.get(message.subscription)
    if known is not None and known.leaving is None:
        if known.hop is not hop:
            reason = "an id that is taken"
            tables.contest(step, hop, known)
        elif known.filter == message.filter:
            if isinstance(hop, LocalClient):
                _renew(tables, step, known, message)
            return
        elif isinstance(hop, LocalClient):
            reason = "an id that is taken by another filter (unsubscribe first)"
    if reason:
        tables.refuse(step, hop, message.subscription, reason)
        return
    if known is not None:  # its id becomes free at once
        if known.leaving is None:
            end_subscription(tables, step, known, [])
        if known.id in tables.subscriptions:
            tables.drop_subscription(known)
    # Only the broker of the client ends it.
    expires = message.expires if isinstance(hop, LocalClient) else None
    made = KnownSubscription(message.subscription, message.filter, hop, tables.next_order(), expires)
    made.durable = message.durable and isinstance(hop, LocalClient)
    tables.put_subscription(made)
    _persist_subscription(step, made)
    schedule_expiry(tables, step, made)
    for link in links_for(tables, made):
        forward(tables, step, link, link.sent_subscriptions, made)


def _reason_to_refuse_flag(message: Subscribe) -> str:
    if isinstance(message.durable, bool):
        return ""
    return "a flag that is neither true nor false"


def _renew(tables: RoutingTables, step: BrokerStep, known: KnownSubscription, message: Subscribe) -> None:
    """Take over what a client says anew of a subscription: when it ends, and whether it is durable."""
    if (known.expires, known.durable) != (message.expires, message.durable):
        known.expires, known.durable = message.expires, message.durable
        tables.note_durable(known)
        _persist_subscription(step, known)
        schedule_expiry(tables, step, known)


def on_unsubscribe(tables: RoutingTables, step: BrokerStep, hop: Hop, message: Unsubscribe) -> None:
    """End a subscription of the hop that asks; what is not known has ended already."""
    if not isinstance(message.request, str):
        tables.refuse(step, hop, message.subscription, "a request that is not text")
        return
    known = tables.subscriptions.get(message.subscription) if isinstance(message.subscription, str) else None
    if known is not None and known.hop is not hop:
        tables.refuse(step, hop, message.subscription, "the end of another's subscription")
        if isinstance(hop, LocalClient):
            return
        known = None
    if known is None:
        _acknowledge(step, hop, message.request)
    elif known.leaving is not None:
        known.leaving.owed.append((hop, message.request))
        _persist_pending(step, known.leaving)
    else:
        end_subscription(tables, step, known, [(hop, message.request)])


def end_subscription(
    tables: RoutingTables, step: BrokerStep, subscription: KnownSubscription, owed: list[tuple[Hop, str]]
) -> None:
    """Take a live subscription back from all links; when they have acknowledged, forget it and tell those it is `owed`."""
    pending = Pending(tables.next_order(), subscription.id, owed)
    for link in tables.links.values():
        for request in retract(
            tables, step, link, link.sent_subscriptions, subscription.id, acknowledged=True
        ):
            pending.waiting[request] = link.name
            tables.awaited[request] = pending
    if isinstance(subscription.hop, LocalClient):
        tables.stop_deliveries(subscription)
    subscription.leaving = pending
    if pending.waiting:
        _persist_subscription(step, subscription)
        _persist_pending(step, pending)
    else:
        _finish(tables, step, pending)


def end_all_of(tables: RoutingTables, step: BrokerStep, hop: Hop) -> None:
    """End the subscriptions of a hop that is gone; they are forgotten at once, since nobody is there to get events.

    Those that no neighbour knows go first, so that none of them is sent only to be taken back.
    """
    for pending in {id(each): each for each in tables.awaited.values()}.values():
        if any(whom is hop for whom, _ in pending.owed):
            pending.owed = [each for each in pending.owed if each[0] is not hop]
            _persist_pending(step, pending)
    links = tables.links.values()
    for subscription in sorted(
        hop.subscriptions.values(),
        key=lambda each: any(each.id in link.sent_subscriptions.told for link in links),
    ):
        if subscription.leaving is None:
            end_subscription(tables, step, subscription, [])
        if subscription.id in hop.subscriptions:
            tables.drop_subscription(subscription)
            step.persist(("subscription", subscription.id), None)


def on_unsubscribed(tables: RoutingTables, step: BrokerStep, link: BrokerLink, message: Unsubscribed) -> None:
    """Note that a neighbour has acknowledged an unsubscription."""
    pending = tables.awaited.get(message.request) if isinstance(message.request, str) else None
    if pending is None or pending.waiting[message.request] != link.name:
        tables.ignore(step, link.name, "an acknowledgement of what was not asked")
        return
    _settle(tables, step, pending, message.request)


def settle_without(tables: RoutingTables, step: BrokerStep, neighbour: str) -> None:
    """Take as acknowledged what a neighbour was asked to end: it has lost its memory, or is gone."""
    for request, pending in list(tables.awaited.items()):
        if pending.waiting.get(request) == neighbour:
            _settle(tables, step, pending, request)


def _persist_subscription(step: BrokerStep, subscription: KnownSubscription) -> None:
    message = Subscribe(
        subscription=subscription.id,
        filter=subscription.filter,
        expires=subscription.expires,
        durable=subscription.durable,
    )
    pending = 0 if subscription.leaving is None else subscription.leaving.id
    value = (message, subscription.hop.kind, subscription.hop.name, subscription.order, pending)
    step.persist(("subscription", subscription.id), value)


def _settle(tables: RoutingTables, step: BrokerStep, pending: Pending, request: str) -> None:
    del tables.awaited[request], pending.waiting[request]
    if pending.waiting:
        _persist_pending(step, pending)
    else:
        _finish(tables, step, pending)


def _finish(tables: RoutingTables, step: BrokerStep, pending: Pending) -> None:
    subscription = tables.subscriptions.get(pending.subscription)
    if subscription is not None and subscription.leaving is pending:  # else another one has its id
        tables.drop_subscription(subscription)
        step.persist(("subscription", subscription.id), None)
    step.persist(("pending", str(pending.id)), None)
    for hop, request in pending.owed:
        _acknowledge(step, hop, request)


def _acknowledge(step: BrokerStep, hop: Hop, request: str) -> None:
    if isinstance(hop, LocalClient):
        step.effects.append(Confirm(cause=step.cause, client=hop.name, request=request))
    elif request:
        hop.channel.send(step, Unsubscribed(request))


def _persist_pending(step: BrokerStep, pending: Pending) -> None:
    owed = tuple((hop.kind, hop.name, request) for hop, request in pending.owed)
    value = (pending.subscription, owed, tuple(pending.waiting.items()))
    step.persist(("pending", str(pending.id)), value)
