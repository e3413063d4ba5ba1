from __future__ import annotations

from tests.broker.pump import Pump
from thatch.broker.broker import Broker
from thatch.broker.settings import Limits, Routing
from thatch.broker.stimuli import LinkUp
from thatch.reduction.forwarding.policies import NegativeSpace


def test_an_explanation_covers_where_a_subscription_is_known_and_why_not() -> None:
    net = Pump("a-b b-c b-d")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("c", "low", "x <= 5")
    net.subscribe("c", "high", "x > 5")
    net.subscribe("d", "middle", "x between 3 and 8")
    told = net.brokers["b"].explain("middle")
    assert told == [
        "It came from the broker d.",
        "a: not sent, since it is covered there by low and high.",
        "c: not sent, since no advertisement from there overlaps it.",
        "d: not sent, since it came from there.",
    ]
    (step, *rest) = net.brokers["c"].explain("low")
    assert step.endswith(": was sent to b.")
    assert rest == ["It came from the client client of low.", "b: sent."]


def test_an_explanation_covers_advertisements() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x >= 0")
    assert net.brokers["a"].explain("ad")[1:] == ["It came from the client client of ad.", "b: sent."]
    net.switch(Routing(way="subscriptions"))
    *_, withdrawn, came, why = net.brokers["a"].explain("ad")
    assert withdrawn.endswith("was withdrawn from b.")
    assert came == "It came from the client client of ad."
    assert why == "b: not sent, since the way is 'subscriptions'."


def test_an_explanation_covers_an_event() -> None:
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
        .explain("client of ad#1")[0]
        .endswith(": came from client of ad, was sent on to b and wanted by no client here.")
    )
    assert (
        cores["c"]
        .explain("client of ad#1")[0]
        .endswith(": came from b, was sent on to nobody and delivered to client of s.")
    )
    assert cores["a"].explain("client of ad#2")[0].endswith("sent on to nobody and delivered to client of t.")
    assert (
        cores["a"]
        .explain("client of ad#3")[0]
        .endswith("was refused: an event that the client has not advertised.")
    )
    assert cores["a"].explain("unheard of") == []


def test_an_explanation_covers_what_is_leaving_and_what_is_not_joined() -> None:
    net = Pump("a-b", Routing(way="subscriptions", policy=NegativeSpace()))
    net.subscribe("a", "wide", "x <= 5")
    net.subscribe("a", "narrow", "x = 1")
    assert (
        net.brokers["a"].explain("narrow")[-1] == "b: not sent, since it is covered there by what was sent."
    )
    net.switch(Routing(way="events"))
    assert net.brokers["a"].explain("narrow")[-1] == "b: not sent, since only events travel."
    net.switch(Routing(way="subscriptions"))
    net.do("a", LinkUp(now=0, neighbour="c"))
    assert net.brokers["a"].explain("wide")[-1] == "c: not sent, since the neighbour has not joined yet."
    net.is_eager = False
    net.unsubscribe("a", "wide")
    assert net.brokers["a"].explain("wide")[-1] == "It is leaving, and waits for b to acknowledge."


def test_only_so_many_facts_are_remembered() -> None:
    net = Pump()
    net.brokers["a"] = Broker("a", Routing(way="subscriptions"), limits=Limits(facts=5))
    net.items["a"] = {}
    for _ in range(9):
        net.publish("a", "nobody", {"x": 1})
    assert len(net.brokers["a"].tables.facts) == 5
    assert net.brokers["a"].explain("client of nobody#4") == []
    assert len(net.brokers["a"].explain("client of nobody#5")) == 1


def test_of_a_frame_each_event_is_explained_alone() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("b", "s", "x <= 5")
    net.publish_all("a", "client of ad", {"x": 1}, {"x": -1}, {"x": 9})
    one, other, last = (net.brokers["a"].explain(f"client of ad#{number}") for number in (1, 2, 3))
    assert [each.partition(": ")[2] for each in (*one, *other, *last)] == [
        "came from client of ad, was sent on to b and wanted by no client here.",
        "came from client of ad and was refused: an event that the client has not advertised.",
        "came from client of ad, was sent on to nobody and wanted by no client here.",
    ]
    for name in ("client of ad#01", "client of ad#4", "ad#1", "#1", "client of ad#" + "1" * 5_000):
        assert net.brokers["a"].explain(name) == []


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
