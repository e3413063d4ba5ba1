"""Links that come up at the same moment: of each cycle exactly one closes, in whatever order brokers hear of the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest

from tests.broker.pump import Pump
from thatch.broker.broker import Broker
from thatch.broker.effects import CloseLink, Deliver, Effect, Persist, SendPacket
from thatch.broker.event_frames import encode_frame
from thatch.broker.invariants import check
from thatch.broker.messages import Publish, Subscribe
from thatch.broker.settings import Routing
from thatch.broker.stimuli import (
    ClientConnected,
    LinkDown,
    LinkUp,
    MessageReceived,
    Packet,
    PacketReceived,
    Stimulus,
    TimerFired,
)
from thatch.broker.tables import BrokerLink
from thatch.model.language import parse

Ends = tuple[str, str]

TRIANGLE = ("ab", "ac", "bc")
GRAPHS = {
    "triangle": TRIANGLE,
    "square": ("ab", "bc", "cd", "ad"),
    "all four linked": tuple(map("".join, combinations("abcd", 2))),
    "triangles with a common side": ("ab", "ac", "bc", "bd", "cd"),
    "triangles with a common corner": ("ab", "ac", "bc", "cd", "ce", "de"),
}


class Joining:
    """Brokers, each with a client that wants its name, and links that come up; the test says whose packet comes next."""

    def __init__(self, links: Sequence[str]) -> None:
        self.now = 0.0
        self.number = 0
        self.brokers: dict[str, Broker] = {}
        self.items: dict[str, dict[tuple[str, ...], Any]] = {}
        self.links: set[frozenset[str]] = set()
        self.channels: dict[Ends, deque[Packet | None]] = {}  # None where the link ends
        self.delivered: list[Ends] = []
        for name in sorted(set("".join(links))):
            self.items[name] = {}
            self.start(name)
        for one, other in links:
            self.link(one, other)

    def start(self, name: str) -> None:
        self.brokers[name] = Broker(name, Routing(way="subscriptions"), items=self.items[name])
        self.do(name, ClientConnected(now=self.now, client=name))
        wish = Subscribe(subscription=f"s-{name}", filter=parse(f"x = '{name}' or x = 'all'"))
        self.do(name, MessageReceived(now=self.now, client=name, message=wish))

    def link(self, one: str, other: str) -> None:
        self.links.add(frozenset((one, other)))
        for ends in ((one, other), (other, one)):
            self.channels[ends] = deque()
        for here, there in ((one, other), (other, one)):
            self.do(here, LinkUp(now=self.now, neighbour=there))

    def crash(self, name: str, *, forgets: bool) -> None:
        self.now += 1
        if forgets:
            self.items[name].clear()
        neighbours = sorted(other for pair in self.links if name in pair for other in pair - {name})
        for other in neighbours:
            self.do(other, LinkDown(now=self.now, neighbour=name))
        self.start(name)
        for other in neighbours:
            if frozenset((name, other)) in self.links:
                for ends in ((name, other), (other, name)):
                    self.channels[ends].clear()
                self.do(name, LinkUp(now=self.now, neighbour=other))
                self.do(other, LinkUp(now=self.now, neighbour=name))

    def do(self, name: str, stimulus: Stimulus) -> None:
        effects: list[Effect] = self.brokers[name].handle(stimulus)
        for effect in effects:
            if isinstance(effect, Persist):
                if effect.value is None:
                    self.items[name].pop(effect.key, None)
                else:
                    self.items[name][effect.key] = effect.value
            elif isinstance(effect, Deliver):
                self.delivered += ((effect.client, each) for each in effect.frame.ids())
            elif isinstance(effect, SendPacket | CloseLink):
                self._carry(name, effect)

    def _carry(self, name: str, effect: SendPacket | CloseLink) -> None:
        pair = frozenset((name, effect.neighbour))
        if pair not in self.links:
            return
        if isinstance(effect, SendPacket):
            self.channels[name, effect.neighbour].append(effect.packet)
        else:
            self.links.discard(pair)
            self.channels[effect.neighbour, name].clear()
            self.channels[name, effect.neighbour] = deque([None])

    def deliver(self, ends: Ends) -> None:
        source, target = ends
        packet = self.channels[ends].popleft()
        if packet is None:
            self.do(target, LinkDown(now=self.now, neighbour=source, for_good=True))
        else:
            self.do(target, PacketReceived(now=self.now, neighbour=source, packet=packet))

    def run(self, order: Sequence[Ends], most: int = -1) -> bool:
        """Deliver, always from the first channel in an order that has a packet; whether `most` were not enough."""
        while most != 0:
            ends = next((each for each in order if self.channels.get(each)), None)
            if ends is None:
                return False
            self.deliver(ends)
            most -= 1
        return True

    def settle(self) -> None:
        """Deliver all packets, and let timers run out where a message was lost with a memory."""
        order = tuple(self.channels)
        self.run(order)
        while waiting := [(name, link.name) for name, link in self._links() if link.channel.outbox]:
            self.now += 2
            for name, neighbour in waiting:
                self.do(name, TimerFired(now=self.now, timer=f"resend {neighbour}"))
            self.run(order)

    def _links(self) -> Iterator[tuple[str, BrokerLink]]:
        for name, broker in self.brokers.items():
            for link in broker.tables.links.values():
                yield name, link

    def check(self) -> None:
        """The links are a spanning tree, all brokers know it, and every event arrives once where it is wanted."""
        assert len(self.links) == len(self.brokers) - 1, self.links
        for name, broker in self.brokers.items():
            check(broker)
            assert {frozenset((name, each)) for each in broker.tables.links} == {
                pair for pair in self.links if name in pair
            }
            assert broker.tables.mapped == set(self.brokers)
        order = tuple(self.channels)
        for name in self.brokers:
            self.number += 1
            frame, _ = encode_frame(name, self.number, [{"x": "all"}])
            self.do(name, MessageReceived(now=self.now, client=name, message=Publish(frame)))
            self.run(order)
            got = sorted(client for client, each in self.delivered if [each] == frame.ids())
            assert got == sorted(self.brokers)


def channels(links: Sequence[str]) -> list[Ends]:
    return [ends for one, other in links for ends in ((one, other), (other, one))]


def orders(links: Sequence[str]) -> Iterator[list[Ends]]:
    """Every order of brokers as receivers, with every order of the brokers that they hear first."""
    names = sorted(set("".join(links)))
    for receivers in permutations(names):
        for senders in permutations(names):
            yield sorted(channels(links), key=lambda ends: (receivers.index(ends[1]), senders.index(ends[0])))


def test_of_three_links_that_close_a_triangle_one_closes() -> None:
    for order in orders(TRIANGLE):
        net = Joining(TRIANGLE)
        net.run(order)
        net.check()


@pytest.mark.slow
def test_of_a_triangle_one_link_closes_whichever_channel_is_faster() -> None:
    for order in permutations(channels(TRIANGLE)):
        net = Joining(TRIANGLE)
        net.run(order)
        net.check()


@pytest.mark.slow
@pytest.mark.parametrize("links", [GRAPHS[name] for name in list(GRAPHS)[1:]], ids=list(GRAPHS)[1:])
def test_of_every_cycle_one_link_closes(links: tuple[str, ...]) -> None:
    every = {4: 8, 5: 61}[len(set("".join(links)))]  # of 576 and of 14,400 orders
    for number, order in enumerate(orders(links)):
        if number % every == 0:
            net = Joining(links if number % 2 else links[::-1])
            net.run(order)
            net.check()


@pytest.mark.slow
@pytest.mark.parametrize("forgets", [False, True], ids=["restarts", "forgets"])
@pytest.mark.parametrize("name", "abc")
def test_a_broker_that_crashes_while_links_join_leaves_a_tree(name: str, forgets: bool) -> None:
    order = channels(TRIANGLE)
    moment = 0
    while True:
        net = Joining(TRIANGLE)
        if not net.run(order[moment % 6 :] + order[: moment % 6], most=moment):
            break
        net.crash(name, forgets=forgets)
        net.settle()
        net.check()
        moment += 1
    assert moment > 20


def test_a_link_that_was_closed_may_come_up_again_later() -> None:
    net = Joining(TRIANGLE)
    order = channels(TRIANGLE)
    net.run(order)
    (closed,) = {frozenset(each) for each in TRIANGLE} - net.links
    net.now = 5.0
    net.link(*sorted(closed))
    net.run(order)
    assert closed not in net.links
    net.check()
    one, other = sorted(next(iter(net.links)))
    net.links.discard(frozenset((one, other)))
    for here, there in ((one, other), (other, one)):
        net.do(here, LinkDown(now=6.0, neighbour=there, for_good=True))
    net.now = 7.0
    net.link(*sorted(closed))
    net.run(order)
    assert closed in net.links
    net.check()


def test_the_newest_link_of_a_cycle_closes_not_one_that_was_there_before() -> None:
    net = Joining(("bc", "cd", "de"))
    net.run(channels(("bc", "cd", "de")))
    net.now = 3.0
    net.link("b", "e")
    net.link("b", "d")
    net.run(list(net.channels))
    assert net.links == {frozenset(each) for each in ("bc", "cd", "de")}
    net.check()


def test_what_was_refused_because_its_id_was_taken_is_asked_for_when_the_id_is_free() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    net.add("c")
    net.subscribe("a", "s", "x = 1")
    net.subscribe("c", "s", "x = 2")
    net.link("b", "c")
    assert net.brokers["c"].count_ignored() == {"an id that is taken": 1}
    net.crash("b")  # it remembers
    net.unsubscribe("a", "s")
    assert str(net.brokers["b"].tables.subscriptions["s"].filter) == "x = 2"
    assert net.known("a") == {"s"}
    assert not [key for key in net.items["b"] if key[0] == "contested"]
    net.check()
