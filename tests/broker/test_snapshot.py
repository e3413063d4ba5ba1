from __future__ import annotations

from typing import Any

import pytest

from tests.broker.pump import Pump
from thatch.broker.broker import Broker
from thatch.broker.effects import Persist, SendPacket, SetTimer
from thatch.broker.settings import Routing
from thatch.broker.stimuli import ClientConnected, LinkUp
from thatch.broker.tables import LocalClient
from thatch.reduction.forwarding.policies import Exact, Flooding, Merging, NegativeSpace, Pairwise

POLICIES = [
    Exact(),
    Exact(demote=True),
    Pairwise(demote=True),
    Flooding(),
    NegativeSpace(),
    Merging(),
    Merging(threshold=0.2),
]


def seen(broker: Broker) -> dict[str, Any]:
    """All that a broker knows, in a form that can be compared."""
    tables = broker.tables

    def hop(each: Any) -> tuple[str, str]:
        return ("client" if isinstance(each, LocalClient) else "broker", each.name)

    return {
        "subscriptions": {
            each.id: (
                each.filter,
                hop(each.hop),
                each.order,
                each.expires,
                each.leaving and each.leaving.id,
            )
            for each in tables.subscriptions.values()
        },
        "advertisements": {
            each.id: (each.filter, each.closed, hop(each.hop), each.order, each.expires)
            for each in tables.advertisements.values()
        },
        "awaited": {
            request: (each.id, each.subscription, each.waiting, [(hop(h), r) for h, r in each.owed])
            for request, each in tables.awaited.items()
        },
        "links": {
            link.name: (
                link.order,
                link.is_joined,
                link.awaits_reports,
                link.began,
                link.gives_subscriptions,
                link.gives_advertisements,
                link.said_complete,
                *((sent.told, set(sent)) for sent in link.sent),
                link.channel.session,
                link.channel.peer,
                link.channel.is_paired,
                link.channel.number,
                link.channel.received,
                link.channel.acknowledged,
                link.channel.outbox,
            )
            for link in tables.links.values()
        },
        "reports": {each: tables.map.reports[each] for each in tables.mapped},
        "kept": {
            name: (each.kept.session, each.kept.acknowledged, each.kept.last, each.kept.waiting)
            for name, each in tables.clients.items()
            if each.kept is not None
        },
        "publishers": {name: number for name, (number, _) in tables.publishers.known.items()},
        "expiry": sorted(  # others are left over
            {
                (at, kind, about)
                for at, kind, about in tables.expiries
                if about in getattr(tables, f"{kind}s") and getattr(tables, f"{kind}s")[about].expires == at
                if kind == "advertisement" or tables.subscriptions[about].leaving is None
            }
        ),
    }


def busy(routing: Routing) -> Pump:
    """A network in the middle of things."""
    net = Pump("a-b b-c b-d", routing)
    net.advertise("a", "ad", "x >= 0", expires=100)
    net.advertise("d", "closed", "y >= 0", closed=True)
    for number in range(6):
        net.subscribe("c", f"s{number}", f"x between {number} and {2 * number}", expires=50 + number)
    net.subscribe("b", "here", "x <= 20")
    net.subscribe("d", "t", "y = 1 or x = 3")
    net.publish("a", "ad", {"x": 3})
    net.is_eager = False
    net.unsubscribe("b", "here")
    net.unsubscribe("c", "s2")
    for _ in range(3):
        if net.packets:
            net.deliver()
    net.publish("a", "ad", {"x": 3}, checks=False)
    return net


@pytest.mark.parametrize("way", ["advertisements", "subscriptions", "events"])
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_a_broker_comes_back_as_it_was(way: Any, policy: Any) -> None:
    net = busy(Routing(way=way, policy=policy))
    for name, broker in net.brokers.items():
        again = Broker(name, broker.routing, items=net.items[name])
        assert seen(again) == seen(broker)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_a_broker_that_came_back_has_nothing_to_say(policy: Any) -> None:
    net = busy(Routing(policy=policy))
    for name, broker in net.brokers.items():
        again = Broker(name, broker.routing, items=net.items[name])
        effects = again.handle(ClientConnected(now=0, client="x"))
        assert not any(isinstance(each, SendPacket | Persist) for each in effects)


def test_timers_are_set_again_in_the_first_step() -> None:
    net = busy(Routing())
    again = Broker("c", items=net.items["c"])
    first = again.handle(ClientConnected(now=0, client="x"))
    assert [(each.timer, each.at) for each in first if isinstance(each, SetTimer)] == [("expiry", 50)]
    again = Broker("c", items=net.items["c"])
    effects = again.handle(LinkUp(now=0, neighbour="b"))
    timers = {each.timer for each in effects if isinstance(each, SetTimer)}
    assert timers == {"expiry", "resend b"}


def test_what_was_not_acknowledged_is_sent_again_when_the_link_is_up() -> None:
    net = busy(Routing())
    outbox = net.brokers["c"].tables.links["b"].channel.outbox
    assert outbox
    again = Broker("c", items=net.items["c"])
    packets = [
        each.packet for each in again.handle(LinkUp(now=0, neighbour="b")) if isinstance(each, SendPacket)
    ]
    assert {packet.number: packet.message for packet in packets} == outbox


def test_another_policy_after_coming_back_sends_the_difference_and_not_before() -> None:
    net = Pump("a-b", Routing(way="subscriptions", policy=Flooding()))
    net.subscribe("a", "wide", "x <= 5")
    net.subscribe("a", "narrow", "x = 1")
    assert net.known("b") == {"wide", "narrow"}
    net.brokers["a"].tables.routing = Routing(way="subscriptions", policy=Exact())
    net.crash("a")
    net.tick(5)
    net.check()
    assert net.known("b") == {"wide"}


def test_another_way_after_coming_back_is_a_switch() -> None:
    net = Pump("a-b b-c", Routing())
    net.advertise("c", "ad", "x >= 0")
    net.subscribe("a", "s", "x = 1")
    net.brokers["b"].tables.routing = Routing(way="events")
    net.crash("b")
    net.tick(5)
    net.check()
    assert net.known("c") == set()
    assert net.publish("c", "ad", {"x": 1}) == ["s"]


def test_clients_must_come_back_themselves() -> None:
    net = busy(Routing())
    again = Broker("c", items=net.items["c"])
    assert not any(client.is_connected for client in again.tables.clients.values())


def test_nothing_is_kept_of_what_is_over() -> None:
    net = Pump("a-b b-c")
    before = {name: dict(items) for name, items in net.items.items()}
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("c", "s", "x = 1")
    net.subscribe("c", "t", "x = 1")
    net.unsubscribe("c", "s")
    net.unsubscribe("c", "t")
    net.unadvertise("a", "ad")
    net.tick(5)
    for name, items in net.items.items():
        assert items.keys() == {key for key in before[name] if key[0] != "out"}
