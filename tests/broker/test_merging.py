"""Mergers in a network: subscriptions that a broker makes itself, one link at a time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.broker.pump import Pump
from tests.broker.test_resync import say
from tests.broker.test_snapshot import seen
from thatch.broker.broker import Broker
from thatch.broker.effects import Confirm, Persist, SendPacket
from thatch.broker.merge_timer import MergeTimer
from thatch.broker.messages import BucketRequest, Entries, Publish, Subscribe, Unsubscribe
from thatch.broker.resync import BUCKETS
from thatch.broker.settings import Routing
from thatch.broker.stimuli import ClientConnected
from thatch.reduction import Exact, Flooding, Merging
from thatch.reduction.merging import When

PERFECT = Routing(way="subscriptions", policy=Merging())
LOOSE = Routing(way="subscriptions", policy=Merging(threshold=1.0))


def filters(net: Pump, name: str) -> list[str]:
    """What a broker knows that others want."""
    tables = net.brokers[name].tables
    return sorted(str(each.filter) for link in tables.links.values() for each in link.subscriptions.values())


def mergers(net: Pump, name: str) -> set[str]:
    return {each for each in net.known(name) if each.startswith("merger ")}


def test_mergers_are_merged_again_where_they_meet() -> None:
    net = Pump("a-m b-m m-z", PERFECT)
    for place, broker in enumerate("aabb"):
        net.subscribe(broker, f"s{place}", f"x between {place} and {place + 1}")
    assert filters(net, "m") == ["x between 0 and 2", "x between 2 and 4"]
    assert filters(net, "z") == ["x between 0 and 4"]
    for value, wanting in ((0.5, ["s0"]), (2, ["s1", "s2"]), (4, ["s3"]), (5, [])):
        assert net.publish("z", "nobody", {"x": value}) == wanting
    net.unsubscribe("a", "s1")
    assert filters(net, "m") == ["x between 0 and 1", "x between 2 and 4"]
    assert filters(net, "z") == ["x between 0 and 1", "x between 2 and 4"]
    net.check()


def test_links_of_one_broker_and_of_several_never_give_a_name_twice() -> None:
    net = Pump("a-b a-c b-d c-e", PERFECT)
    given: list[str] = []
    for turn in range(3):
        for name in ("a", "d", "e"):
            net.subscribe(name, f"{name} low {turn}", "x < 5")
            net.subscribe(name, f"{name} mid {turn}", "x = 5")
        for name in ("a", "d", "e"):
            net.unsubscribe(name, f"{name} low {turn}")
            net.unsubscribe(name, f"{name} mid {turn}")
        net.crash("a", forgets=turn == 1)
        net.tick(5)
    for sender, _, message in net.sent:
        if isinstance(message, Subscribe) and message.subscription.startswith(f"merger {sender}/"):
            given.append(message.subscription)
    assert len(given) > 6
    assert len(given) == len(set(given))
    assert not any(map(net.known, "abcde"))


def test_clients_see_no_false_positive_and_the_edge_drops_it() -> None:
    net = Pump("a-b b-c", LOOSE)
    net.subscribe("a", "s", "x = 1")
    net.subscribe("a", "t", "x = 9")
    assert filters(net, "c") == ["x between 1 and 9"]
    net.sent.clear()
    assert net.publish("c", "nobody", {"x": 5}) == []
    assert [receiver for _, receiver, message in net.sent if isinstance(message, Publish)] == ["b", "a"]
    assert net.publish("c", "nobody", {"x": 9}) == ["t"]


def test_whoever_unsubscribes_is_told_when_the_merger_is_gone_everywhere() -> None:
    net = Pump("a-b b-c", PERFECT)
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    net.tick(5)
    net.is_eager = False
    net.unsubscribe("a", "t")

    def told() -> bool:
        return any(isinstance(effect, Confirm) for _, effect in net.told)

    while mergers(net, "b") or mergers(net, "c"):
        assert not told()
        assert net.packets
        net.deliver()
    net.run()
    assert told()
    assert net.known("a") == net.known("b") == net.known("c") == {"s"}


def test_a_lease_that_ends_takes_the_merger_with_it() -> None:
    net = Pump("a-b", PERFECT)
    net.subscribe("a", "s", "x < 5", expires=50)
    net.subscribe("a", "t", "x = 5")
    assert filters(net, "b") == ["x <= 5"]
    net.tick(60)
    net.check()
    assert filters(net, "b") == ["x = 5"]
    assert net.publish("b", "nobody", {"x": 5}) == ["t"]


def test_an_advertisement_that_ends_draws_no_merger_any_more() -> None:
    net = Pump("a-b b-c", Routing(policy=Merging(), advertising=Merging()))
    net.advertise("c", "low", "x < 5")
    net.advertise("c", "mid", "x = 5")
    assert [str(each.filter) for each in net.brokers["a"].tables.advertisements.values()] == ["x <= 5"]
    net.subscribe("a", "s", "x <= 4")
    net.subscribe("a", "t", "x between 4 and 5")
    assert filters(net, "c") == ["x <= 5"]
    net.unadvertise("c", "low")
    net.check()
    assert [str(each.filter) for each in net.brokers["a"].tables.advertisements.values()] == ["x = 5"]
    assert filters(net, "c") == ["x between 4 and 5"]
    assert net.publish("c", "mid", {"x": 5}) == ["t"]


@pytest.mark.parametrize("policy", [Exact(), Flooding(), Merging(), Merging(intervals=4)], ids=repr)
@pytest.mark.parametrize("then", [Exact(), Flooding(), Merging(), Merging(threshold=1.0)], ids=repr)
def test_the_policy_may_change_while_events_travel(policy: Any, then: Any) -> None:
    net = Pump("a-b b-c", Routing(way="subscriptions", policy=policy))
    for place in range(4):
        net.subscribe("a", f"s{place}", f"x between {2 * place} and {2 * place + 1}")
    net.subscribe("a", "t", "x between 1 and 4")
    net.is_eager = False
    net.publish("c", "nobody", {"x": 4})
    net.switch(Routing(way="subscriptions", policy=then), "a", "b")
    net.publish("c", "nobody", {"x": 1})
    net.run()
    net.check()
    assert sorted(net.delivered) == [
        ("client of s0", "client of nobody#2"),
        ("client of s2", "client of nobody#1"),
        ("client of t", "client of nobody#1"),
        ("client of t", "client of nobody#2"),
    ]
    direct = Pump("a-b b-c", Routing(way="subscriptions", policy=then))
    for place in range(4):
        direct.subscribe("a", f"s{place}", f"x between {2 * place} and {2 * place + 1}")
    direct.subscribe("a", "t", "x between 1 and 4")
    assert filters(net, "b") == filters(direct, "b")


def test_a_broker_comes_back_with_its_mergers_and_has_nothing_to_say() -> None:
    net = Pump("a-b b-c", PERFECT)
    for place in range(6):
        net.subscribe("a", f"s{place}", f"x between {place} and {place + 1}")
    net.subscribe("b", "t", "x between 6 and 9")
    net.tick(5)
    for name, broker in net.brokers.items():
        again = Broker(name, broker.routing, items=net.items[name])
        assert seen(again) == seen(broker)
        effects = again.handle(ClientConnected(now=0, client="x"))
        assert not any(isinstance(each, SendPacket | Persist) for each in effects)
    before = mergers(net, "c")
    net.crash("b")
    net.tick(5)
    net.check()
    assert mergers(net, "c") == before
    net.unsubscribe("a", "s2")
    assert filters(net, "c") == ["x between 0 and 2", "x between 3 and 9"]
    assert net.publish("c", "nobody", {"x": 2.5}) == []
    assert net.publish("c", "nobody", {"x": 3.5}) == ["s3"]


def test_a_stricter_policy_after_coming_back_takes_the_mergers_back() -> None:
    net = Pump("a-b", LOOSE)
    net.subscribe("a", "s", "x = 1")
    net.subscribe("a", "t", "x = 9")
    net.brokers["a"].tables.routing = PERFECT
    net.crash("a")
    net.tick(5)
    net.check()
    assert net.known("b") == {"s", "t"}


def test_a_neighbour_that_lost_its_memory_learns_of_mergers_again() -> None:
    net = Pump("a-b b-c", PERFECT)
    for place in range(6):
        net.subscribe("a", f"s{place}", f"x between {place} and {place + 1}")
    for name in "bc":
        net.crash(name, forgets=True)
        net.tick(5)
        net.check()
    assert filters(net, "c") == ["x between 0 and 6"]
    assert net.publish("c", "nobody", {"x": 1}) == ["s0", "s1"]


def test_digests_know_mergers() -> None:
    net = Pump("a-b", PERFECT)
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    net.sent.clear()
    say(net, "b", "a", BucketRequest(tuple(range(BUCKETS)), ()))
    (entries,) = [message for *_, message in net.sent if isinstance(message, Entries)]
    (merger,) = entries.subscriptions
    assert {merger.subscription} == net.known("b")
    assert str(merger.filter) == "x <= 5"


def test_a_link_that_is_lost_leaves_nothing_of_its_mergers() -> None:
    net = Pump("a-b b-c", PERFECT)
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    net.cut("a", "b", for_good=True)
    net.check()
    assert net.known("b") == net.known("c") == set()
    assert not any(key[0] == "merger" for items in net.items.values() for key in items)


def test_a_story_names_the_merger_as_the_neighbour_knows_it() -> None:
    net = Pump("a-b", PERFECT)
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    (merger,) = net.known("b")
    assert f"b: not sent, since it is covered there by {merger}." in net.brokers["a"].explain("s")
    assert net.brokers["a"].explain(merger)[0].endswith("was sent to b.")


def test_what_goes_with_a_client_is_sent_once() -> None:
    net = Pump("a-b", PERFECT)
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    net.sent.clear()
    net.leave("a", "client of s")
    kinds = [type(message) for sender, _, message in net.sent if sender == "a"]
    assert kinds == [Subscribe, Unsubscribe]
    assert net.known("b") == {"t"}


# --- occasions -------------------------------------------------------------------------------------------------------


def seldom(when: When) -> Routing:
    return Routing(way="subscriptions", policy=Merging(every=None, when=when))


def merge_timers(net: Pump) -> list[tuple[str, float]]:
    """The timers for merging that brokers have set."""
    return [(name, at) for (name, timer), at in net.timers.items() if timer.startswith("merge ")]


def test_a_period_that_ends_merges_though_nothing_comes() -> None:
    net = Pump("a-b", seldom(When(period=30)))
    net.tick(0.1)  # a moment that is no sum of powers of two
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    net.tick(29)
    assert filters(net, "b") == ["x < 5", "x = 5"]
    net.tick(2)
    net.check()
    assert filters(net, "b") == ["x <= 5"]
    assert merge_timers(net) == []
    assert net.publish("b", "nobody", {"x": 5}) == ["t"]


def test_a_rate_is_known_a_second_after_all_came_at_once() -> None:
    net = Pump("a-b", seldom(When(rate=2)))
    net.subscribe("a", "s", "x < 5")
    net.tick(1.5)
    assert merge_timers(net) == []  # once is enough: from now on it only falls
    net.subscribe("a", "t", "x = 5")
    assert filters(net, "b") == ["x < 5", "x = 5"]
    busy = Pump("a-b", seldom(When(rate=2)))
    busy.subscribe("a", "s", "x < 5")
    busy.subscribe("a", "t", "x = 5")
    assert filters(busy, "b") == ["x < 5", "x = 5"]
    busy.tick(1.5)
    assert filters(busy, "b") == ["x <= 5"]


def test_a_link_that_many_events_pass_is_merged() -> None:
    net = Pump("a-b", seldom(When(bandwidth=3)))
    net.subscribe("b", "wants", "y = 1")
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    for events, known in ((2, ["x < 5", "x = 5"]), (4, ["x <= 5"])):
        for _ in range(events):
            net.publish("a", "nobody", {"y": 1})
        net.tick(3)
        net.check()
        assert filters(net, "b") == known
        assert merge_timers(net) == []


def test_a_restored_broker_sets_its_merge_timer_again() -> None:
    net = Pump("a-b", seldom(When(period=30)))
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    net.crash("a")
    net.tick(29)
    assert filters(net, "b") == ["x < 5", "x = 5"]
    net.tick(2)
    assert filters(net, "b") == ["x <= 5"]


def test_advertisements_have_occasions_too() -> None:
    net = Pump("a-b", Routing(advertising=Merging(every=None, when=When(period=30))))
    net.advertise("a", "low", "x < 5")
    net.advertise("a", "mid", "x = 5")
    net.tick(31)
    net.check()
    assert [str(each.filter) for each in net.brokers["b"].tables.advertisements.values()] == ["x <= 5"]


def test_merge_timers_are_set_only_where_something_waits() -> None:
    net = Pump("a-b", seldom(When(period=30, rate=1000, bandwidth=1000)))
    net.subscribe("b", "wants", "y = 1")
    net.tick(100)
    net.publish("a", "nobody", {"y": 1})
    assert merge_timers(net) == []
    net.tick(100)
    assert filters(net, "a") == ["y = 1"]


def test_bandwidth_is_known_when_events_were_counted_for_a_second():
    timer = MergeTimer("b2")
    assert timer.fire(4.0) is None
    for now in (5.0, 5.25, 5.5):
        timer.count_events(now, 1)
    assert timer.counted_at == 6.0
    assert timer.fire(5.0) is None
    assert timer.fire(5.99) is None
    assert timer.fire(6.5) == 2.0
    assert timer.fire(9.0) is None
