from __future__ import annotations

import pytest

from tests.broker.pump import Pump
from thatch import Integer, Schema, attr, circle, parse, within
from thatch.broker.broker import Broker
from thatch.broker.effects import Deliver, Ignored, Refuse
from thatch.broker.messages import Publish, Subscribe
from thatch.broker.settings import Limits, Routing
from thatch.broker.stimuli import ClientConnected, MessageReceived, Packet, PacketReceived

WAYS = [Routing(way="advertisements"), Routing(way="subscriptions"), Routing(way="events")]


def publications(net: Pump) -> list[tuple[str, str]]:
    return [(sender, to) for sender, to, message in net.sent if isinstance(message, Publish)]


@pytest.mark.parametrize("routing", WAYS, ids=lambda routing: routing.way)
def test_events_reach_exactly_those_who_want_them(routing: Routing) -> None:
    net = Pump("a-b b-c b-d", routing)
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("a", "here", "x <= 5")
    net.subscribe("c", "low", "x <= 5")
    net.subscribe("c", "one", "x = 1")
    net.subscribe("d", "high", "x > 5")
    assert net.publish("a", "ad", {"x": 1}) == ["here", "low", "one"]
    assert net.publish("a", "ad", {"x": 4}) == ["here", "low"]
    assert net.publish("a", "ad", {"x": 7}) == ["high"]
    assert net.publish("a", "ad", {"x": [1, 9]}) == ["here", "high", "low", "one"]


def test_events_travel_only_where_somebody_wants_them_and_never_back() -> None:
    net = Pump("a-b b-c b-d")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("a", "here", "x <= 5")
    net.subscribe("c", "low", "x <= 5")
    net.publish("a", "ad", {"x": 1})
    assert publications(net) == [("a", "b"), ("b", "c")]
    net.sent.clear()
    net.publish("a", "ad", {"x": 9})
    assert publications(net) == []


def test_without_subscriptions_on_their_way_every_event_goes_everywhere() -> None:
    net = Pump("a-b b-c b-d", Routing(way="events"))
    net.publish("c", "nobody", {"x": 1})
    assert publications(net) == [("c", "b"), ("b", "a"), ("b", "d")]
    assert net.known("b") == set()


def test_a_client_gets_an_event_once_with_all_its_subscriptions_that_want_it() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    for about, text in (("s", "x = 1"), ("t", "x <= 5"), ("u", "x > 5")):
        net.say("a", "desk", Subscribe(subscription=about, filter=parse(text)))
    effects = net.say("a", "press", Publish("p", {"x": 1}))
    (delivered,) = [each for each in effects if isinstance(each, Deliver)]
    assert (delivered.client, delivered.publication, delivered.subscriptions) == ("desk", "p", ("s", "t"))


@pytest.mark.parametrize(
    ("filter", "event", "is_allowed"),
    [
        ("x <= 5", {"x": 1}, True),
        ("x <= 5", {"x": 1, "y": 2}, True),
        ("x <= 5", {"x": 9}, False),
        ("x <= 5", {"y": 1}, False),
        ("x <= 5", {"x": [1, 5]}, True),
        ("x <= 5", {"x": [1, 6]}, False),
        ("x <= 5 or x > 7", {"x": [1, 8]}, True),  # one constraint with a gap
        ("x = 1 or y = 1", {"x": [1, 2], "y": [1, 2]}, False),
    ],
)
def test_publishing_needs_an_advertisement_that_holds_every_flat_event(filter, event, is_allowed) -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", filter)
    effects = net.say("a", "client of ad", Publish("p", event))
    assert any(isinstance(each, Refuse) for each in effects) != is_allowed


def test_a_closed_advertisement_allows_no_other_attribute() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5", closed=True)
    net.subscribe("b", "s", "x = 1")
    assert net.publish("a", "ad", {"x": 1}) == ["s"]
    assert net.publish("a", "ad", {"x": 1, "y": 1}) == []
    assert isinstance(net.told[-1][1], Refuse)


def test_another_clients_advertisement_allows_nothing() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5")
    effects = net.say("a", "somebody else", Publish("p", {"x": 1}))
    assert any(isinstance(each, Refuse) for each in effects)


def test_a_neighbour_that_publishes_what_it_has_not_advertised_is_ignored() -> None:
    net = Pump("a-b b-c")
    net.advertise("a", "ad", "x <= 5")
    net.subscribe("c", "s", "exists(x)")
    channel = net.brokers["b"].tables.links["a"].channel
    packet = Packet(
        session=channel.peer,
        number=channel.received + 1,
        received_session=channel.session,
        received=0,
        message=Publish("lie", {"x": 9}),
    )
    effects = net.do("b", PacketReceived(now=0, neighbour="a", packet=packet))
    assert [each.reason for each in effects if isinstance(each, Ignored)] == [
        "an event that the neighbour has not advertised"
    ]
    assert net.packets == net.packets.__class__()
    assert channel.received == packet.number  # the message was taken, so that the next one can be


def test_a_publication_that_a_client_sends_twice_is_published_once_even_after_a_crash() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    net.subscribe("b", "s", "x = 1")
    net.say("a", "press", Publish("p", {"x": 1}))
    net.say("a", "press", Publish("p", {"x": 1}))
    net.crash("a")
    net.run()
    net.say("a", "press", Publish("p", {"x": 1}))
    assert net.delivered == [("client of s", "p")]
    assert net.brokers["a"].count_ignored() == {"a publication that came before": 1}


def test_only_the_last_publications_are_remembered() -> None:
    broker = Broker("a", Routing(way="subscriptions"), limits=Limits(publications=2))
    broker.handle(ClientConnected(now=0, client="press"))

    def publish(about: str) -> bool:
        effects = broker.handle(MessageReceived(now=0, client="press", message=Publish(about, {"x": 1})))
        return not any(isinstance(each, Ignored) for each in effects)

    assert [publish(each) for each in "aabacba"] == [True, False, True, False, True, False, True]
    assert len(broker.tables.published) == 2


@pytest.mark.parametrize(
    "event",
    [
        {"x": "long" * 30},
        {"long" * 30: 1},
        {"x": list(range(101))},
        {"x": [{"y": 1}] * 60},
        "no event",
        {"x": object()},
        {5: 1},
        {"a": {"b": 1}, "a.b": 2},
    ],
)
def test_events_that_are_too_large_or_none_are_refused(event: object) -> None:
    broker = Broker("a", Routing(way="subscriptions"), limits=Limits(event_size=100))
    broker.handle(ClientConnected(now=0, client="press"))
    message = Publish("p", event)  # type: ignore[arg-type] # wrong on purpose
    (refused,) = broker.handle(MessageReceived(now=0, client="press", message=message))
    assert isinstance(refused, Refuse)
    assert broker.tables.published == {}


def test_an_event_that_contains_itself_is_refused() -> None:
    event: dict[str, object] = {}
    event["x"] = [event, event]
    broker = Broker("a", Routing(way="subscriptions"))
    broker.handle(ClientConnected(now=0, client="press"))
    (refused,) = broker.handle(MessageReceived(now=0, client="press", message=Publish("p", event)))
    assert isinstance(refused, Refuse)


def test_an_event_with_too_many_pairs_to_look_at_is_refused_and_sent_to_nobody() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    near = parse(within(attr("lat"), attr("lon"), circle(0, 0, 1)))
    net.say("a", "desk", Subscribe(subscription="near", filter=near))
    net.subscribe("b", "all", "exists(lat)")
    net.sent.clear()
    assert net.publish("a", "nobody", {"lat": [0] * 400, "lon": [0] * 400}) == []
    assert isinstance(net.told[-1][1], Refuse)
    assert net.sent == []


def test_declared_types_hold_for_events() -> None:
    schema = Schema({"x": Integer(0, 10)})
    broker = Broker("a", Routing(way="subscriptions"), schema=schema)
    broker.handle(ClientConnected(now=0, client="c"))
    wide = Subscribe(subscription="s", filter=parse("exists(x)", schema=schema))
    broker.handle(MessageReceived(now=0, client="c", message=wide))
    other = Subscribe(subscription="t", filter=parse("exists(x)"))
    (refused,) = broker.handle(MessageReceived(now=0, client="c", message=other))
    assert isinstance(refused, Refuse)
    assert broker.route({"x": 5}).clients == {"c": ("s",)}
    assert broker.route({"x": 50}).clients == {}
