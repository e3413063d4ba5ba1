"""What clients of a network do to each other: nothing."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from tests.runtime.test_network import on, pair
from thatch.broker.settings import Routing
from thatch.errors import EventError, ParameterError, SubscriptionError
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


def test_many_events_are_published_and_those_that_are_refused_are_named_by_their_place():
    async def deed(net):
        feed, desk = await net.connect("b1", "feed"), await net.connect("b2", "desk")
        await feed.advertise("x >= 0")
        events = await desk.subscribe("x between 500 and 1200", limit=2_000)
        await net.settle()
        published = [{"x": number} for number in range(1_300)]
        published[3] = {"x": -1}
        published[700] = {"x": object()}
        published[1_299] = {"x": b"bytes"}
        done = await feed.publish_all(iter(published))
        await net.settle()
        return done, [(await events.next())["x"] for _ in range(events.waiting)]

    done, got = on(Topology.line(2), deed, Routing())
    assert got == [number for number in range(500, 1_201) if number != 700]
    assert done.published == 1_297
    assert [each.place for each in done.refused] == [3, 700, 1_299]
    assert done.refused[0].reason == "an event that the client has not advertised"
    assert "a number or text" in done.refused[1].reason


def test_an_event_under_a_number_that_was_used_is_not_published_again():
    async def deed(net):
        feed, desk = await pair(net)
        events = await desk.subscribe("x > 0")
        await net.settle()
        first = await feed.publish({"x": 1})
        assert await feed.publish({"x": 1}, number=1) == first == "feed#1"
        assert await feed.publish({"x": 2}, number=9) == "feed#9"
        assert await feed.publish({"x": 3}) == "feed#10"
        again = await feed.publish_all([{"x": 3}, {"x": 4}], first=10)
        await net.settle()
        return again, [(await events.next())["x"] for _ in range(events.waiting)]

    assert on(Topology.line(2), deed) == ((2, ()), [1, 2, 3, 4])


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "1", 2**63])
def test_a_number_of_an_event_is_a_whole_number_above_zero(number):
    async def deed(net):
        feed, _ = await pair(net)
        with pytest.raises(ParameterError, match="number"):
            await feed.publish({"x": 1}, number=number)
        with pytest.raises(ParameterError, match="number"):
            await feed.publish_all([{"x": 1}], first=number)
        return await feed.publish({"x": 1})

    assert on(Topology.line(1), deed) == "feed#1"


def test_a_single_event_that_is_refused_is_an_error_with_its_id():
    async def deed(net):
        feed = await net.connect("b1", "feed")
        await feed.advertise("x > 0")
        with pytest.raises(EventError, match="not advertised - at feed#1"):
            await feed.publish({"x": -1})

    on(Topology.line(1), deed, Routing())


def test_publishers_that_wait_do_not_overtake_each_other(monkeypatch):
    """A number that was taken and comes after a later one would count as sent again."""
    monkeypatch.setattr("thatch.runtime.broker_task._MOST_IN_FLIGHT", 3)

    async def deed(net):
        feed, desk = await pair(net)
        events = await desk.subscribe("x >= 0")
        await net.settle()
        many = (feed.publish_all([{"x": 10 * each + step} for step in range(5)]) for each in range(10))
        one = (feed.publish({"x": 100 + each}) for each in range(20))
        await asyncio.gather(*many, *one)
        await net.settle()
        return sorted([(await events.next())["x"] for _ in range(events.waiting)])

    expected = sorted([10 * each + step for each in range(10) for step in range(5)] + list(range(100, 120)))
    assert on(Topology.line(3), deed) == expected
