"""The network in one process, and its client."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from thatch.broker.settings import Routing
from thatch.errors import (
    EventError,
    FilterSyntaxError,
    ParameterError,
    SubscriptionError,
    UnknownSubscriptionError,
)
from thatch.model.topology import Topology
from thatch.runtime.client import Client
from thatch.runtime.network import Network

EVERYWHERE = Routing(way="subscriptions")


def on(topology: Topology, deed: Callable[[Network], Awaitable[Any]], routing: Routing = EVERYWHERE) -> Any:
    """What a deed returns that is done on a network."""

    async def main() -> Any:
        async with Network(topology, routing=routing) as net:
            return await asyncio.wait_for(deed(net), 30)

    return asyncio.run(main())


async def pair(net: Network) -> tuple[Client, Client]:
    """A client at the first broker, and one at the last."""
    return await net.connect(net.brokers[0], "feed"), await net.connect(net.brokers[-1], "desk")


def test_events_reach_those_who_want_them():
    async def deed(net):
        feed, desk = await pair(net)
        events = await desk.subscribe("price < 150")
        await net.settle()
        for price in (180, 120, 200, 110):
            await feed.publish({"price": price})
        return [await events.next() for _ in range(2)]

    assert on(Topology.line(5), deed) == [{"price": 120}, {"price": 110}]


def test_without_a_topology_there_is_one_broker():
    async def main():
        async with Network() as net:
            desk = await net.connect("b1", "desk")
            await desk.advertise("true")
            events = await desk.subscribe({"x": [1]})
            await desk.publish({"x": 1})
            return net.brokers, await events.next()

    assert asyncio.run(main()) == (("b1",), {"x": 1})


def test_a_loop_over_a_subscription_reads_as_it_comes():
    async def deed(net):
        feed, desk = await pair(net)
        found = []

        async def read(events):
            async for event in events:
                found.append(event["x"])
                if len(found) == 3:
                    break

        async with asyncio.TaskGroup() as group:
            group.create_task(read(await desk.subscribe("x > 0")))
            await net.settle()
            for number in range(1, 4):
                await feed.publish({"x": number})
        return found

    assert on(Topology.line(3), deed) == [1, 2, 3]


def test_what_is_read_in_a_with_block_ends_with_it():
    async def deed(net):
        feed, desk = await pair(net)
        async with desk.subscribe("x > 0") as events:
            await net.settle()
            await feed.publish({"x": 1})
            await net.settle()
        await net.settle()
        assert all(not net.broker(name).tables.subscriptions for name in net.brokers)
        await feed.publish({"x": 2})
        await net.settle()
        return [event async for event in events]

    assert on(Topology.line(3), deed) == [{"x": 1}]


def test_a_subscription_that_nobody_holds_ends():
    async def deed(net):
        feed, desk = await pair(net)
        await net.settle()
        await asyncio.gather(_first(desk), _publish_until_read(net, feed))
        gc.collect()
        await asyncio.sleep(0)
        await net.settle()
        return [len(net.broker(name).tables.subscriptions) for name in net.brokers]

    async def _first(desk):
        async for _ in desk.subscribe("x > 0"):
            break

    async def _publish_until_read(net, feed):
        await net.settle()
        await feed.publish({"x": 1})

    assert on(Topology.line(3), deed) == [0, 0, 0]


def test_a_slow_reader_loses_the_oldest_events_and_knows_how_many():
    async def deed(net):
        feed, desk = await pair(net)
        events = await desk.subscribe("x >= 0", limit=3)
        await net.settle()
        for number in range(10):
            await feed.publish({"x": number})
        await net.settle()
        return events.waiting, events.dropped, [(await events.next())["x"] for _ in range(3)]

    assert on(Topology.line(2), deed) == (3, 7, [7, 8, 9])


def test_what_the_broker_refuses_is_raised_where_it_was_asked():
    async def deed(net):
        feed, desk = await pair(net)
        with pytest.raises(EventError, match="advertised"):
            await feed.publish({"x": 1})
        with pytest.raises(FilterSyntaxError):
            desk.subscribe("x >")
        with pytest.raises(SubscriptionError, match="past"):
            await desk.subscribe("x > 0", expires=5.0)
        with pytest.raises(SubscriptionError, match="past"):
            async for _ in desk.subscribe("x > 0", expires=5.0):
                pass
        with pytest.raises(SubscriptionError, match="past"):
            await feed.advertise("x > 0", expires=5.0)
        await feed.advertise("x > 0", advertisement="a")
        await feed.publish({"x": 1})
        await feed.unadvertise("a")
        with pytest.raises(EventError):
            await feed.publish({"x": 1})

    on(Topology.line(2), deed, Routing())


def test_a_refused_subscription_that_nobody_asks_about_warns_of_nothing():
    async def deed(net):
        _, desk = await pair(net)
        desk.subscribe("x > 0", expires=5.0)
        await net.settle()
        gc.collect()
        assert len(net.broker(desk.broker).tables.subscriptions) == 0

    on(Topology.line(2), deed)


def test_ids_are_the_callers_or_made_up():
    async def deed(net):
        _, desk = await pair(net)
        mine, other = await desk.subscribe("x > 0", subscription="mine"), await desk.subscribe("x > 0")
        with pytest.raises(SubscriptionError, match="Duplicate id"):
            desk.subscribe("x > 1", subscription="mine")
        await desk.unsubscribe("mine")
        with pytest.raises(UnknownSubscriptionError):
            await desk.unsubscribe("mine")
        return mine.id, other.id, repr(other)

    assert on(Topology.line(1), deed) == ("mine", "desk/1", "<Subscription 'desk/1': x > 0>")


def test_a_client_that_leaves_takes_all_with_it():
    async def deed(net):
        feed, desk = await pair(net)
        async with desk:
            events = desk.subscribe("x > 0")
            await desk.advertise("true")
            await net.settle()
        await net.settle()
        assert [event async for event in events] == []
        assert all(not net.broker(name).tables.subscriptions for name in net.brokers)
        with pytest.raises(ParameterError, match="has left"):
            desk.subscribe("x > 0")
        with pytest.raises(ParameterError, match="has left"):
            await desk.publish({"x": 1})
        await events.close()
        await desk.close()
        assert repr(await net.connect("b1", "desk")) == "<Client 'desk' at 'b1'>"
        return feed

    on(Topology.line(2), deed)


def test_names_are_checked():
    async def deed(net):
        await net.connect("b1", "desk")
        for broker, name in (("none", "c"), ("b1", "desk"), ("b2", "desk"), ("b1", ""), ("b1", 5)):
            with pytest.raises(ParameterError):
                await net.connect(broker, name)
        with pytest.raises(ParameterError):
            net.explain_route({}, "none")

    on(Topology.line(2), deed)


def test_the_publisher_may_change_its_event_afterwards():
    async def deed(net):
        feed, desk = await pair(net)
        events = await desk.subscribe("x > 0")
        await net.settle()
        event = {"x": 1, "more": {"list": [1]}}
        await feed.publish(event)
        event["more"]["list"].append(2)
        return await events.next()

    assert on(Topology.line(2), deed) == {"x": 1, "more": {"list": [1]}}


def test_after_the_end_streams_end_and_calls_are_refused():
    async def main():
        async with Network(Topology.line(2), routing=EVERYWHERE) as net:
            _, desk = await pair(net)
            events = await desk.subscribe("x > 0")
            reading = asyncio.create_task(events.next())
            await asyncio.sleep(0)
        with pytest.raises(StopAsyncIteration):
            await reading
        with pytest.raises(ParameterError, match="has left"):
            await desk.publish({"x": 1})
        with pytest.raises(ParameterError, match="not running"):
            await net.connect("b1", "late")
        await events.close()
        await desk.close()

    asyncio.run(main())
    with pytest.raises(ParameterError, match="not running"):
        asyncio.run(Network().connect("b1", "early"))


def test_an_error_of_the_body_is_passed_on():
    async def main():
        async with Network(Topology.line(2)):
            raise KeyError("mine")

    with pytest.raises(KeyError):
        asyncio.run(main())


def test_a_broker_that_fails_ends_the_network_with_its_error():
    async def main():
        async with Network(Topology.line(3), routing=EVERYWHERE) as net:
            feed, desk = await pair(net)
            events = await desk.subscribe("x > 0")
            await net.settle()
            net.broker("b2").handle = None  # a bug of ours
            await feed.publish({"x": 1})
            await events.next()

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(main())
    assert caught.group_contains(TypeError)


def test_many_publish_at_once_and_all_arrives_once():
    async def deed(net):
        desk = await net.connect("b7", "desk")
        events = await desk.subscribe("x >= 0", limit=10_000)
        await net.settle()
        feeds = [await net.connect(broker, f"feed-{broker}") for broker in net.brokers]

        async def publish(feed, start):
            for number in range(start, start + 50):
                await feed.publish({"x": number})

        await asyncio.gather(*(publish(feed, 100 * place) for place, feed in enumerate(feeds)))
        await net.settle()
        return sorted([(await events.next())["x"] for _ in range(events.waiting)])

    assert on(Topology.tree(7), deed) == [100 * place + n for place in range(7) for n in range(50)]


def test_the_route_of_an_event_is_told_without_publishing_it():
    async def deed(net):
        feed, desk = await pair(net)
        events = await desk.subscribe("x > 5", subscription="high")
        await net.settle()
        route = net.explain_route({"x": 6}, "b2")
        assert events.waiting == 0
        assert route.brokers == ("b2", "b3")
        assert route.clients == {"desk": ("high",)}
        assert str(route).splitlines() == [
            "b2: published here",
            "  not to b1: nobody there wants it",
            "  to b3: wanted by high",
            "b3: from b2",
            "  delivered to desk: high",
        ]
        assert net.explain_route({"x": 1}, "b1").brokers == ("b1",)
        await net.switch(Routing(way="events"))
        await net.settle()
        assert "not all subscriptions are known" in str(net.explain_route({"x": 1}, "b1"))
        return feed

    on(Topology.line(3), deed)


def test_the_way_can_be_switched_while_running():
    async def deed(net):
        feed, desk = await pair(net)
        events = await desk.subscribe("x > 5")
        for way in ("events", "subscriptions"):
            await net.switch(Routing(way=way))
            await feed.publish({"x": 6})
        await net.settle()
        return events.waiting

    assert on(Topology.line(3), deed) == 2
