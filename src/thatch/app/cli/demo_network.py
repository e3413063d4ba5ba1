"""The middle part of `thatch demo`: quotes and alerts at seven brokers."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from thatch import ForwardingSet, Network, Topology, parse
from thatch.app.cli.output import note, progress, say

if TYPE_CHECKING:
    from thatch.runtime.client import Client, Subscription

__all__ = ["alerts_at_brokers"]

_DESKS = 100
_ROUND = 2_048  # quotes that all feeds publish in one go, each its own
_CHANGES = 50  # alerts that are replaced every second
_TRIED = 200  # quotes among which one with a short explanation is chosen


def alerts_at_brokers(
    alerts: Iterator[str],
    quotes: Iterator[dict[str, Any]],
    venues: Sequence[str],
    *,
    subscriptions: int,
    seconds: float,
) -> None:
    """Spread alerts over seven brokers in this process, publish quotes there, and print the rates.

    Parameters
    ----------
    alerts : an endless supply; while quotes are published, new ones replace old ones
    venues : the venues of quotes; each has a feed that advertises them
    subscriptions : number of alerts at any time
    seconds : how long to publish
    """
    with progress("compiling or loading kernels"):
        _prepare()
    asyncio.run(_run(alerts, quotes, venues, subscriptions, seconds))


def _prepare() -> None:
    """Load the kernels, so that the rates below are those of a running system."""
    note("\nStarting seven brokers. On a new machine this compiles kernels first, for about ten seconds.")
    started = time.perf_counter()
    warm = ForwardingSet()
    for number in range(200):
        warm.add(str(number), parse(f"price between {number} and {number + 2} and volume > {number % 7}"))
    for each in list(warm.active)[:20]:
        warm.remove(each)
    note(f"Kernels ready in {time.perf_counter() - started:.1f} s (compiled once, then cached).")


async def _run(
    alerts: Iterator[str],
    quotes: Iterator[dict[str, Any]],
    venues: Sequence[str],
    subscriptions: int,
    seconds: float,
) -> None:
    async with Network(Topology.tree(7)) as net:
        feeds = await _feeds(net, venues)
        where = ", ".join(f"{venue} at {feed.broker}" for venue, feed in feeds.items())
        note(f"b2 and b3 are linked to b1, b4 and b5 to b2, b6 and b7 to b3. Feeds advertise: {where}.")
        desks = await _Desks.at(net, alerts)
        started = time.perf_counter()
        with progress("subscribing", subscriptions) as meter:
            for _ in range(subscriptions):
                await desks.subscribe()
                meter.step()
            await net.settle()
        took = time.perf_counter() - started
        note(f"{subscriptions:,} alerts of {_DESKS} desks were propagated in {took:.1f} s.")
        await _publish(net, feeds, desks, quotes, seconds)
        if subscriptions:
            _print_forwarded(net, subscriptions)
            _explain_a_route(net, feeds, quotes)


async def _feeds(net: Network, venues: Sequence[str]) -> dict[str, Client]:
    """Connect a feed for each venue, at the brokers farthest from the middle."""
    feeds: dict[str, Client] = {}
    for broker, venue in zip(reversed(net.brokers), venues, strict=False):
        feeds[venue] = await net.connect(broker, f"feed of {venue}")
        await feeds[venue].advertise(f"venue = '{venue}'")
    return feeds


class _Desks:
    """Desks with alerts at all brokers. Their quotes are counted, not read."""

    def __init__(self, desks: Sequence[Client], alerts: Iterator[str]) -> None:
        self._desks = desks
        self._alerts = alerts
        self._number = 0
        self._alive: deque[Subscription] = deque()
        self._sent = 0  # for alerts that have ended

    @classmethod
    async def at(cls, net: Network, alerts: Iterator[str]) -> _Desks:
        """Connect the desks, round robin over the brokers."""
        brokers = net.brokers
        return cls([await net.connect(brokers[n % len(brokers)], f"desk-{n}") for n in range(_DESKS)], alerts)

    async def subscribe(self) -> None:
        """Add an alert."""
        desk = self._desks[self._number % _DESKS]
        wanted = desk.subscribe(next(self._alerts), subscription=f"alert-{self._number}")
        self._number += 1
        self._alive.append(await wanted)

    async def change(self) -> None:
        """Replace the oldest alert."""
        if self._alive:
            oldest = self._alive.popleft()
            await oldest.close()
            self._sent += oldest.waiting + oldest.dropped
            await self.subscribe()

    @property
    def sent(self) -> int:
        """The number of quotes delivered for alerts."""
        return self._sent + sum(each.waiting + each.dropped for each in self._alive)


async def _publish(
    net: Network, feeds: Mapping[str, Client], desks: _Desks, quotes: Iterator[dict[str, Any]], seconds: float
) -> None:
    """Publish quotes for some seconds and print the rates."""
    before = _messages(net)
    published = changed = 0
    started = last = time.perf_counter()
    while (now := time.perf_counter()) < started + seconds:
        by_venue: dict[str, list[dict[str, Any]]] = {}
        for quote in islice(quotes, _ROUND):
            by_venue.setdefault(quote["venue"], []).append(quote)
        await asyncio.gather(*(feeds[venue].publish_all(some) for venue, some in by_venue.items()))
        published += _ROUND
        while changed < (now - started) * _CHANGES:
            await desks.change()
            changed += 1
        if now - last >= 1:
            last = now
            sizes = " ".join(f"{net.broker(name).stats()['subscriptions']:,}" for name in net.brokers)
            note(
                f"    {published:>7,} quotes  {published / (now - started):>6,.0f} per second"
                f"  {desks.sent:>8,} alerts sent  {_messages(net) - before:>7,} messages between brokers"
                f"  tables: {sizes}"
            )
    await net.settle()
    rate = published / (time.perf_counter() - started)
    say(
        f"\n{published:,} quotes through seven brokers, {rate:,.0f} per second: {desks.sent:,} alerts sent,"
        f" {_messages(net) - before:,} messages between brokers"
    )


def _messages(net: Network) -> int:
    """The number of messages between brokers so far."""
    links = (link for name in net.brokers for link in net.broker(name).tables.links.values())
    return sum(link.channel.number for link in links)


def _print_forwarded(net: Network, count: int) -> None:
    """Print how many alerts were forwarded beyond the broker of their desk."""
    beyond = 0
    for name in net.brokers:
        tables = net.broker(name).tables
        told = {alert for link in tables.links.values() for alert in link.sent_subscriptions.told}
        beyond += sum(alert in told for desk in tables.clients.values() for alert in desk.subscriptions)
    say(
        f"Of {count:,} alerts only {beyond:,} were forwarded beyond their broker (policy exact):"
        " together they cover all others."
    )


def _explain_a_route(net: Network, feeds: Mapping[str, Client], quotes: Iterator[dict[str, Any]]) -> None:
    """Explain the route of one quote that reaches a few desks at several brokers."""
    routes = (net.explain_route(each, feeds[each["venue"]].broker) for each in islice(quotes, _TRIED))
    found = [route for route in routes if sum(bool(stop.clients) for stop in route.stops) > 1]
    if found:
        route = min(found, key=lambda each: len(str(each)))
        say(f"\nWhere would {route.event} go, and why?")
        say(str(route))
