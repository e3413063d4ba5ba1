from __future__ import annotations

import pytest

from tests.broker.pump import Pump
from thatch import parse
from thatch.broker.broker import Broker
from thatch.broker.effects import CloseLink, Ignored, NeighbourFailed
from thatch.broker.messages import Joined, Linked, Report, Subscribe
from thatch.broker.settings import Routing, Timing
from thatch.broker.stimuli import LinkDown, LinkUp, Packet, PacketReceived

EVERYWHERE = Routing(way="subscriptions")


def closed(net: Pump) -> list[tuple[str, str]]:
    return [(name, each.neighbour) for name, each in net.told if isinstance(each, CloseLink)]


def members(net: Pump, name: str) -> set[str]:
    return net.brokers[name].tables.mapped - {name}


def report(name: str, *neighbours: str) -> Report:
    return (name, "0.0#50", tuple((each, "0.0#1") for each in neighbours))


def test_every_broker_knows_who_is_there() -> None:
    net = Pump("a-b c-d b-c")
    assert all(members(net, name) == set("abcd") - {name} for name in "abcd")
    net.cut("b", "c", for_good=True)
    assert members(net, "a") == {"b"}
    assert members(net, "d") == {"c"}


def test_a_link_that_would_close_a_cycle_is_closed_with_the_path() -> None:
    net = Pump("a-b b-c c-d")
    net.link("d", "a")
    assert sorted(closed(net)) == [("a", "d"), ("d", "a")]
    reasons = [each.reason for name, each in net.told if isinstance(each, CloseLink) and name == "a"]
    assert reasons == ["a cycle, or two brokers with one name: a - d, and already a - b - c - d"]
    assert set(net.brokers["a"].tables.links) == {"b"}
    net.check()
    net.subscribe("d", "s", "x = 1")
    net.advertise("a", "ad", "x = 1")
    assert net.publish("a", "ad", {"x": 1}) == ["s"]


def test_two_brokers_of_one_name_do_not_join() -> None:
    net = Pump("a-b b-c")
    other = Broker("x")
    other.handle(LinkUp(now=0, neighbour="c"))
    net.up.add(frozenset(("x", "c")))
    net.do("c", LinkUp(now=0, neighbour="x"))
    session = other.tables.links["c"].channel.session
    hello = Joined(session, (report("x", "a"), report("a", "x")))  # an a of its own
    packet = Packet(session=session, number=1, received_session="", received=0, message=hello)
    effects = net.do("c", PacketReceived(now=0, neighbour="x", packet=packet))
    (reason,) = [each.reason for each in effects if isinstance(each, CloseLink)]
    assert reason == "a cycle, or two brokers with one name: c - x - a, and already c - b - a"


def test_a_broker_of_the_receivers_own_name_does_not_join() -> None:
    net = Pump("a-b")
    net.do("a", LinkUp(now=0, neighbour="x"))
    hello = Joined("0.0#9", (report("x", "a"), report("a", "x")))
    packet = Packet(session="0.0#1", number=1, received_session="", received=0, message=hello)
    effects = net.do("a", PacketReceived(now=0, neighbour="x", packet=packet))
    (reason,) = [each.reason for each in effects if isinstance(each, CloseLink)]
    assert reason == "a cycle, or two brokers with one name: a - x - a is a itself"
    assert [type(each) for each in net.do("a", LinkUp(now=0, neighbour="a"))] == [Ignored]


def test_two_links_that_close_a_cycle_at_once_are_found_out() -> None:
    net = Pump("a-b c-d")
    net.is_eager = False
    net.link("a", "c")
    net.link("b", "d")
    net.run()
    assert set(closed(net)) & {("a", "c"), ("c", "a"), ("b", "d"), ("d", "b")}
    net.check()
    net.is_eager = True
    net.subscribe("a", "s", "x = 1")
    net.advertise("b", "ad", "x = 1")
    assert net.publish("b", "ad", {"x": 1}) == ["s"]


REPORTS_THAT_ARE_NONE = [
    (),
    (("b", "0.0#1"),),
    [report("b")],
    (report("a"),),
    (("b", "soon", ()),),
    ((1, "0.0#1", ()),),
    (("b", "0.0#1", ("a", "0.0#1")),),
    (("b", "0.0#1", (("a", "x"),)),),
    "b",
]


@pytest.mark.parametrize("reports", REPORTS_THAT_ARE_NONE)
def test_reports_that_are_none_close_the_link(reports: object) -> None:
    broker = Broker("a")
    broker.handle(LinkUp(now=0, neighbour="b"))
    message = Joined("0.0#1", reports)  # type: ignore[arg-type] # wrong on purpose
    packet = Packet(session="0.0#1", number=1, received_session="", received=0, message=message)
    effects = broker.handle(PacketReceived(now=0, neighbour="b", packet=packet))
    assert any(isinstance(each, CloseLink) for each in effects)
    assert not broker.tables.links


def test_nothing_is_taken_from_a_neighbour_that_has_not_joined() -> None:
    broker = Broker("a")
    broker.handle(LinkUp(now=0, neighbour="b"))
    message = Subscribe(subscription="s", filter=parse("x = 1"))
    packet = Packet(session="0.0#1", number=1, received_session="", received=0, message=message)
    effects = broker.handle(PacketReceived(now=0, neighbour="b", packet=packet))
    assert [each.reason for each in effects if isinstance(each, Ignored)] == [
        "a message before the neighbour has joined"
    ]
    assert not broker.tables.subscriptions


def test_a_packet_from_a_stranger_is_ignored() -> None:
    broker = Broker("a")
    packet = Packet(session="0.0#1", number=1, received_session="", received=0, message=Linked(()))
    (ignored,) = broker.handle(PacketReceived(now=0, neighbour="b", packet=packet))
    assert isinstance(ignored, Ignored)
    assert broker.count_ignored() == {"a packet from an unknown neighbour": 1}
    assert [type(each) for each in broker.handle(LinkDown(now=0, neighbour="b"))] == [Ignored]


def test_a_broker_that_joins_is_told_what_is_wanted_and_offered() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("b", "s", "x = 1")
    net.subscribe("a", "t", "y = 1")
    net.link("b", "c")
    assert net.brokers["c"].tables.advertisements.keys() == {"ad"}
    net.subscribe("c", "u", "x = 2")
    net.advertise("c", "other", "y = 1")
    assert net.known("a") == {"s", "t", "u"}
    assert net.publish("c", "other", {"y": 1}) == ["t"]


def test_a_broker_that_leaves_takes_along_what_came_from_it() -> None:
    net = Pump("a-b b-c")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("c", "s", "x = 1")
    net.cut("b", "c", for_good=True)
    assert net.known("a") == net.known("b") == set()
    assert net.brokers["c"].tables.advertisements == {}
    assert not [key for key in net.items["b"] if "c" in key]
    net.link("b", "c")
    assert net.publish("a", "ad", {"x": 1}) == ["s"]
    net.check()


def test_nothing_is_kept_for_a_neighbour_that_is_gone() -> None:
    net = Pump("a-b")
    net.advertise("b", "ad", "x <= 3")
    net.subscribe("a", "s", "x <= 3")
    net.do("a", LinkDown(now=0, neighbour="b", for_good=True))
    assert not [key for key in net.items["a"] if "b" in key]


def test_a_cut_link_heals_and_nothing_is_lost() -> None:
    net = Pump("a-b b-c", EVERYWHERE)
    net.subscribe("c", "s", "x = 1")
    net.cut("b", "c")
    net.publish_all("a", "press", {"x": 1})
    net.subscribe("c", "t", "x = 2")
    assert net.delivered == []
    net.link("b", "c")
    assert net.delivered == [("client of s", "press#1")]
    assert net.known("a") == {"s", "t"}


def test_a_neighbour_that_fails_is_told_once_and_its_messages_are_kept() -> None:
    net = Pump("a-b", EVERYWHERE, Timing(resend=1, failure=4))
    net.tick(5)
    net.up.clear()  # packets go nowhere, and nobody notices
    net.subscribe("a", "s", "x = 1")
    net.tick(60)
    assert [each for _, each in net.told if isinstance(each, NeighbourFailed)] == [
        NeighbourFailed(cause=net.told[0][1].cause, neighbour="b")
    ]
    net.up.add(frozenset("ab"))
    net.tick(10)
    assert net.known("b") == {"s"}


def test_news_that_make_no_sense_are_ignored() -> None:
    net = Pump("a-b b-c")
    channel = net.brokers["b"].tables.links["a"].channel
    for message in (Linked(5), Linked((5,)), Joined("0.0#1", "x")):  # type: ignore[arg-type] # wrong on purpose
        packet = Packet(
            session=channel.peer,
            number=channel.received + 1,
            received_session=channel.session,
            received=0,
            message=message,
        )
        net.do("b", PacketReceived(now=0, neighbour="a", packet=packet))
    assert net.brokers["b"].count_ignored() == {"malformed reports": 3}
    assert members(net, "b") == {"a", "c"}


def test_brokers_that_trust_their_topology_tell_nobody_who_is_where() -> None:
    net = Pump()
    for name in "abc":
        net.add(name, trusts_topology=True)
    net.link("a", "b")
    net.link("b", "c")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("c", "s", "x = 1")
    assert members(net, "b") == set()
    assert net.publish("a", "ad", {"x": 1}) == ["s"]
    net.check()
