from __future__ import annotations

import msgspec
import pytest

from tests.broker.pump import Pump
from thatch import Integer, Schema, attr, circle, parse, within
from thatch.broker.broker import Broker
from thatch.broker.effects import Deliver, Effect, Ignored, Published, Refuse
from thatch.broker.event_codec import encode_event
from thatch.broker.event_frames import EventFrame, RefusedEvent, encode_frame
from thatch.broker.messages import Publish, Subscribe
from thatch.broker.settings import Limits, Routing
from thatch.broker.stimuli import ClientConnected, MessageReceived, Packet, PacketReceived

WAYS = [Routing(way="advertisements"), Routing(way="subscriptions"), Routing(way="events")]


def refused(effects: list[Effect]) -> tuple[RefusedEvent, ...]:
    (answer,) = [each for each in effects if isinstance(each, Published)]
    return answer.refused


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
    effects = net.publish_all("a", "press", {"x": 1}, {"x": 9}, {"x": 7})
    (delivered,) = [each for each in effects if isinstance(each, Deliver)]
    assert (delivered.client, delivered.frame.events()) == ("desk", [{"x": 1}, {"x": 9}, {"x": 7}])
    assert delivered.subscriptions == (("s", "t"), ("u",), ("u",))


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
    assert bool(refused(net.publish_all("a", "client of ad", event))) != is_allowed


def test_a_closed_advertisement_allows_no_other_attribute() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5", closed=True)
    net.subscribe("b", "s", "x = 1")
    assert net.publish("a", "ad", {"x": 1}) == ["s"]
    assert net.publish("a", "ad", {"x": 1, "y": 1}) == []
    assert net.brokers["a"].count_ignored() == {"an event that the client has not advertised": 1}


def test_another_clients_advertisement_allows_nothing() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5")
    assert refused(net.publish_all("a", "somebody else", {"x": 1}))


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
        message=Publish(encode_frame("liar", 1, [{"x": 9}, {"x": 1}, {"x": 8}])[0]),
    )
    effects = net.do("b", PacketReceived(now=0, neighbour="a", packet=packet))
    assert [(each.reason, each.count) for each in effects if isinstance(each, Ignored)] == [
        ("an event that the neighbour has not advertised", 2)
    ]
    net.run()
    assert net.delivered == [("client of s", "liar#2")]
    assert channel.received == packet.number  # the message was taken, so that the next one can be


def test_a_publication_that_a_client_sends_twice_is_published_once_even_after_a_crash() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    net.subscribe("b", "s", "x = 1")
    net.publish_all("a", "press", {"x": 1})
    net.publish_all("a", "press", {"x": 1}, first=1)
    net.crash("a")
    net.run()
    net.publish_all(
        "a", "press", {"x": 1}, {"x": 1}, {"x": 1}, first=1
    )  # cut in another way, with two new ones
    net.publish_all("a", "press", {"x": 1}, {"x": 1}, first=2)
    assert net.delivered == [("client of s", f"press#{number}") for number in (1, 2, 3)]
    assert net.brokers["a"].count_ignored() == {"an event that came before": 3}


@pytest.mark.parametrize(
    "event",
    [
        {"x": "long" * 30},
        {"long" * 30: 1},
        {"x": list(range(101))},
        {"x": [{"y": 1}] * 60},
        {"x": 2**63},
        {"x": {5: 1}},
        {"a": {"b": 1}, "a.b": 2},
    ],
)
def test_events_that_are_too_large_or_none_are_refused_alone(event: object) -> None:
    net = Pump()
    net.brokers["a"] = Broker("a", Routing(way="subscriptions"), limits=Limits(event_size=100))
    net.items["a"] = {}
    net.say("a", "desk", Subscribe(subscription="s", filter=parse("ok = 1")))
    row = msgspec.msgpack.encode(event)
    frame = EventFrame("press", (4, 5, 7), (encode_event({"ok": 1}), row, encode_event({"ok": 1, "n": 2})))
    (answer,) = [each for each in net.say("a", "press", Publish(frame)) if isinstance(each, Published)]
    assert (answer.client, answer.through, [each.number for each in answer.refused]) == ("press", 7, [5])
    assert net.delivered == [("desk", "press#4"), ("desk", "press#7")]


@pytest.mark.parametrize(
    "row",
    [
        b"",
        b"\xc1",
        b"\x90",
        b"\x01",
        b"\x80\x80",
        b"\x81\xa1x\xa1\xff",
        b"\x81\xa1x\xdd\xff\xff\xff\xff",
        5,
        None,
        "{}",
        b"\x81\xa1x" + b"\x91" * 100000 + b"\x01",
        b"\x81\xa1x\xc4\x01a",
        b"\x81\xa1x\xd4\x05a",
        b"\x81\x90\x01",
    ],
)
def test_bytes_that_are_no_event_are_refused_alone(row: object) -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    net.subscribe("b", "s", "true")
    rows = (encode_event({}), row, encode_event({"x": 1}))
    frame = EventFrame("press", (1, 2, 3), rows)  # type: ignore[arg-type] # wrong on purpose
    (answer,) = [each for each in net.say("a", "press", Publish(frame)) if isinstance(each, Published)]
    assert [(each.number, each.reason.partition(":")[0]) for each in answer.refused] == [
        (2, "an event that cannot be read")
    ]
    assert net.delivered == [("client of s", "press#1"), ("client of s", "press#3")]


def test_an_event_with_too_many_pairs_to_look_at_is_refused_and_sent_to_nobody() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    near = parse(within(attr("lat"), attr("lon"), circle(0, 0, 1)))
    net.say("a", "desk", Subscribe(subscription="near", filter=near))
    net.subscribe("b", "all", "exists(lat)")
    net.sent.clear()
    assert net.publish("a", "nobody", {"lat": [0] * 400, "lon": [0] * 400}) == []
    assert net.brokers["a"].count_ignored() == {"an event that cannot be read": 1}
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
