from __future__ import annotations

import pytest

from tests.broker.pump import Pump
from thatch import parse
from thatch.broker.effects import Refuse
from thatch.broker.messages import Advertise, Subscribe, Unadvertise, Unsubscribe
from thatch.broker.settings import Routing
from thatch.broker.stimuli import Packet, PacketReceived
from thatch.reduction.forwarding.policies import Exact, Pairwise


def test_a_late_advertisement_draws_the_subscriptions_that_it_overlaps() -> None:
    net = Pump("a-b b-c")
    net.subscribe("c", "low", "x <= 5")
    net.subscribe("c", "high", "x > 5")
    assert net.known("a") == net.known("b") == set()
    net.advertise("a", "ad", "x between 0 and 3")
    assert net.known("a") == net.known("b") == {"low"}
    assert net.publish("a", "ad", {"x": 2}) == ["low"]


def test_an_end_takes_back_what_no_other_advertisement_draws() -> None:
    net = Pump("a-b b-c")
    net.advertise("a", "low", "x <= 5")
    net.advertise("a", "middle", "x between 4 and 8")
    net.subscribe("c", "s", "x = 1")
    net.subscribe("c", "t", "x = 5")
    net.unadvertise("a", "low")
    assert net.known("a") == net.known("b") == {"t"}
    net.unadvertise("a", "middle")
    assert net.known("a") == net.known("b") == set()
    assert net.known("c") == {"s", "t"}


def test_what_is_taken_back_is_not_made_known_before() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 9")
    net.subscribe("b", "wide", "x <= 5")
    net.subscribe("b", "narrow", "x = 1")
    net.sent.clear()
    net.unadvertise("a", "ad")
    assert [type(message) for sender, _, message in net.sent if sender == "b"] == [Unsubscribe]


def test_covered_advertisements_are_forwarded_again_when_what_covered_them_ends() -> None:
    net = Pump("a-b b-c", Routing(advertising=Exact()))
    net.advertise("a", "wide", "x <= 9")
    net.advertise("a", "narrow", "x <= 5")
    net.subscribe("c", "s", "x = 1")
    assert net.announced("a", "b") == {"wide"}
    net.sent.clear()
    net.unadvertise("a", "wide")
    assert [type(message) for sender, _, message in net.sent if sender == "a"] == [Advertise, Unadvertise]
    assert net.announced("b", "c") == {"narrow"}
    assert net.known("a") == {"s"}
    assert net.publish("a", "narrow", {"x": 1}) == ["s"]


def test_events_with_lists_pass_where_several_advertisements_cover_the_one_that_allows_them() -> None:
    net = Pump("a-b b-c", Routing(advertising=Exact()))
    net.advertise("a", "low", "x <= 5")
    net.advertise("a", "high", "x > 5")
    net.advertise("a", "all", "x between 3 and 8")
    assert net.announced("a", "b") == {"low", "high"}
    net.subscribe("c", "s", "x = 7")
    assert net.publish("a", "all", {"x": [4, 7]}) == ["s"]


@pytest.mark.parametrize("policy", [Pairwise(), Exact()])
def test_closed_advertisements_neither_cover_nor_are_covered_but_equal_ones_are_sent_once(policy) -> None:
    net = Pump("a-b", Routing(advertising=policy))
    net.advertise("a", "open", "x <= 5")
    net.advertise("a", "closed", "x <= 5", closed=True)
    net.advertise("a", "wide", "x <= 9", closed=True)
    net.advertise("a", "same", "x <= 9", closed=True)
    net.advertise("a", "narrow", "x <= 4 and y = 1")
    assert net.announced("a", "b") == {"open", "closed", "wide"}
    net.sent.clear()
    net.unadvertise("a", "wide")
    assert [type(message) for *_, message in net.sent] == [Advertise, Unadvertise]
    assert net.announced("a", "b") == {"open", "closed", "same"}
    net.unadvertise("a", "same")
    net.unadvertise("a", "closed")
    assert net.announced("a", "b") == {"open"}


def test_a_closed_advertisement_draws_no_subscription_that_needs_another_attribute() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5", closed=True)
    net.subscribe("b", "needs y", "x = 1 and y = 1")
    net.subscribe("b", "without y", "x = 1 and y is missing")
    net.subscribe("b", "either", "x = 1 and y = 1 or x = 2")
    assert net.known("a") == {"without y", "either"}


def test_an_advertisement_of_another_kind_replaces_none_of_a_client() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5")
    net.sent.clear()
    assert not any(isinstance(each, Refuse) for each in net.advertise("a", "ad", "x <= 5"))
    assert any(isinstance(each, Refuse) for each in net.advertise("a", "ad", "x <= 6"))
    assert any(isinstance(each, Refuse) for each in net.advertise("a", "ad", "x <= 5", closed=True))
    assert any(isinstance(each, Refuse) for each in net.say("a", "a thief", Unadvertise("ad")))
    assert net.sent == []
    net.unadvertise("a", "no such")
    assert net.sent == []


def test_an_advertisement_ends_when_its_time_is_up_and_may_be_prolonged() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5", expires=10)
    net.advertise("a", "ad", "x <= 5", expires=20)
    net.subscribe("b", "s", "x = 1")
    net.tick(15)
    assert net.known("a") == {"s"}
    net.tick(6)
    assert net.known("a") == set()
    assert net.brokers["b"].tables.advertisements == {}


def test_advertisements_of_a_client_that_leaves_for_good_end() -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x <= 5")
    net.leave("a", "client of ad")
    assert net.brokers["b"].tables.advertisements == {}


def test_advertisements_do_not_travel_where_they_do_not_guide() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    net.advertise("a", "ad", "x <= 5")
    assert net.announced("a", "b") == set()


def test_an_advertisement_that_another_covers_draws_nothing_new() -> None:
    net = Pump("a-b")
    net.advertise("a", "wide", "x <= 9")
    net.subscribe("b", "s", "x = 1")
    net.sent.clear()
    net.advertise("a", "narrow", "x <= 5")
    assert not [message for *_, message in net.sent if isinstance(message, Subscribe)]
    net.unadvertise("a", "wide")
    assert net.known("a") == {"s"}
    net.check()


def test_an_id_that_is_taken_is_refused_and_a_neighbour_may_say_something_else_under_its_own() -> None:
    net = Pump("a-b b-c")
    net.advertise("a", "ad", "x <= 5")
    assert any(isinstance(each, Refuse) for each in net.advertise("b", "ad", "x <= 5"))
    net.subscribe("c", "low", "x = 1")
    net.subscribe("c", "high", "x = 9")
    link = net.brokers["b"].tables.links["a"]
    packet = Packet(
        session=link.channel.peer,
        number=link.channel.received + 1,
        received_session=link.channel.session,
        received=0,
        message=Advertise(advertisement="ad", filter=parse("x > 5")),
    )
    net.do("b", PacketReceived(now=0, neighbour="a", packet=packet))
    net.run()
    assert net.forwarded("b", "a") == {"high"}
    net.check()


def test_of_equal_closed_advertisements_a_later_one_ends_without_a_word() -> None:
    net = Pump("a-b")
    net.advertise("a", "one", "x <= 5", closed=True)
    net.advertise("a", "two", "x <= 5", closed=True)
    net.sent.clear()
    net.unadvertise("a", "two")
    assert net.sent == []
    net.check()
