"""The end of a subscription: a handshake, so that whoever ends it knows when it is over everywhere.

At once it is taken out of what links forward: what only it had covered is sent first, then the unsubscription. It stays
in the table as leaving, and still guides events towards a neighbour, until every link that was asked has acknowledged;
then it is forgotten and the one who asked is told. Paper 004 withdraws before it forwards what was covered: a window in
which events are lost. What happens to one subscription, by where its message comes from:

    state     Subscribe             Unsubscribe                 acknowledged by all, or they are gone
    unknown   live                  acknowledged                ignored
    live      nothing, or refused   leaving (or unknown, if     ignored
                                    no link has to be asked)
    leaving   live                  will be acknowledged too    unknown
"""

from __future__ import annotations

from thatch.broker.effects import Confirm
from thatch.broker.forwarding import retract
from thatch.broker.messages import Subscribe, Unsubscribe, Unsubscribed
from thatch.broker.refusals import ignore, refuse
from thatch.broker.step import Step
from thatch.broker.tables import Client, Hop, Link, Pending, Subscription, Tables

__all__ = [
    "end_all_of",
    "end_subscription",
    "on_unsubscribe",
    "on_unsubscribed",
    "persist_subscription",
    "settle_without",
]


def on_unsubscribe(tables: Tables, step: Step, hop: Hop, message: Unsubscribe) -> None:
    """End a subscription of the one who asks; what is not known is over already."""
    if not isinstance(message.request, str):
        refuse(tables, step, hop, message.subscription, "a request that is no text")
        return
    known = tables.subscriptions.get(message.subscription) if isinstance(message.subscription, str) else None
    if known is not None and known.hop is not hop:
        refuse(tables, step, hop, message.subscription, "an unsubscription for somebody else's subscription")
        if isinstance(hop, Client):
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
    tables: Tables, step: Step, subscription: Subscription, owed: list[tuple[Hop, str]]
) -> None:
    """Take a live subscription back from all links, and forget it as soon as they have acknowledged.

    Parameters
    ----------
    owed : who wants to be told then, with the request of each
    """
    pending = Pending(tables.next_order(), subscription.id, owed)
    for link in [each for each in tables.links.values() if each.forwarded is not None]:
        for request in retract(tables, step, link, subscription.id, asks=True):
            pending.waiting[request] = link.name
            tables.awaited[request] = pending
    if isinstance(subscription.hop, Client):
        tables.silence(subscription)
    subscription.leaving = pending
    if pending.waiting:
        persist_subscription(step, subscription)
        _persist_pending(step, pending)
    else:
        _finish(tables, step, pending)


def end_all_of(tables: Tables, step: Step, hop: Hop) -> None:
    """A hop is gone: its subscriptions end, and are forgotten at once, since nobody is there to be told of events.

    Those that no neighbour knows go first: so none of them becomes known only to be taken back.
    """
    for pending in {id(each): each for each in tables.awaited.values()}.values():
        if any(whom is hop for whom, _ in pending.owed):
            pending.owed = [each for each in pending.owed if each[0] is not hop]
            _persist_pending(step, pending)
    for subscription in sorted(hop.subscriptions.values(), key=lambda each: _is_told(tables, each.id)):
        if subscription.leaving is None:
            end_subscription(tables, step, subscription, [])
        if subscription.id in hop.subscriptions:
            tables.drop_subscription(subscription)
            step.persist(("subscription", subscription.id), None)


def _is_told(tables: Tables, subscription: str) -> bool:
    return any(
        link.forwarded is not None and subscription in link.forwarded.told for link in tables.links.values()
    )


def on_unsubscribed(tables: Tables, step: Step, link: Link, message: Unsubscribed) -> None:
    """A link has done what was asked."""
    pending = tables.awaited.get(message.request) if isinstance(message.request, str) else None
    if pending is None or pending.waiting[message.request] != link.name:
        ignore(tables, step, link.name, "an acknowledgement of what was not asked")
        return
    _settle(tables, step, pending, message.request)


def settle_without(tables: Tables, step: Step, neighbour: str) -> None:
    """A neighbour has forgotten all, or is gone: whatever it was asked to end is over there."""
    for request, pending in list(tables.awaited.items()):
        if pending.waiting.get(request) == neighbour:
            _settle(tables, step, pending, request)


def persist_subscription(step: Step, subscription: Subscription) -> None:
    """Keep a subscription of the table."""
    message = Subscribe(
        subscription=subscription.id, filter=subscription.filter, expires=subscription.expires
    )
    pending = 0 if subscription.leaving is None else subscription.leaving.id
    value = (message, *_named(subscription.hop), subscription.order, pending)
    step.persist(("subscription", subscription.id), value)


def _settle(tables: Tables, step: Step, pending: Pending, request: str) -> None:
    del tables.awaited[request], pending.waiting[request]
    if pending.waiting:
        _persist_pending(step, pending)
    else:
        _finish(tables, step, pending)


def _finish(tables: Tables, step: Step, pending: Pending) -> None:
    subscription = tables.subscriptions.get(pending.subscription)
    if subscription is not None and subscription.leaving is pending:  # else another has taken its place
        tables.drop_subscription(subscription)
        step.persist(("subscription", subscription.id), None)
    step.persist(("pending", str(pending.id)), None)
    for hop, request in pending.owed:
        _acknowledge(step, hop, request)


def _acknowledge(step: Step, hop: Hop, request: str) -> None:
    if isinstance(hop, Client):
        step.effects.append(Confirm(cause=step.cause, client=hop.name, request=request))
    elif request:
        hop.channel.send(step, Unsubscribed(request))


def _persist_pending(step: Step, pending: Pending) -> None:
    owed = tuple((*_named(hop), request) for hop, request in pending.owed)
    value = (pending.subscription, owed, tuple(pending.waiting.items()))
    step.persist(("pending", str(pending.id)), value)


def _named(hop: Hop) -> tuple[str, str]:
    return ("client" if isinstance(hop, Client) else "broker", hop.name)
