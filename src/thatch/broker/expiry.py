"""Subscriptions and advertisements that expire: the broker of the client ends them like an unsubscription.

No other broker looks at the clock, so that a subscription that covers others ends everywhere in an order that loses no
event.
"""

from __future__ import annotations

from heapq import heappop, heappush

from thatch.broker.step import BrokerStep
from thatch.broker.tables import KnownAdvertisement, KnownSubscription, RoutingTables

__all__ = ["EXPIRY_TIMER", "pop_expired", "schedule_expiry", "set_expiry_timer"]

EXPIRY_TIMER = "expiry"


def schedule_expiry(
    tables: RoutingTables, step: BrokerStep, entry: KnownSubscription | KnownAdvertisement
) -> None:
    """Remember when an entry ends, if it ends by itself."""
    if entry.expires is None:
        return
    is_first = not tables.expiries or entry.expires < tables.expiries[0][0]
    heappush(tables.expiries, (entry.expires, entry.kind, entry.id))
    if is_first:
        set_expiry_timer(tables, step)


def set_expiry_timer(tables: RoutingTables, step: BrokerStep) -> None:
    """Ask to be called back when the first of all ends."""
    if tables.expiries:
        step.set_timer(EXPIRY_TIMER, tables.expiries[0][0])


def pop_expired(tables: RoutingTables, now: float) -> list[KnownSubscription | KnownAdvertisement]:
    """What has expired by now and has not been ended in another way."""
    ended: list[KnownSubscription | KnownAdvertisement] = []
    while tables.expiries and tables.expiries[0][0] <= now:
        expires, kind, about = heappop(tables.expiries)
        entry = (tables.subscriptions if kind == KnownSubscription.kind else tables.advertisements).get(about)
        if entry is not None and entry.expires == expires and entry.leaving is None:
            ended.append(entry)
    return ended
