"""Durable subscriptions: what is kept for a client, delivered again, dropped and forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from tests.broker.pump import Pump
from thatch import parse
from thatch.broker.broker import Broker
from thatch.broker.effects import DeadLetter, Deliver, Effect, Ignored, Refuse
from thatch.broker.messages import Acknowledge, Subscribe
from thatch.broker.settings import Keeping, Limits, Routing
from thatch.broker.stimuli import ClientConnected, TimerFired

WAY = Routing(way="subscriptions")


class Desk:
    """A broker, and a client with a durable subscription to all events, which is away unless it connects."""

    def __init__(self, **keeping: Any) -> None:
        self.limits = Limits(keeping=Keeping(**keeping))
        self.net = Pump()
        self.net.brokers["a"] = Broker("a", WAY, limits=self.limits)
        self.net.items["a"] = {}
        self.session = ""
        self.net.say("a", "desk", Subscribe(subscription="all", filter=parse("true"), durable=True))

    def took(self, effects: list[Effect]) -> list[tuple[int, list[str]]]:
        """Numbers and events of deliveries."""
        made = [each for each in effects if isinstance(each, Deliver)]
        self.session = made[-1].session if made else self.session
        return [(each.number, [str(event["x"]) for event in each.frame.events()]) for each in made]

    def publish(self, *values: object) -> list[Effect]:
        return self.net.publish_all("a", "press", *({"x": value} for value in values))

    def connect(self) -> list[Effect]:
        return self.net.do("a", ClientConnected(now=self.net.now, client="desk"))

    def acknowledge(self, through: Any, session: Any = None) -> list[Effect]:
        return self.net.say("a", "desk", Acknowledge(session or self.session, through))

    def leave(self, *, for_good: bool = False) -> None:
        self.net.leave("a", "desk", for_good=for_good)

    def restart(self) -> None:
        items = self.net.items["a"]
        self.net.brokers["a"] = Broker("a", WAY, limits=self.limits, items=items)

    def kept(self) -> list[int]:
        numbers = [int(key[2]) for key in self.net.items["a"] if key[0] == "kept"]
        self.net.check()
        return sorted(numbers)


def dead(effects: list[Effect]) -> list[tuple[str, list[int]]]:
    return [
        (each.reason, [event["x"] for event in each.frame.events()])
        for each in effects
        if isinstance(each, DeadLetter)
    ]


def test_what_is_not_acknowledged_is_delivered_again_even_after_a_crash() -> None:
    desk = Desk()
    assert desk.took(desk.publish(1, 2)) == [(1, ["1", "2"])]
    desk.leave()
    assert desk.took(desk.publish(3)) == []
    desk.restart()
    assert desk.took(desk.publish(4)) == []
    assert desk.took(desk.connect()) == [(1, ["1", "2"]), (2, ["3"]), (3, ["4"])]
    desk.acknowledge(2)
    assert desk.kept() == [3]
    desk.leave()
    desk.restart()
    assert desk.took(desk.connect()) == [(3, ["4"])]
    desk.acknowledge(3)
    assert desk.kept() == []
    desk.restart()
    assert desk.took([*desk.connect(), *desk.publish(5)]) == [(4, ["5"])]


def test_only_so_many_deliveries_are_under_way() -> None:
    desk = Desk(window=2)
    assert desk.took([each for value in range(5) for each in desk.publish(value)]) == [(1, ["0"]), (2, ["1"])]
    assert desk.took(desk.acknowledge(1)) == [(3, ["2"])]
    assert desk.took(desk.publish(5)) == []
    assert desk.took(desk.acknowledge(3)) == [(4, ["3"]), (5, ["4"])]
    desk.leave()
    assert desk.took(desk.connect()) == [(4, ["3"]), (5, ["4"])]
    assert desk.took(desk.acknowledge(5)) == [(6, ["5"])]


def test_what_is_dropped_makes_room_for_what_waits() -> None:
    desk = Desk(window=1, events=2, age=100)
    assert desk.took([*desk.publish(1), *desk.publish(2)]) == [(1, ["1"])]
    desk.net.now = 10
    assert desk.took(desk.publish(3)) == [(2, ["2"])]
    (again,) = desk.net.do("a", TimerFired(now=105, timer="age desk"))[-2:-1]
    assert desk.took([again]) == [(3, ["3"])]


@pytest.mark.parametrize("limit", [{"events": 3}, {"bytes": 3 * 4}])
def test_of_too_much_the_oldest_is_dropped_and_told(limit: dict[str, int]) -> None:
    desk = Desk(**limit)
    desk.leave()
    assert dead([*desk.publish(1), *desk.publish(2, 3)]) == []
    assert dead(desk.publish(4)) == [("more events than are kept for a client", [1])]
    assert dead(desk.publish(5, 6, 7)) == [
        ("more events than are kept for a client", [2, 3]),
        ("more events than are kept for a client", [4]),
    ]
    assert desk.kept() == [4]
    assert desk.took(desk.connect()) == [(4, ["5", "6", "7"])]
    desk.restart()
    assert desk.took(desk.connect()) == [(4, ["5", "6", "7"])]


def test_what_was_kept_for_too_long_is_dropped_and_told() -> None:
    desk = Desk(age=100)
    desk.leave()
    desk.publish(1)
    desk.net.now = 60
    desk.publish(2)
    desk.restart()
    desk.net.timers.clear()
    desk.publish(3)
    desk.net.tick(39)
    assert desk.kept() == [1, 2, 3]
    desk.net.tick(1)
    assert desk.kept() == [2, 3]
    desk.net.tick(60)
    assert desk.kept() == []
    desk.net.tick(1_000)
    assert desk.net.timers == {}
    assert desk.took([*desk.connect(), *desk.publish(4)]) == [(4, ["4"])]


def test_what_was_delivered_too_often_is_dropped_and_told() -> None:
    desk = Desk(attempts=3)
    desk.publish(1)
    desk.restart()  # the first attempt counts
    assert desk.took(desk.connect()) == [(1, ["1"])]
    desk.publish(2)
    assert desk.took(desk.connect()) == [(1, ["1"]), (2, ["2"])]
    effects = desk.connect()
    assert dead(effects) == [("made too often, and never acknowledged", [1])]
    assert desk.took(effects) == [(2, ["2"])]
    assert desk.kept() == [2]


def test_other_subscriptions_of_the_client_are_delivered_apart_and_not_kept() -> None:
    desk = Desk()
    desk.net.say("a", "desk", Subscribe(subscription="some", filter=parse("x > 1")))
    kept, other = (each for each in desk.publish(1, 2) if isinstance(each, Deliver))
    assert (kept.number, kept.subscriptions, len(kept.frame)) == (1, (("all",), ("all",)), 2)
    assert (other.number, other.subscriptions, other.frame.events()) == (0, (("some",),), [{"x": 2}])


def test_a_subscription_may_become_durable_and_cease_to_be() -> None:
    desk = Desk()
    for durable, number in ((False, 0), (True, 1), (False, 0)):
        desk.net.say("a", "desk", Subscribe(subscription="all", filter=parse("true"), durable=durable))
        assert desk.took(desk.publish(1)) == [(number, ["1"])]
        desk.restart()
        desk.connect()
    refused = desk.net.say("a", "desk", Subscribe(subscription="s", filter=parse("true"), durable=5))  # type: ignore[arg-type] # wrong on purpose
    assert [type(each) for each in refused] == [Refuse]


@pytest.mark.parametrize("through", [2, 10**30, 1.0, None, "1", True])
def test_an_acknowledgement_of_what_was_not_delivered_is_ignored(through: Any) -> None:
    desk = Desk()
    assert desk.took(desk.publish(1)) == [(1, ["1"])]
    assert [type(each) for each in desk.acknowledge(through)] == [Ignored]
    assert [type(each) for each in desk.acknowledge(1, "another session")] == [Ignored]
    assert desk.kept() == [1]
    for _ in range(2):
        assert not any(isinstance(each, Ignored) for each in desk.acknowledge(1))
    assert desk.kept() == []
    desk.acknowledge(-5)
    ignored = desk.net.say("a", "press", Acknowledge(desk.session, 1))
    assert [type(each) for each in ignored] == [Ignored]


def test_nothing_is_left_of_a_client_that_leaves_for_good() -> None:
    desk = Desk()
    desk.publish(1)
    desk.leave(for_good=True)
    assert {key[0] for key in desk.net.items["a"]} == {"publisher"}
    assert desk.kept() == []
    before = desk.session
    desk.net.say("a", "desk", Subscribe(subscription="all", filter=parse("true"), durable=True))
    assert desk.took(desk.publish(2)) == [(1, ["2"])]
    assert desk.session != before


@pytest.mark.parametrize("name", ["events", "bytes", "age", "attempts", "window"])
def test_what_is_kept_has_limits_of_at_least_one(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Keeping(**{name: 0})
