from __future__ import annotations

from tests.broker.pump import Pump
from thatch import parse
from thatch.broker.effects import Refuse, SetTimer
from thatch.broker.messages import Subscribe, Unsubscribe
from thatch.broker.settings import Routing
from thatch.reduction.forwarding.policies import Flooding, Pairwise

EVERYWHERE = Routing(way="subscriptions")


def test_a_subscription_goes_everywhere_where_nothing_guides_it() -> None:
    net = Pump("a-b b-c b-d", EVERYWHERE)
    net.subscribe("a", "s", "x = 1")
    assert all(net.known(name) == {"s"} for name in "abcd")
    assert net.forwarded("b", "a") == set()


def test_a_subscription_goes_only_towards_advertisements_that_it_overlaps() -> None:
    net = Pump("a-b b-c b-d")
    net.advertise("c", "low", "x <= 5")
    net.advertise("d", "high", "x > 5")
    net.subscribe("a", "s", "x = 1")
    assert net.known("c") == net.known("b") == {"s"}
    assert net.known("d") == set()


def test_what_others_cover_stays_where_it_is_known() -> None:
    net = Pump("a-b b-c", EVERYWHERE)
    net.subscribe("a", "low", "x <= 5")
    net.subscribe("a", "high", "x > 5")
    net.subscribe("a", "middle", "x between 3 and 8")
    assert net.known("b") == net.known("c") == {"low", "high"}
    assert net.brokers["a"].tables.links["b"].sent_subscriptions.proof("middle") == ("low", "high")


def test_what_came_from_a_neighbour_proves_nothing_to_it() -> None:
    net = Pump("a-b b-c", EVERYWHERE)
    net.subscribe("c", "wide", "x <= 5")
    net.subscribe("a", "narrow", "x = 1")
    assert "narrow" in net.known("b")
    assert net.forwarded("b", "c") == {"narrow"}  # wide came from there


def test_a_policy_that_demotes_takes_back_what_is_covered_after_it_has_sent_what_covers_it() -> None:
    net = Pump("a-b", Routing(way="subscriptions", policy=Pairwise(demote=True)))
    net.subscribe("a", "narrow", "x = 1")
    net.sent.clear()
    net.subscribe("a", "wide", "x <= 5")
    sent = [message for _, _, message in net.sent]
    assert sent == [Subscribe(subscription="wide", filter=parse("x <= 5")), Unsubscribe("narrow", "")]
    assert net.known("b") == {"wide"}


def test_flooding_sends_everything() -> None:
    net = Pump("a-b", Routing(way="subscriptions", policy=Flooding()))
    net.subscribe("a", "s", "x = 1")
    net.subscribe("a", "t", "x = 1")
    assert net.known("b") == {"s", "t"}


def test_the_same_again_changes_nothing_and_its_end_can_be_moved() -> None:
    net = Pump("a-b", EVERYWHERE)
    net.subscribe("a", "s", "x = 1", expires=10)
    net.sent.clear()
    effects = net.subscribe("a", "s", "x = 1", expires=5)
    assert [each.at for each in effects if isinstance(each, SetTimer)] == [5]
    assert net.sent == []
    net.tick(6)
    assert net.known("a") == net.known("b") == set()


def test_an_id_that_is_taken_is_refused_to_a_client_and_ignored_from_a_neighbour() -> None:
    net = Pump("a-b", EVERYWHERE)
    net.subscribe("a", "s", "x = 1")
    assert any(isinstance(each, Refuse) for each in net.subscribe("a", "s", "x = 2"))
    taken = Subscribe(subscription="s", filter=parse("x = 1"))
    assert any(isinstance(each, Refuse) for each in net.say("a", "another", taken))
    assert any(isinstance(each, Refuse) for each in net.say("b", "another", taken))
    net.is_eager = False
    net.subscribe("a", "t", "x = 1")
    net.say("b", "another", Subscribe(subscription="t", filter=parse("x = 2")))
    net.run()
    assert net.brokers["a"].count_ignored()["an id that is taken"] == 2
    net.check()


def test_a_subscription_ends_when_its_time_is_up_everywhere_and_what_it_covered_comes_first() -> None:
    net = Pump("a-b b-c", EVERYWHERE)
    net.subscribe("a", "wide", "x <= 5", expires=10)
    net.subscribe("a", "narrow", "x = 1")
    net.tick(9)
    assert net.known("c") == {"wide"}
    net.sent.clear()
    net.tick(2)
    assert net.known("c") == net.known("b") == {"narrow"}
    towards_b = [type(message) for sender, _, message in net.sent if sender == "a"]
    assert towards_b == [Subscribe, Unsubscribe]


def test_an_end_that_is_past_is_refused() -> None:
    net = Pump("a-b", EVERYWHERE)
    net.tick(20)
    assert any(isinstance(each, Refuse) for each in net.subscribe("a", "s", "x = 1", expires=20))


def test_a_client_that_leaves_for_good_takes_its_subscriptions_along() -> None:
    net = Pump("a-b b-c", EVERYWHERE)
    message = Subscribe(subscription="wide", filter=parse("x <= 5"))
    net.say("a", "desk", message)
    net.say("a", "desk", Subscribe(subscription="narrow", filter=parse("x = 1")))
    net.leave("a", "desk", for_good=False)
    assert net.known("c") == {"wide"}
    net.sent.clear()
    net.leave("a", "desk")
    assert net.known("a") == net.known("b") == net.known("c") == set()
    assert [type(each) for sender, _, each in net.sent if sender == "a"] == [Unsubscribe]
    assert net.brokers["a"].tables.clients == {}
