"""How far publishers have come, and when they are forgotten."""

from __future__ import annotations

from typing import Any

from tests.broker.pump import Pump
from thatch.broker.broker import Broker
from thatch.broker.effects import Published
from thatch.broker.settings import Limits, Routing
from thatch.broker.stimuli import ClientConnected, ClientDisconnected

WAY = Routing(way="subscriptions")


def lonely() -> Pump:
    net = Pump()
    net.brokers["a"] = Broker("a", WAY, limits=Limits(idle=100))
    net.items["a"] = {}
    return net


def kept(net: Pump) -> dict[str, Any]:
    return {key[1]: value[0] for key, value in net.items["a"].items() if key[0] == "publisher"}


def test_a_client_that_connects_again_is_told_how_far_it_had_come() -> None:
    net = lonely()
    assert net.do("a", ClientConnected(now=0, client="press")) == []
    net.publish_all("a", "press", {"x": 1}, {"x": 2})
    net.do("a", ClientDisconnected(now=0, client="press"))
    net.crash("a")
    (answer,) = [
        each for each in net.do("a", ClientConnected(now=50, client="press")) if isinstance(each, Published)
    ]
    assert (answer.client, answer.through, answer.refused) == ("press", 2, ())


def test_who_is_away_for_long_is_forgotten_and_who_is_connected_is_not() -> None:
    net = lonely()
    net.publish_all("a", "early", {"x": 1})
    net.publish_all("a", "stays", {"x": 1})
    net.now = 60
    net.leave("a", "early", for_good=False)
    net.now = 150
    net.publish_all("a", "late", {"x": 1})
    assert kept(net) == {"early": 1, "stays": 1, "late": 1}
    net.now = 161
    net.publish_all("a", "late", {"x": 1})
    assert (
        kept(net)
        == {"stays": 1, "late": 2}
        == {name: number for name, (number, _) in net.brokers["a"].tables.publishers.known.items()}
    )


def test_who_leaves_for_good_is_forgotten_at_once() -> None:
    net = lonely()
    net.publish_all("a", "press", {"x": 1})
    net.leave("a", "press")
    assert kept(net) == {}
    net.numbers.clear()
    net.publish_all("a", "press", {"x": 1})  # another client of the same name
    assert net.brokers["a"].count_ignored() == {}


def test_the_time_that_a_broker_was_away_does_not_count() -> None:
    net = lonely()
    net.publish_all("a", "press", {"x": 1})
    net.now = 1_000
    net.brokers["a"] = Broker("a", WAY, limits=Limits(idle=100), items=net.items["a"])
    net.publish_all("a", "other", {"x": 1})
    net.now = 1_050
    net.publish_all("a", "other", {"x": 1})
    assert kept(net) == {"press": 1, "other": 2}
