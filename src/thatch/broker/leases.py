"""Ends that clients have set: the broker of the client ends a subscription or advertisement in the usual way.

No other broker looks at the time: so what covers something ends everywhere in the order that keeps deliveries whole.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Literal

from thatch.broker.step import Step
from thatch.broker.tables import Advertisement, Subscription, Tables

__all__ = ["TIMER", "expired", "lease", "set_lease_timer"]

TIMER = "leases"


def lease(
    tables: Tables,
    step: Step,
    kind: Literal["subscription", "advertisement"],
    about: str,
    expires: float | None,
) -> None:
    """Remember when something ends."""
    if expires is None:
        return
    is_first = not tables.leases or expires < tables.leases[0][0]
    heappush(tables.leases, (expires, kind, about))
    if is_first:
        set_lease_timer(tables, step)


def set_lease_timer(tables: Tables, step: Step) -> None:
    """Ask to be called back at the first end."""
    if tables.leases:
        step.set_timer(TIMER, tables.leases[0][0])


def expired(tables: Tables, now: float) -> list[Subscription | Advertisement]:
    """What has ended by now, and is still there and not leaving."""
    ended: list[Subscription | Advertisement] = []
    while tables.leases and tables.leases[0][0] <= now:
        expires, kind, about = heappop(tables.leases)
        if kind == "subscription":
            subscription = tables.subscriptions.get(about)
            if subscription is not None and subscription.expires == expires and subscription.leaving is None:
                ended.append(subscription)
        else:
            advertisement = tables.advertisements.get(about)
            if advertisement is not None and advertisement.expires == expires:
                ended.append(advertisement)
    return ended
