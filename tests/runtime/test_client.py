"""What clients of a network do to each other: nothing."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from tests.runtime.test_network import on, pair
from thatch.errors import EventError, SubscriptionError
from thatch.model.topology import Topology


def test_readers_and_publishers_may_change_their_events():
    async def deed(net):
        feed, near = await net.connect("b1", "feed"), await net.connect("b1", "near")
        far = await net.connect("b4", "far")
        first, second = await near.subscribe("price < 150"), await near.subscribe("exists(price)")
        third = await far.subscribe("price < 150")
        await net.settle()
        event = {"price": 120, "legs": [{"price": 1}]}
        reading = asyncio.create_task(first.next())
        publishing = asyncio.create_task(feed.publish(event))
        await asyncio.sleep(0)
        event["price"] = 900
        event["legs"][0]["price"] = 900
        got = await reading
        got["price"] = 500
        got["legs"].clear()
        await publishing
        return await second.next(), await third.next()

    expected = {"price": 120, "legs": [{"price": 1}]}
    assert on(Topology.line(4), deed) == (expected, expected)


def test_an_event_that_cannot_be_encoded_is_refused():
    async def deed(net):
        feed, _ = await pair(net)
        with pytest.raises(EventError, match="a number or text, got a lock"):
            await feed.publish({"x": threading.Lock()})

    on(Topology.line(1), deed)


def test_a_client_that_was_cancelled_while_it_connected_leaves_its_name():
    async def deed(net):
        connecting = asyncio.create_task(net.connect("b1", "desk"))
        await asyncio.sleep(0)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        desk = await net.connect("b1", "desk")
        events = await desk.subscribe("x > 0")
        await net.settle()
        await desk.publish({"x": 1})
        return await events.next()

    assert on(Topology.line(1), deed) == {"x": 1}


def test_a_client_that_was_cancelled_while_it_left_has_left():
    async def deed(net):
        desk = await net.connect("b1", "desk")
        leaving = asyncio.create_task(desk.close())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        await net.connect("b1", "desk")
        await net.settle()
        return net.broker("b1").stats()["clients"]

    assert on(Topology.line(1), deed) == 1


def test_what_is_left_of_a_refused_subscription_does_not_end_another_of_its_id():
    async def deed(net):
        feed, desk = await pair(net)
        refused = desk.subscribe("x > 0", subscription="s", expires=1.0)
        with pytest.raises(SubscriptionError):
            await refused
        events = await desk.subscribe("x > 0", subscription="s")
        await refused.close()
        del refused
        gc.collect()
        await net.settle()
        await feed.publish({"x": 1})
        return await events.next()

    assert on(Topology.line(2), deed) == {"x": 1}
