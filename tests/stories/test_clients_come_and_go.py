"""Brokers whose clients come and go: each reader gets what it wants, as if every event went everywhere."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from thatch import Network, Routing, Topology
from thatch.reduction import Exact, Flooding, Merging
from thatch.runtime.client import Client, Subscription

pytestmark = pytest.mark.slow

STEPS = 120
Deliveries = list[tuple[int, str]]  # number of the event, and client


async def play(routing: Routing) -> tuple[Deliveries, Deliveries]:
    """Who got which event, and who should have by plain Python; the same story whatever the routing."""
    rng = Random(11)
    readers: dict[str, tuple[Client, Subscription, int, int]] = {}
    got: Deliveries = []
    wanted: Deliveries = []
    async with Network(Topology.tree(9), routing=routing) as net:
        feeds = [await net.connect(broker, f"feed at {broker}") for broker in rng.sample(net.brokers, 3)]
        for feed in feeds:
            await feed.advertise("price >= 0")
        for step in range(STEPS):
            if len(readers) < 4 or rng.random() < 0.5:
                low, size = rng.randrange(80), rng.randrange(1, 30)
                client = await net.connect(rng.choice(net.brokers), f"reader-{step}")
                asked = await client.subscribe(f"price between {low} and {low + size}")
                readers[client.name] = (client, asked, low, low + size)
            elif rng.random() < 0.5:
                name = rng.choice(sorted(readers))
                await readers.pop(name)[0].close()
            await net.settle()
            price = rng.randrange(110)
            await rng.choice(feeds).publish({"price": price, "number": step})
            await net.settle()
            wanted += [
                (step, name) for name, (_, _, low, high) in sorted(readers.items()) if low <= price <= high
            ]
            got += [(event["number"], name) for name, event in await unread(readers)]
    return got, wanted


async def unread(readers: dict[str, Any]) -> list[tuple[str, Any]]:
    """The events that wait for each reader."""
    return [
        (name, await asked.next())
        for name, (_, asked, _, _) in sorted(readers.items())
        for _ in range(asked.waiting)
    ]


@pytest.mark.parametrize(
    "routing",
    [
        Routing(policy=Exact()),
        Routing(policy=Merging(threshold=0.1)),
        Routing(way="subscriptions", policy=Exact()),
    ],
    ids=["exact", "merging", "without advertisements"],
)
def test_deliveries_are_those_of_flooding_and_of_plain_python(routing):
    got, wanted = asyncio.run(play(routing))
    assert got == wanted
    assert len(got) > 100
    assert asyncio.run(play(Routing(way="events", policy=Flooding())))[0] == got
