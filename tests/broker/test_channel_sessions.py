"""Packets of sessions that are over, and how often what was not acknowledged is sent again."""

from __future__ import annotations

from tests.broker.test_channel import TIMING, Pair
from thatch.broker.messages import Unadvertise
from thatch.broker.stimuli import Packet


def test_an_acknowledgement_makes_resending_frequent_again() -> None:
    pair = Pair()
    pair.left.send("a")
    pair.left.send("b")
    first = pair.left.packets[0]
    for _ in range(5):
        pair.left.fire("resend")
    pair.left.packets.clear()
    pair.right.receive(first)
    pair.right.fire("acknowledge")
    (acknowledgement,) = pair.right.packets
    pair.left.receive(acknowledgement)
    assert list(pair.left.channel.outbox) == [2]
    pair.left.fire("resend")
    assert pair.left.timers["resend"] - pair.left.now == 2 * TIMING.resend


def test_a_packet_for_a_memory_that_was_lost_is_not_taken() -> None:
    pair = Pair()
    pair.left.send("a")
    pair.exchange()
    pair.right.send("z")
    (late,) = pair.right.packets
    pair.left.forget()
    assert pair.left.receive(late) == "new"
    assert pair.left.arrived == []


def test_of_two_sessions_that_began_together_the_second_to_come_has_ended() -> None:
    pair = Pair()
    pair.left.send("a")
    packet = pair.left.packets[0]
    pair.right.receive(packet)
    name = pair.left.channel.session.replace("0.0#", "0.00#")
    other = Packet(session=name, number=1, received_session="", received=0, message=Unadvertise("b"))
    assert pair.right.receive(other) == "a packet of a session that ended"
    assert pair.right.arrived == ["a"]
