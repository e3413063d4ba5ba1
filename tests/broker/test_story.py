from __future__ import annotations

from tests.broker.pump import Pump
from thatch.broker.broker import Broker
from thatch.broker.settings import Limits, Routing
from thatch.broker.stimuli import LinkUp
from thatch.reduction.forwarding.policies import NegativeSpace


def test_a_story_tells_where_a_subscription_is_known_and_why_not() -> None:
    net = Pump("a-b b-c b-d")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("c", "low", "x <= 5")
    net.subscribe("c", "high", "x > 5")
    net.subscribe("d", "middle", "x between 3 and 8")
    told = net.brokers["b"].story("middle")
    assert told == [
        "It came from the broker d.",
        "a: not told, since it is covered there by low and high.",
        "c: not told, since no advertisement from there overlaps it.",
        "d: not told, since it came from there.",
    ]
    (step, *rest) = net.brokers["c"].story("low")
    assert step.endswith(": was told to b.")
    assert rest == ["It came from the client client of low.", "b: told."]


def test_a_story_tells_of_advertisements() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x >= 0")
    assert net.brokers["a"].story("ad")[1:] == ["It came from the client client of ad.", "b: told."]
    net.switch(Routing(way="subscriptions"))
    *_, withdrawn, came, why = net.brokers["a"].story("ad")
    assert withdrawn.endswith("was taken back from b.")
    assert came == "It came from the client client of ad."
    assert why == "b: not told, since the way is 'subscriptions'."


def test_a_story_tells_the_way_of_an_event() -> None:
    net = Pump("a-b b-c")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("c", "s", "x <= 5")
    net.subscribe("a", "t", "x > 5")
    net.publish("a", "ad", {"x": 1})
    net.publish("a", "ad", {"x": 9})
    net.publish("a", "ad", {"y": 9})
    cores = net.brokers
    assert (
        cores["a"]
        .story("p1")[0]
        .endswith(": came from client of ad, was sent on to b and wanted by no client here.")
    )
    assert (
        cores["c"]
        .story("p1")[0]
        .endswith(": came from b, was sent on to nobody and delivered to client of s.")
    )
    assert cores["a"].story("p2")[0].endswith("sent on to nobody and delivered to client of t.")
    assert cores["a"].story("p3")[0].endswith("was refused: an event that the client has not advertised.")
    assert cores["a"].story("unheard of") == []


def test_a_story_tells_what_is_leaving_and_what_is_not_joined() -> None:
    net = Pump("a-b", Routing(way="subscriptions", policy=NegativeSpace()))
    net.subscribe("a", "wide", "x <= 5")
    net.subscribe("a", "narrow", "x = 1")
    assert net.brokers["a"].story("narrow")[-1] == "b: not told, since it is covered there by what was told."
    net.switch(Routing(way="events"))
    assert net.brokers["a"].story("narrow")[-1] == "b: not told, since only events travel."
    net.switch(Routing(way="subscriptions"))
    net.do("a", LinkUp(now=0, neighbour="c"))
    assert net.brokers["a"].story("wide")[-1] == "c: not told, since the neighbour has not joined yet."
    net.is_eager = False
    net.unsubscribe("a", "wide")
    assert net.brokers["a"].story("wide")[-1] == "It is leaving, and waits for b to acknowledge that."


def test_only_so_many_facts_are_remembered() -> None:
    net = Pump()
    net.brokers["a"] = Broker("a", Routing(way="subscriptions"), limits=Limits(facts=5))
    net.items["a"] = {}
    for _ in range(9):
        net.publish("a", "nobody", {"x": 1})
    assert len(net.brokers["a"].tables.facts) == 5
    assert net.brokers["a"].story("p4") == []
    assert len(net.brokers["a"].story("p5")) == 1


def test_a_route_tells_where_an_event_would_go() -> None:
    net = Pump("a-b b-c", Routing(way="subscriptions"))
    net.subscribe("b", "here", "x = 1")
    net.subscribe("c", "there", "x <= 5")
    route = net.brokers["b"].route({"x": 1})
    assert route.links == {"c": ("there",)}
    assert route.clients == {"client of here": ("here",)}
    assert net.brokers["b"].route({"x": 1}, "c").links == {}
    net.switch(Routing(way="events"), "a")
    assert net.brokers["b"].route({"x": 9}).links == {"a": ()}
