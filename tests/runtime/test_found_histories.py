"""Histories that once went wrong, each as short as it could be made."""

from __future__ import annotations

from thatch.broker.settings import Routing
from thatch.model.topology import Link, Topology
from thatch.runtime.simulated import SimulatedNetwork


def test_a_link_that_was_taken_away_leaves_nothing_behind_for_its_next_life():
    """What was sent because the link ended was kept, and after a restart waited for numbers that never came."""
    network = SimulatedNetwork(Topology.line(2))
    feed, desk = network.connect("b1", "feed"), network.connect("b2", "desk")
    feed.advertise("true")
    desk.subscribe("x > 0")
    network.run_until_quiet()
    network.remove_link("b1", "b2")
    network.run_until_quiet()
    network.add_link(Link(one="b1", other="b2"))
    network.run_until_quiet()
    network.crash("b2")
    network.restart("b2")
    network.run_until_quiet(1_000)
    feed.publish({"x": 1})
    network.run_until_quiet(1_000)
    assert [each.event for each in desk.received] == [{"x": 1}]


def test_who_may_publish_freely_after_a_switch_is_heard_once_all_know_of_it():
    """Where advertisements guided, no subscription is known at a broker that has none: it must get there first."""
    network = SimulatedNetwork(Topology.line(3), routing=Routing())
    desk, feed = network.connect("b1", "desk"), network.connect("b3", "feed")
    desk.subscribe("x > 0")
    network.run_until_quiet()
    for way in ("events", "advertisements", "subscriptions"):
        network.switch(Routing(way=way))
        network.run_until_quiet()
        if way != "advertisements":
            feed.publish({"x": 1})
            network.run_until_quiet()
    assert len(desk.received) == 2
