"""Examples of the papers, with the figures' numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.broker.pump import Pump
from thatch.broker.messages import Subscribe, Unsubscribe
from thatch.broker.settings import Routing
from thatch.reduction.forwarding.policies import Exact, Flooding, Merging, Pairwise


def subscriptions_sent(net: Pump) -> int:
    return len([message for *_, message in net.sent if isinstance(message, Subscribe)])


# --- li2005, figure 9 (c): a new subscription covers what is known ------------------------------------------------


def figure_9() -> Pump:
    """Nodes 1, 2 and 5 at node 3, which forwards to node 4; S4 of node 5 covers S1 and S2."""
    return Pump("1-3 2-3 5-3 3-4", Routing(way="subscriptions", policy=Pairwise(demote=True)))


def test_a_subscription_that_covers_others_takes_their_place_in_the_next_table() -> None:
    net = figure_9()
    net.subscribe("1", "S1", "x = 1")
    net.subscribe("2", "S2", "x = 2")
    assert net.known("4") == {"S1", "S2"}
    net.sent.clear()
    net.subscribe("5", "S4", "x <= 2")
    assert net.known("4") == {"S4"}
    assert net.known("3") == {"S1", "S2", "S4"}  # the routing table stays exact
    # The paper withdraws first and forwards afterwards; here it is the other way round, so that no event is lost.
    to_4 = [message for sender, receiver, message in net.sent if (sender, receiver) == ("3", "4")]
    assert [type(message) for message in to_4] == [Subscribe, Unsubscribe, Unsubscribe]


def test_when_it_ends_what_it_covered_is_recovered() -> None:
    net = figure_9()
    net.subscribe("1", "S1", "x = 1")
    net.subscribe("2", "S2", "x = 2")
    net.subscribe("5", "S4", "x <= 2")
    net.unsubscribe("5", "S4")
    assert net.known("4") == {"S1", "S2"}
    assert net.publish("4", "nobody", {"x": 1}) == ["S1"]
    net.unsubscribe("1", "S1")
    assert net.known("4") == {"S2"}


# --- li2005, figure 9 (a) and (b): a merger is made at node 3, and unmade ----------------------------------------


MERGING = Routing(way="subscriptions", policy=Merging())


def test_figure_9_two_subscriptions_are_one_in_the_next_table() -> None:
    net = Pump("1-3 2-3 3-4", MERGING)
    net.subscribe("1", "S1", "price = 150 and to = 'Ottawa'")
    net.sent.clear()
    net.subscribe("2", "S2", "price < 150 and to = 'Ottawa'")
    assert net.known("3") == {"S1", "S2"}  # the routing table stays exact
    (s3,) = net.brokers["4"].tables.subscriptions.values()
    assert str(s3.filter) == "price <= 150 and to = 'Ottawa'"
    to_4 = [message for sender, receiver, message in net.sent if (sender, receiver) == ("3", "4")]
    assert [type(message) for message in to_4] == [Subscribe, Unsubscribe]  # S3 before S1 is taken back
    assert net.publish("4", "nobody", {"price": 150, "to": "Ottawa"}) == ["S1"]
    assert net.publish("4", "nobody", {"price": 149, "to": "Ottawa"}) == ["S2"]


def test_figure_9_the_merger_ends_with_one_of_its_parts() -> None:
    net = Pump("1-3 2-3 3-4", MERGING)
    net.subscribe("1", "S1", "price = 150 and to = 'Ottawa'")
    net.subscribe("2", "S2", "price < 150 and to = 'Ottawa'")
    (s3,) = net.known("4")
    net.sent.clear()
    net.unsubscribe("1", "S1")
    to_4 = [message for sender, receiver, message in net.sent if (sender, receiver) == ("3", "4")]
    assert [message.subscription for message in to_4] == ["S2", s3]
    assert net.known("3") == net.known("4") == {"S2"}
    assert net.publish("4", "nobody", {"price": 150, "to": "Ottawa"}) == []
    assert net.publish("4", "nobody", {"price": 149, "to": "Ottawa"}) == ["S2"]


# --- jafarpour2008, figure 1: an overlay of eleven brokers ---------------------------------------------------------------


TREE = "1-2 2-3 2-4 1-5 5-6 5-7 1-8 8-9 8-10 10-11"


def test_what_two_subscriptions_subsume_together_stays_at_its_broker() -> None:
    """Figure 2: s3 is subsumed by s1 and s2, but covered by neither."""
    net = Pump(TREE, Routing(way="subscriptions", policy=Exact()))
    net.subscribe("3", "s1", "x between 0 and 6 and y between 0 and 9")
    net.subscribe("3", "s2", "x between 5 and 9 and y between 0 and 9")
    assert all({"s1", "s2"} <= net.known(str(name)) for name in range(1, 12))
    net.sent.clear()
    net.subscribe("3", "s3", "x between 2 and 8 and y between 3 and 4")
    assert subscriptions_sent(net) == 0
    assert net.publish("11", "nobody", {"x": 7, "y": 3}) == ["s2", "s3"]
    net.unsubscribe("3", "s1")
    assert all("s3" in net.known(str(name)) for name in range(1, 12))
    assert net.publish("11", "nobody", {"x": 2, "y": 3}) == ["s3"]
    net.check()


def test_pairwise_covering_does_not_find_it() -> None:
    net = Pump(TREE, Routing(way="subscriptions", policy=Pairwise()))
    net.subscribe("3", "s1", "x between 0 and 6 and y between 0 and 9")
    net.subscribe("3", "s2", "x between 5 and 9 and y between 0 and 9")
    net.sent.clear()
    net.subscribe("3", "s3", "x between 2 and 8 and y between 3 and 4")
    assert subscriptions_sent(net) == 10


# --- ouksel2006, figure 4: a chain ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "saved"), [(Flooding(), 0), (Exact(), 7)])
def test_what_is_left_out_at_the_first_broker_is_left_out_on_the_whole_chain(policy, saved) -> None:
    names = [f"B{number}" for number in range(1, 9)]
    links = " ".join(f"{one}-{other}" for one, other in pairwise(names))
    net = Pump(links, Routing(way="subscriptions", policy=policy))
    net.subscribe("B1", "s1", "x <= 5")
    net.subscribe("B1", "s2", "x > 5")
    net.sent.clear()
    net.subscribe("B1", "s", "x between 3 and 8")
    assert subscriptions_sent(net) == 7 - saved
    assert net.publish("B8", "nobody", {"x": 4}) == ["s", "s1"]
