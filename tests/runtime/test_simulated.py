"""The simulated network: time, links, faults and records."""

from __future__ import annotations

import pytest

from thatch.broker.event_codec import encode_event
from thatch.broker.messages import Publish, Subscribe
from thatch.broker.settings import Routing, Timing
from thatch.errors import EventError, ParameterError
from thatch.model.topology import Link, Topology
from thatch.runtime.simulated import Faults, SimulatedNetwork

EVERYWHERE = Routing(way="subscriptions")
FLOODED = Routing(way="events")


def made(topology: Topology, routing: Routing = EVERYWHERE, **more) -> SimulatedNetwork:
    network = SimulatedNetwork(topology, routing=routing, **more)
    network.run_until_quiet()
    return network


def events_of(client) -> list:
    return [each.event for each in client.received]


def a_run(seed: int) -> SimulatedNetwork:
    network = made(Topology.tree(7), faults=Faults(loss=0.3, duplication=0.2), seed=seed)
    people = [network.connect(f"b{number}", f"c{number}") for number in range(1, 8)]
    for number, person in enumerate(people):
        person.subscribe(f"x between {number} and {number + 3}")
    network.run_until_quiet()
    for number, person in enumerate(people):
        person.publish({"x": number})
    network.run_until_quiet()
    return network


def test_events_reach_those_who_want_them():
    network = made(Topology.line(4))
    feed, desk, other = (network.connect(*each) for each in (("b1", "feed"), ("b4", "desk"), ("b2", "other")))
    wish = desk.subscribe("price < 150")
    other.subscribe("price > 150")
    network.run_until_quiet()
    identity = feed.publish({"price": 120})
    network.run_until_quiet()
    assert [(each.publication, each.subscriptions) for each in desk.received] == [(identity, (wish,))]
    assert other.received == []


def test_the_same_seed_gives_the_same_run_and_another_another():
    one, same, other = a_run(5).records, a_run(5).records, a_run(6).records
    assert one.deliveries == same.deliveries
    assert one.traffic() == same.traffic()
    assert (one.lost, one.duplicated) == (same.lost, same.duplicated)
    assert (one.lost, one.traffic()) != (other.lost, other.traffic())
    assert {(each.publication, each.client) for each in one.deliveries} == {
        (each.publication, each.client) for each in other.deliveries
    }


def test_a_packet_takes_the_latency_of_every_link_on_its_way():
    network = made(Topology.line(4, latency=0.25))
    desk = network.connect("b4", "desk")
    desk.subscribe("true")
    network.run_until_quiet()
    network.connect("b1", "feed").publish({"x": 1})
    network.run_until_quiet()
    assert [each.delay for each in network.records.deliveries] == [pytest.approx(0.75)]


def test_a_packet_waits_for_those_before_it_and_takes_time_for_its_bytes():
    network = made(Topology.line(2, latency=0.5, bandwidth=1_000.0))
    desk = network.connect("b2", "desk")
    desk.subscribe("true")
    network.run_until_quiet()
    feed = network.connect("b1", "feed")
    for number in range(3):
        feed.publish({"x": number})
    network.run_until_quiet()
    size = 32 + len("feed") + 6 + len(encode_event({"x": 0}))
    delays = [each.delay for each in network.records.deliveries]
    assert delays == [pytest.approx(0.5 + (number + 1) * size / 1_000) for number in range(3)]


def test_what_is_lost_is_sent_again_and_what_is_doubled_comes_once():
    network = made(Topology.line(3), faults=Faults(loss=0.5, duplication=0.5), seed=1)
    desk = network.connect("b3", "desk")
    desk.subscribe("x >= 0")
    network.run_until_quiet()
    feed = network.connect("b1", "feed")
    for number in range(50):
        feed.publish({"x": number})
    network.run_until_quiet()
    assert events_of(desk) == [{"x": number} for number in range(50)]
    assert network.records.lost > 20
    assert network.records.duplicated > 20


def test_a_broker_that_crashed_goes_on_where_it_was():
    network = made(Topology.line(3))
    desk, feed = network.connect("b3", "desk"), network.connect("b1", "feed")
    desk.subscribe("x >= 0")
    network.run_until_quiet()
    network.crash("b2")
    assert not network.is_running("b2")
    feed.publish({"x": 1})
    network.run_until_quiet()
    assert desk.received == []
    network.restart("b2")
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 1}]


def test_a_step_that_is_on_disk_has_happened_even_if_nothing_was_sent():
    network = made(Topology.line(2))
    desk, feed = network.connect("b2", "desk"), network.connect("b1", "feed")
    desk.subscribe("x >= 0")
    network.run_until_quiet()
    network.crash("b1", in_step=True)
    assert network.is_running("b1")
    feed.publish({"x": 1})
    assert not network.is_running("b1")
    assert not feed.is_connected
    with pytest.raises(ParameterError, match="connected"):
        feed.publish({"x": 2})
    network.run_until_quiet()
    assert desk.received == []
    network.restart("b1")
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 1}]
    assert feed.is_connected


def test_a_broker_that_lost_its_disk_is_told_all_again():
    network = made(Topology.line(3))
    desk, feed = network.connect("b3", "desk"), network.connect("b1", "feed")
    desk.subscribe("x >= 0")
    feed.subscribe("y >= 0")
    network.run_until_quiet()
    for name in ("b2", "b3"):
        network.crash(name)
        network.restart(name, forget=True)
        network.run_until_quiet()
    feed.publish({"x": 1})
    desk.publish({"y": 1})
    network.run_until_quiet()
    assert (events_of(desk), events_of(feed)) == ([{"x": 1}], [{"y": 1}])


def test_a_cut_link_heals_and_nothing_is_lost():
    network = made(Topology.line(2))
    desk, feed = network.connect("b2", "desk"), network.connect("b1", "feed")
    desk.subscribe("x >= 0")
    network.run_until_quiet()
    network.cut("b1", "b2")
    assert network.is_cut("b2", "b1")
    feed.publish({"x": 1})
    network.run_until_quiet()
    assert desk.received == []
    network.heal("b1", "b2")
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 1}]


def test_what_is_under_way_when_a_link_is_cut_is_lost_and_sent_again():
    network = made(Topology.line(2, latency=1.0), timing=Timing(resend=3.0, failure=30.0))
    desk, feed = network.connect("b2", "desk"), network.connect("b1", "feed")
    desk.subscribe("x >= 0")
    network.run_until_quiet()
    start = network.now
    feed.publish({"x": 1})
    network.run(start + 0.5)
    network.cut("b1", "b2")
    network.heal("b1", "b2")
    network.run_until_quiet()
    assert [each.delay for each in network.records.deliveries] == [pytest.approx(1.5)]


def test_a_link_that_is_cut_silently_is_found_out():
    network = made(Topology.line(2), timing=Timing(resend=1.0, failure=5.0))
    desk, feed = network.connect("b2", "desk"), network.connect("b1", "feed")
    desk.subscribe("x >= 0")
    network.run_until_quiet()
    network.cut("b1", "b2", silently=True)
    feed.publish({"x": 1})
    with pytest.raises(ParameterError, match="not quiet after 100 seconds"):
        network.run_until_quiet(100)
    assert set(network.records.failures) == {("b1", "b2")}
    network.heal("b1", "b2")
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 1}]


def test_traffic_that_nobody_needs_is_told_apart():
    network = made(Topology.line(4), FLOODED)
    network.connect("b3", "desk").subscribe("x > 5")
    feed = network.connect("b2", "feed")
    feed.publish({"x": 6})  # needed to b3, but not to b1 and b4
    feed.publish({"x": 1})  # needed nowhere
    network.run_until_quiet()
    records = network.records
    assert (records.needed, records.superfluous) == (1, 5)
    assert records.publications_sent == 6
    assert (records.published, records.wanted, len(records.deliveries)) == (2, 1, 1)


def test_subscriptions_stop_events_early():
    network = made(Topology.line(4))
    network.connect("b3", "desk").subscribe("x > 5")
    network.run_until_quiet()
    feed = network.connect("b2", "feed")
    feed.publish({"x": 6})
    feed.publish({"x": 1})
    network.run_until_quiet()
    assert (network.records.needed, network.records.superfluous) == (1, 0)


def test_traffic_is_counted_by_kind_and_link():
    network = made(Topology.line(3))
    network.connect("b3", "desk").subscribe("x > 5", "s")
    network.run_until_quiet()
    rows = [each for each in network.records.traffic() if each.kind == "subscribe"]
    assert [(each.source, each.target, each.messages) for each in rows] == [("b2", "b1", 1), ("b3", "b2", 1)]
    assert network.records.by_kind()["subscribe"] == (2, sum(each.bytes for each in rows))
    assert network.records.messages(Subscribe) == 2
    assert network.records.messages(Subscribe, Publish) == 2
    assert all(each.bytes > 32 for each in rows)


def test_samples_tell_how_large_tables_are():
    network = made(Topology.line(3), Routing())
    network.connect("b1", "feed").advertise("x > 0")
    desk = network.connect("b2", "desk")
    network.run_until_quiet()
    desk.subscribe("x > 5")
    desk.subscribe("x > 7")
    network.run_until_quiet()
    network.sample()
    sizes = {each.broker: tuple(each)[2:] for each in network.records.samples}
    assert sizes == {"b1": (1, 1, 0), "b2": (2, 1, 1), "b3": (0, 1, 0)}


def test_what_a_broker_refuses_is_raised_at_the_client():
    network = made(Topology.line(2), Routing())
    feed = network.connect("b1", "feed")
    with pytest.raises(EventError, match="advertised"):
        feed.publish({"x": 1})
    feed.advertise("x > 0")
    feed.publish({"x": 1})
    assert [each.number for each in feed.refused_events] == [1]


def test_unsubscriptions_are_confirmed_when_they_are_done_everywhere():
    network = made(Topology.line(3))
    desk = network.connect("b3", "desk")
    wish = desk.subscribe("x > 0")
    network.run_until_quiet()
    request = desk.unsubscribe(wish)
    assert desk.confirmed == []
    network.run_until_quiet()
    assert desk.confirmed == [request]
    network.connect("b1", "feed").publish({"x": 1})
    network.run_until_quiet()
    assert desk.received == []


def test_subscriptions_expire_by_themselves():
    network = made(Topology.line(2))
    desk, feed = network.connect("b2", "desk"), network.connect("b1", "feed")
    desk.subscribe("x > 0", expires=network.now + 100)
    network.run_until_quiet()
    feed.publish({"x": 1})
    network.run(network.now + 50)
    feed.publish({"x": 2})
    network.run(network.now + 60)
    feed.publish({"x": 3})
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 1}, {"x": 2}]


def test_brokers_join_and_leave():
    network = made(Topology.line(2))
    feed = network.connect("b1", "feed")
    network.add_broker("new")
    desk = network.connect("new", "desk")
    desk.subscribe("x > 0")
    network.add_link(Link(one="b2", other="new"))
    network.run_until_quiet()
    feed.publish({"x": 1})
    network.run_until_quiet()
    network.remove_link("b2", "new")
    network.run_until_quiet()
    feed.publish({"x": 2})
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 1}]
    assert network.records.messages(Publish) == 2  # from b1 to b2, and on


def test_a_cycle_is_refused_by_the_brokers_themselves():
    network = made(Topology.line(3))
    desk = network.connect("b3", "desk")
    desk.subscribe("x > 0")
    network.run_until_quiet()
    network.add_link(Link(one="b1", other="b3"))
    network.run_until_quiet()
    assert {link.ends for link in network.links()} == {("b1", "b2"), ("b2", "b3")}
    assert network.records.closed
    network.connect("b1", "feed").publish({"x": 1})
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 1}]


def test_the_way_can_be_switched_while_running():
    network = made(Topology.line(3), FLOODED)
    desk, feed = network.connect("b3", "desk"), network.connect("b1", "feed")
    desk.subscribe("x > 5")
    network.switch(EVERYWHERE)
    network.run_until_quiet()
    feed.publish({"x": 6})
    feed.publish({"x": 1})
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 6}]
    assert network.records.superfluous == 0


def test_work_can_be_planned():
    network = made(Topology.line(2))
    desk, feed = network.connect("b2", "desk"), network.connect("b1", "feed")
    desk.subscribe("x > 0")
    start = network.now
    network.at(start + 7, lambda: feed.publish({"x": 1}))
    network.run_until_quiet()
    assert [each.at for each in desk.received] == [pytest.approx(start + 7.01)]
    with pytest.raises(ParameterError, match="a time from now"):
        network.at(start, feed.disconnect)


@pytest.mark.parametrize(
    "deed",
    [
        lambda network: network.connect("none", "c"),
        lambda network: network.connect("b1", "taken"),
        lambda network: network.crash("none"),
        lambda network: network.restart("b1"),
        lambda network: network.cut("b1", "b3"),
        lambda network: network.heal("b1", "none"),
        lambda network: network.add_broker("b1"),
        lambda network: network.add_link(Link(one="b1", other="b2")),
        lambda network: network.add_link(Link(one="b1", other="none")),
        lambda network: network.remove_link("b1", "b3"),
        lambda network: network.switch(FLOODED, "none"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_changes(deed):
    network = made(Topology.line(3))
    network.connect("b2", "taken")
    before = (network.brokers, list(network.links()), network.routing)
    with pytest.raises(ParameterError):
        deed(network)
    assert (network.brokers, list(network.links()), network.routing) == before


@pytest.mark.parametrize("faults", [{"loss": 1.0}, {"loss": -0.1}, {"duplication": float("nan")}])
def test_probabilities_are_checked(faults):
    with pytest.raises(ParameterError):
        Faults(**faults)


def test_a_client_that_is_away_gets_nothing_and_comes_back():
    network = made(Topology.line(2))
    desk, feed = network.connect("b2", "desk"), network.connect("b1", "feed")
    desk.subscribe("x > 0")
    network.run_until_quiet()
    desk.disconnect()
    feed.publish({"x": 1})
    network.run_until_quiet()
    desk.reconnect()
    feed.publish({"x": 2})
    network.run_until_quiet()
    assert events_of(desk) == [{"x": 2}]
    desk.disconnect(for_good=True)
    network.run_until_quiet()
    feed.publish({"x": 3})
    network.run_until_quiet()
    assert network.records.superfluous == 0
    assert network.connect("b1", "desk").received == []
