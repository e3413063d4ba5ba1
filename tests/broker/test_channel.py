"""A channel: each message once, in order, whatever happens to packets, sides and their memory."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.broker.sides import TIMING, Pair, Side
from thatch.broker.effects import NeighbourFailed
from thatch.broker.stimuli import Packet


def test_messages_arrive_in_order_and_are_acknowledged() -> None:
    pair = Pair()
    for text in "abc":
        pair.left.send(text)
    pair.right.send("z")
    pair.exchange()
    assert (pair.right.arrived, pair.left.arrived) == (["a", "b", "c"], ["z"])
    assert not pair.left.channel.outbox
    assert not [key for key in pair.left.items if key[0] == "out"]


def test_a_message_that_was_lost_is_sent_again_and_later_ones_wait_for_it() -> None:
    pair = Pair()
    pair.left.send("a")
    pair.left.packets.clear()
    pair.left.send("b")
    pair.right.receive(pair.left.packets.pop())
    assert pair.right.arrived == []
    pair.left.fire("resend")
    pair.exchange()
    assert pair.right.arrived == ["a", "b"]


def test_a_message_that_comes_twice_is_taken_once_and_acknowledged_again() -> None:
    pair = Pair()
    pair.left.send("a")
    packet = pair.left.packets[0]
    pair.right.receive(packet)
    assert pair.right.receive(packet) == "again"
    assert pair.right.arrived == ["a"]
    assert pair.right.packets[-1].received == 1


def test_an_acknowledgement_waits_for_a_packet_to_travel_with() -> None:
    pair = Pair()
    pair.left.send("a")
    pair.right.receive(pair.left.packets.pop())
    assert pair.right.packets == []
    pair.right.send("z")
    assert [packet.received for packet in pair.right.packets] == [1]
    pair.right.packets.clear()
    pair.right.fire("acknowledge")
    assert pair.right.packets == []


def test_many_messages_are_acknowledged_without_waiting() -> None:
    pair = Pair()
    for number in range(8):
        pair.left.send(str(number))
    for packet in pair.left.packets:
        pair.right.receive(packet)
    assert [packet.received for packet in pair.right.packets] == [8]


def test_a_neighbour_that_does_not_answer_has_failed_once_and_nothing_is_lost() -> None:
    pair = Pair()
    pair.left.send("a")
    for _ in range(20):
        pair.left.fire("resend")
        pair.left.packets.clear()
    assert pair.left.told == [NeighbourFailed(cause=0, neighbour="right")]
    assert pair.left.now >= TIMING.failure
    pair.left.fire("resend")
    pair.exchange()
    assert pair.right.arrived == ["a"]
    assert not pair.left.channel.has_failed


def test_resending_becomes_rarer() -> None:
    pair = Pair()
    pair.left.send("a")
    times = []
    for _ in range(6):
        times.append(pair.left.timers["resend"])
        pair.left.fire("resend")
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps == [2, 4, 8, 10, 10]


def test_nothing_is_sent_while_the_link_is_down_and_all_of_it_when_it_is_up() -> None:
    pair = Pair()
    pair.left.channel.down()
    pair.left.send("a")
    pair.left.send("b")
    pair.left.fire("resend")
    assert pair.left.packets == []
    step = pair.left.step()
    pair.left.channel.up(step)
    pair.left.done(step)
    assert [packet.number for packet in pair.left.packets] == [1, 2]


def test_packets_that_make_no_sense_are_told_apart() -> None:
    pair = Pair()
    pair.left.send("a")
    packet = pair.left.packets[0]
    right = pair.right

    def changed(**fields: Any) -> Any:
        old = {name: getattr(packet, name) for name in Packet.__slots__}
        return Packet(**{**old, **fields})

    assert right.receive("nonsense") == "a malformed packet"  # type: ignore[arg-type] # wrong on purpose
    for session in ("", 5, "1", "1#", "#1", "1.2.3#4", "nan#1", "1#²"):
        assert right.receive(changed(session=session)) == "a malformed packet"
    for bad in ({"number": -1}, {"number": "1"}, {"received": True}, {"received_session": None}):
        assert right.receive(changed(**bad)) == "a malformed packet"
    assert right.receive(changed(message=None)) == "a malformed packet"
    own = right.channel.session
    what = "an acknowledgement of what was not sent"
    assert right.receive(changed(received_session=own, received=9)) == what
    assert right.arrived == []
    pair.exchange()
    pair.left.forget()
    pair.left.send("b")
    pair.exchange()
    assert right.receive(packet) == "a packet of a session that ended"
    assert right.arrived == ["a", "b"]


def test_a_side_that_lost_its_memory_begins_anew_and_so_does_the_other() -> None:
    pair = Pair()
    pair.left.send("a")
    pair.right.send("z")
    pair.exchange()
    pair.left.forget()
    pair.left.send("b")
    pair.exchange()
    assert pair.right.arrived == ["a", "b"]
    assert pair.right.restarts == 1
    pair.right.send("y")
    pair.exchange()
    assert pair.left.arrived == ["anew", "y"]
    assert pair.left.restarts == 0


def test_an_acknowledgement_makes_resending_frequent_again() -> None:
    pair = Pair()
    left, right = pair.left, pair.right
    left.send("a")
    for _ in range(3):
        left.packets.clear()
        left.fire("resend")
    left.send("b")
    right.receive(left.packets[0])
    right.fire("acknowledge")
    left.receive(right.packets.pop())
    left.fire("resend")
    assert left.timers["resend"] == left.now + TIMING.resend


def test_a_timer_sends_again_only_what_was_sent_before_it_was_set() -> None:
    left = Pair().left
    left.send("a")
    left.send("b")
    left.packets.clear()
    left.fire("resend")
    assert [packet.number for packet in left.packets] == [1]


def test_what_was_meant_for_a_memory_that_is_lost_is_not_taken() -> None:
    pair = Pair()
    left, right = pair.left, pair.right
    left.send("a")
    pair.exchange()
    right.send("z")
    left.forget()
    left.receive(right.packets.pop())
    assert left.arrived == []


def test_two_names_of_one_moment_are_no_new_session() -> None:
    right = Pair().right
    found = [
        right.receive(Packet(session=name, number=0, received_session="", received=0, message=None))
        for name in ("7.0#1", "7#1")
    ]
    assert found == ["new", "a packet of a session that ended"]


class AdverseLink(RuleBasedStateMachine):
    """Packets are lost, doubled, late and replayed, sides crash: every message arrives once, in order."""

    @initialize()
    def begin(self) -> None:
        self.pair = Pair()
        self.sent: dict[str, list[str]] = {"left": [], "right": []}
        self.flying: dict[str, deque[Packet]] = {"left": deque(), "right": deque()}
        self.past: dict[str, list[Packet]] = {"left": [], "right": []}

    sides = st.sampled_from(("left", "right"))

    def side(self, name: str) -> Side:
        side = self.pair.left if name == "left" else self.pair.right
        self.flying[name].extend(side.packets)
        side.packets.clear()
        return side

    @rule(name=sides)
    def send(self, name: str) -> None:
        text = f"{name}{len(self.sent[name])}"
        self.sent[name].append(text)
        self.side(name).send(text)
        self.side(name)

    @rule(name=sides)
    def deliver(self, name: str) -> None:
        other = self.side("right" if name == "left" else "left")
        self.side(name)
        if self.flying[name]:
            packet = self.flying[name].popleft()
            self.past[name].append(packet)
            other.receive(packet)

    @rule(name=sides, data=st.data())
    def lose_or_delay(self, name: str, data: st.DataObject) -> None:
        self.side(name)
        if self.flying[name]:
            place = data.draw(st.integers(0, len(self.flying[name]) - 1))
            packet = self.flying[name][place]
            del self.flying[name][place]
            if data.draw(st.booleans()):
                self.flying[name].append(packet)

    @rule(name=sides, data=st.data())
    def replay(self, name: str, data: st.DataObject) -> None:
        if self.past[name]:
            self.flying[name].append(data.draw(st.sampled_from(self.past[name])))

    @rule(name=sides, timer=st.sampled_from(("resend", "acknowledge")))
    def fire(self, name: str, timer: str) -> None:
        self.side(name).fire(timer)

    @rule(name=sides)
    def crash(self, name: str) -> None:
        self.side(name).crash()

    def teardown(self) -> None:
        if not hasattr(self, "pair"):
            return
        for name in ("left", "right"):
            side = self.side(name)
            side.packets.extend(self.flying[name])
        self.pair.exchange()
        assert self.pair.right.arrived == self.sent["left"]
        assert self.pair.left.arrived == self.sent["right"]
        assert not self.pair.left.channel.outbox
        assert not self.pair.right.channel.outbox
        assert self.pair.left.restarts == self.pair.right.restarts == 0


TestAdverseLink = AdverseLink.TestCase
TestAdverseLink.settings = settings(deadline=None)


class Forgetting(AdverseLink):
    """Sides also lose their memory: afterwards, what is sent arrives once and in order."""

    @rule(name=AdverseLink.sides)
    def forget(self, name: str) -> None:
        self.side(name).forget()

    def teardown(self) -> None:
        if not hasattr(self, "pair"):
            return
        for name in ("left", "right"):
            self.side(name).packets.extend(self.flying[name])
        left, right = self.pair.left, self.pair.right
        self.pair.exchange()
        left.send("hello")  # so that both sides have spoken since
        right.send("hello")
        self.pair.exchange()
        assert left.channel.is_paired
        assert right.channel.is_paired
        assert left.channel.peer == right.channel.session
        assert right.channel.peer == left.channel.session
        left.arrived.clear()
        right.arrived.clear()
        for text in "abc":
            left.send(text)
            right.send(text)
        self.pair.exchange()
        assert left.arrived == right.arrived == ["a", "b", "c"]


TestForgetting = Forgetting.TestCase
TestForgetting.settings = settings(deadline=None)
