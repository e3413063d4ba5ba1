"""Other ways and policies while the network runs."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.broker.pump import Pump
from thatch.broker.messages import Complete, Publish, Subscribe, Unadvertise, Unsubscribe
from thatch.broker.settings import Routing
from thatch.broker.stimuli import RoutingSwitched
from thatch.reduction.forwarding.policies import Exact, Flooding

BY_ADVERTISEMENTS = Routing(way="advertisements")
EVERYWHERE = Routing(way="subscriptions")
BY_EVENTS = Routing(way="events")
WAYS = (BY_ADVERTISEMENTS, EVERYWHERE, BY_EVENTS)


@pytest.mark.parametrize(("before", "after"), list(permutations(WAYS, 2)), ids=lambda routing: routing.way)
def test_at_no_moment_of_a_change_an_event_is_lost(before: Routing, after: Routing) -> None:
    for order in permutations("abc"):
        net = Pump("a-b b-c", before)
        net.advertise("a", "ad", "x >= 0")
        net.advertise("c", "other", "y >= 0")
        net.subscribe("c", "s", "x = 1")
        net.subscribe("a", "t", "y = 1")
        net.is_eager = False
        for name in order:
            net.do(name, RoutingSwitched(now=0, routing=after))
            for count in (0, 1, 2, 3, 5):
                for _ in range(count):
                    if net.packets:
                        net.deliver()
                net.publish("a", "ad", {"x": 1}, checks=False)
                net.publish("c", "other", {"y": 1}, checks=False)
        net.run()
        net.check()
        assert not [each for _, each in net.told if type(each).__name__ in ("Refuse", "Ignored")]
        assert len(net.delivered) == len(set(net.delivered)) == sum(net.numbers.values())


def test_nothing_needs_to_be_said_where_all_route_alike() -> None:
    net = Pump("a-b b-c", BY_ADVERTISEMENTS)
    net.subscribe("a", "s", "x = 1")
    assert not [message for *_, message in net.sent if isinstance(message, Complete)]


def test_one_broker_that_forwards_no_advertisements_draws_all_subscriptions() -> None:
    net = Pump("a-b b-c", BY_ADVERTISEMENTS)
    net.subscribe("c", "s", "x = 1")
    assert net.known("a") == set()
    net.switch(EVERYWHERE, "a")
    assert net.known("a") == {"s"}
    assert net.publish("a", "nobody", {"x": 1}) == ["s"]
    net.switch(BY_ADVERTISEMENTS, "a")
    assert net.known("a") == net.known("b") == set()


def test_one_broker_that_forwards_no_subscriptions_gets_all_events() -> None:
    net = Pump("a-b b-c", EVERYWHERE)
    net.switch(BY_EVENTS, "c")
    net.subscribe("c", "s", "x = 1")
    assert net.known("a") == net.known("b") == set()
    assert net.publish("a", "nobody", {"x": 1}) == ["s"]
    net.sent.clear()
    assert net.publish("a", "nobody", {"x": 2}) == []
    assert len([message for *_, message in net.sent if isinstance(message, Publish)]) == 2


def test_what_is_no_longer_complete_is_said_before_anything_is_taken_back() -> None:
    net = Pump("a-b", BY_ADVERTISEMENTS)
    net.advertise("a", "ad", "x >= 0")
    net.sent.clear()
    net.switch(EVERYWHERE, "a")
    said = [message for sender, _, message in net.sent if sender == "a"]
    assert said == [Complete(True, False), Unadvertise("ad")]


def test_another_policy_sends_what_is_missing_and_then_takes_back_what_is_too_much() -> None:
    net = Pump("a-b", Routing(way="subscriptions", policy=Flooding()))
    for about, text in (("narrow", "x = 1"), ("wide", "x <= 5"), ("same", "x <= 5")):
        net.subscribe("a", about, text)
    net.sent.clear()
    net.switch(Routing(way="subscriptions", policy=Exact(demote=True)), "a")
    assert [message for *_, message in net.sent] == [Unsubscribe("narrow", ""), Unsubscribe("same", "")]
    net.sent.clear()
    net.switch(Routing(way="subscriptions", policy=Flooding()), "a")
    assert [type(message) for *_, message in net.sent] == [Subscribe, Subscribe]
    net.check()


def test_a_broker_that_joins_learns_that_not_all_is_told() -> None:
    net = Pump("a-b", BY_EVENTS)
    net.subscribe("a", "s", "x = 1")
    net.add("c", routing=BY_ADVERTISEMENTS)
    net.link("b", "c")
    net.advertise("c", "ad", "x = 1")
    assert net.publish("c", "ad", {"x": 1}) == ["s"]
    net.subscribe("c", "t", "y = 1")
    assert net.publish("a", "nobody", {"y": 1}) == ["t"]
    net.check()


def test_a_broker_that_leaves_no_longer_counts() -> None:
    net = Pump("a-b b-c", BY_ADVERTISEMENTS)
    net.switch(EVERYWHERE, "c")
    net.subscribe("a", "s", "x = 1")
    assert net.known("b") == {"s"}
    net.cut("b", "c", for_good=True)
    assert net.known("b") == set()
    net.check()
