"""The network for scripts without asyncio."""

from __future__ import annotations

import signal
import threading

import pytest

from thatch.broker.settings import Routing
from thatch.errors import EventError, ParameterError
from thatch.model.topology import Topology
from thatch.runtime.blocking import BlockingNetwork

EVERYWHERE = Routing(way="subscriptions")


def test_events_reach_those_who_want_them():
    with BlockingNetwork(Topology.line(3), routing=EVERYWHERE) as net:
        feed, desk = net.connect("b1", "feed"), net.connect("b3", "desk")
        assert (desk.name, desk.broker, net.brokers) == ("desk", "b3", ("b1", "b2", "b3"))
        with desk.subscribe("x > 0", subscription="high") as events:
            net.settle()
            for number in range(3):
                feed.publish({"x": number})
            net.settle()
            assert (events.id, str(events.filter), events.waiting, events.dropped) == ("high", "x > 0", 2, 0)
            assert "wanted by high" in str(net.explain_route({"x": 1}, "b1"))
        assert list(events) == [{"x": 1}, {"x": 2}]


def test_reading_waits_no_longer_than_asked():
    with BlockingNetwork(Topology.line(1), routing=EVERYWHERE) as net, net.connect("b1", "desk") as desk:
        events = desk.subscribe("x > 0")
        with pytest.raises(TimeoutError):
            events.next(timeout=0.01)
        desk.publish({"x": 1})
        assert events.next(timeout=30) == {"x": 1}


def test_many_events_are_published_at_once():
    with BlockingNetwork(Topology.line(2), routing=EVERYWHERE) as net:
        feed, desk = net.connect("b1", "feed"), net.connect("b2", "desk")
        events = desk.subscribe("x > 0")
        net.settle()
        done = feed.publish_all([{"x": 1}, {"x": object()}, {"x": -1}, {"x": 2}])
        net.settle()
        assert (done.published, [each.place for each in done.refused]) == (3, [1])
        assert [events.next() for _ in range(events.waiting)] == [{"x": 1}, {"x": 2}]


def test_another_thread_may_publish():
    with BlockingNetwork(Topology.line(2), routing=EVERYWHERE) as net:
        desk, feed = net.connect("b1", "desk"), net.connect("b2", "feed")
        events = desk.subscribe("x > 0")
        net.settle()
        thread = threading.Thread(target=feed.publish, args=({"x": 1},))
        thread.start()
        assert events.next(timeout=30) == {"x": 1}
        thread.join()


def test_refusals_are_raised():
    with BlockingNetwork(Topology.line(2)) as net:
        feed = net.connect("b1", "feed")
        with pytest.raises(EventError):
            feed.publish({"x": 1})
        offer = feed.advertise("x > 0")
        feed.publish({"x": 1})
        feed.unadvertise(offer)
        net.switch(EVERYWHERE)
        feed.publish({"x": 1})


def test_no_thread_is_left_and_calls_after_the_end_are_refused():
    before = threading.active_count()
    net = BlockingNetwork(Topology.line(2), routing=EVERYWHERE)
    with pytest.raises(ParameterError, match="not running"):
        net.connect("b1", "early")
    with net:
        desk = net.connect("b1", "desk")
        events = desk.subscribe("x > 0")
    assert threading.active_count() == before
    for deed in (net.settle, events.next, lambda: desk.publish({}), lambda: net.brokers):
        with pytest.raises(ParameterError, match="not running"):
            deed()
    with net:  # it can be entered again
        assert net.connect("b1", "desk").name == "desk"


def test_an_error_of_the_body_is_passed_on():
    before = threading.active_count()
    with pytest.raises(KeyError), BlockingNetwork():
        raise KeyError("mine")
    assert threading.active_count() == before


def test_an_error_on_the_way_in_is_raised_there():
    with pytest.raises(AttributeError), BlockingNetwork("no topology"):  # type: ignore[arg-type]
        pass


def test_an_event_that_comes_as_its_reader_gives_up_waits_for_the_next_one():
    with BlockingNetwork(Topology.line(1), routing=EVERYWHERE) as net, net.connect("b1", "desk") as desk:
        events = desk.subscribe("x >= 0")
        got = []
        for number in range(200):
            publishing = threading.Thread(target=desk.publish, args=({"x": number},))
            publishing.start()
            try:
                got.append(events.next(timeout=0.0005))
            except TimeoutError:
                got.append(events.next(timeout=30))
            publishing.join()
        assert got == [{"x": number} for number in range(200)]


def test_ctrl_c_while_reading_takes_no_event_along():
    with BlockingNetwork(Topology.line(1), routing=EVERYWHERE) as net, net.connect("b1", "desk") as desk:
        events = desk.subscribe("x >= 0")
        for number in range(5):
            timer = threading.Timer(0.02, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - on a busy machine it comes before `next`
                timer.start()
                events.next(timeout=30)
            timer.join()
            desk.publish({"x": number})
            assert events.next(timeout=30) == {"x": number}
