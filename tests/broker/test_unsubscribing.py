"""The unsubscription handshake: every state meets every message."""

from __future__ import annotations

import pytest

from tests.broker.pump import Pump
from thatch import parse
from thatch.broker.effects import Confirm, Ignored, Refuse
from thatch.broker.messages import Message, Subscribe, Unsubscribe, Unsubscribed
from thatch.broker.settings import Routing
from thatch.broker.stimuli import LinkDown, LinkUp, Packet, PacketReceived, Stimulus
from thatch.reduction.forwarding.policies import Exact, Pairwise

NARROW, WIDE = parse("x = 1"), parse("x <= 5")


class Bench:
    """A broker b between a (from where subscriptions come) and c (where they go); a and c are played by the test."""

    def __init__(self) -> None:
        self.net = Pump("a-b b-c", Routing(way="subscriptions"))
        self.tables = self.net.brokers["b"].tables
        self.net.is_eager = False
        self.numbers = {name: self.net.brokers[name].tables.links["b"].channel.number for name in ("a", "c")}

    def hear(self, name: str, message: Message) -> list[Message | str]:
        """What b does when it gets a message: messages with their receiver, confirmations, refusals."""
        self.numbers[name] += 1
        channel = self.tables.links[name].channel
        packet = Packet(
            session=channel.peer,
            number=self.numbers[name],
            received_session=channel.session,
            received=0,
            message=message,
        )
        return self.heard(PacketReceived(now=0, neighbour=name, packet=packet))

    def heard(self, stimulus: Stimulus) -> list[Message | str]:
        self.net.told.clear()
        self.net.sent.clear()
        self.net.do("b", stimulus)
        said: list[Message | str] = [message for _, _, message in self.net.sent]
        for _, effect in self.net.told:
            if isinstance(effect, Ignored | Refuse):
                said.append(effect.reason)
            elif isinstance(effect, Confirm):
                said.append(effect.request)
        self.net.check()
        return said

    def state(self) -> str:
        known = self.tables.subscriptions.get("s")
        return "unknown" if known is None else "live" if known.leaving is None else "leaving"

    def be(self, state: str) -> str:
        """Bring s, from a, into a state; the request that c was sent, if it was."""
        if state == "unknown":
            return ""
        self.hear("a", Subscribe(subscription="s", filter=NARROW))
        if state == "live":
            return ""
        (sent,) = self.hear("a", Unsubscribe("s", "r1"))
        assert isinstance(sent, Unsubscribe)
        assert self.state() == "leaving"
        return sent.request


SAME = Subscribe(subscription="s", filter=NARROW)
OTHER = Subscribe(subscription="s", filter=WIDE)
ASKED = Unsubscribe("s", "r2")
TAKEN = "an id that is taken"
NOT_ASKED = "an acknowledgement of what was not asked"
SOMEBODY = "the end of another's subscription"

# state, who speaks, what, the state afterwards, what b says («unsubscribe»: an Unsubscribe to c with a request)
CELLS = [
    ("unknown", "a", SAME, "live", [SAME]),
    ("unknown", "c", SAME, "live", [SAME]),
    ("unknown", "a", ASKED, "unknown", [Unsubscribed("r2")]),
    ("unknown", "a", Unsubscribe("s", ""), "unknown", []),
    ("unknown", "c", Unsubscribed("?"), "unknown", [NOT_ASKED]),
    ("live", "a", SAME, "live", []),
    ("live", "a", OTHER, "live", ["unsubscribe", OTHER]),
    ("live", "c", SAME, "live", [TAKEN]),
    ("live", "a", ASKED, "leaving", ["unsubscribe"]),
    ("live", "a", Unsubscribe("s", ""), "leaving", ["unsubscribe"]),
    ("live", "c", ASKED, "live", [Unsubscribed("r2"), SOMEBODY]),
    ("live", "c", Unsubscribed("?"), "live", [NOT_ASKED]),
    ("leaving", "a", SAME, "live", [SAME]),
    ("leaving", "a", OTHER, "live", [OTHER]),
    ("leaving", "c", SAME, "live", [SAME]),  # it moved: now it goes to a
    ("leaving", "a", ASKED, "leaving", []),
    ("leaving", "c", ASKED, "leaving", [Unsubscribed("r2"), SOMEBODY]),
    ("leaving", "c", "its request", "unknown", [Unsubscribed("r1")]),
    ("leaving", "a", "its request", "leaving", [NOT_ASKED]),
    ("leaving", "c", Unsubscribed("?"), "leaving", [NOT_ASKED]),
]


@pytest.mark.parametrize(("state", "who", "message", "then", "said"), CELLS)
def test_every_state_meets_every_message(
    state: str, who: str, message: Message | str, then: str, said: list[Message | str]
) -> None:
    bench = Bench()
    request = bench.be(state)
    got = bench.hear(who, Unsubscribed(request) if isinstance(message, str) else message)
    assert bench.state() == then
    told = ["unsubscribe" if isinstance(each, Unsubscribe) and each.request else each for each in got]
    assert told == said


@pytest.mark.parametrize("state", ["unknown", "live", "leaving"])
def test_a_neighbour_that_is_gone_counts_as_one_that_has_acknowledged(state: str) -> None:
    bench = Bench()
    bench.be(state)
    got = bench.heard(LinkDown(now=0, neighbour="c", for_good=True))
    assert bench.state() == ("live" if state == "live" else "unknown")
    assert (Unsubscribed("r1") in got) == (state == "leaving")


@pytest.mark.parametrize("state", ["unknown", "live", "leaving"])
def test_a_neighbour_that_is_gone_takes_what_came_from_it_along(state: str) -> None:
    bench = Bench()
    bench.be(state)
    bench.heard(LinkDown(now=0, neighbour="a", for_good=True))
    assert bench.state() == "unknown"
    assert bool(bench.tables.awaited) == (state != "unknown")


@pytest.mark.parametrize("state", ["unknown", "live", "leaving"])
def test_a_link_that_is_down_for_a_while_changes_nothing(state: str) -> None:
    bench = Bench()
    bench.be(state)
    for neighbour in ("a", "c"):
        bench.heard(LinkDown(now=0, neighbour=neighbour))
    assert bench.state() == state
    got = bench.heard(LinkUp(now=0, neighbour="c"))
    assert any(isinstance(each, Unsubscribe) for each in got) == (state == "leaving")


@pytest.mark.parametrize("state", ["unknown", "live", "leaving"])
def test_a_neighbour_that_lost_its_memory_counts_as_one_that_has_acknowledged(state: str) -> None:
    bench = Bench()
    bench.be(state)
    packet = Packet(session="9.0#1", number=0, received_session="", received=0, message=None)
    bench.tables.links["c"].channel.is_paired = True
    got = bench.heard(PacketReceived(now=0, neighbour="c", packet=packet))
    assert bench.state() == ("unknown" if state == "leaving" else state)
    assert (Unsubscribed("r1") in got) == (state == "leaving")


def test_whoever_asks_while_it_is_leaving_is_told_too() -> None:
    bench = Bench()
    request = bench.be("leaving")
    bench.hear("a", Unsubscribe("s", "r2"))
    assert bench.hear("c", Unsubscribed(request)) == [Unsubscribed("r1"), Unsubscribed("r2")]


def test_one_that_was_subscribed_anew_stays_when_the_old_end_is_acknowledged() -> None:
    bench = Bench()
    request = bench.be("leaving")
    bench.hear("a", SAME)
    assert bench.hear("c", Unsubscribed(request)) == [Unsubscribed("r1")]
    assert bench.state() == "live"


def test_one_that_is_leaving_still_guides_events_to_its_neighbour_but_to_no_client() -> None:
    net = Pump("a-b b-c", Routing(way="subscriptions"))
    net.subscribe("a", "s", "x = 1")
    net.is_eager = False
    net.unsubscribe("a", "s")
    assert net.brokers["a"].tables.subscriptions["s"].leaving is not None
    assert net.publish("a", "nobody", {"x": 1}) == []
    (_, effect), *_ = net.packets
    net.do("b", PacketReceived(now=0, neighbour="a", packet=effect.packet))
    assert net.brokers["b"].tables.subscriptions["s"].leaving is not None
    assert list(net.brokers["b"].route({"x": 1}).links) == ["a"]
    net.run()
    assert net.known("a") == net.known("b") == net.known("c") == set()
    assert net.brokers["b"].route({"x": 1}).links == {}


def test_what_it_alone_had_covered_is_sent_before_the_unsubscription() -> None:
    net = Pump("a-b b-c", Routing(way="subscriptions", policy=Exact()))
    net.subscribe("a", "wide", "x <= 5")
    net.subscribe("a", "narrow", "x = 1")
    net.sent.clear()
    net.unsubscribe("a", "wide")
    towards_c = [message for sender, receiver, message in net.sent if (sender, receiver) == ("b", "c")]
    assert [type(each) for each in towards_c] == [Subscribe, Unsubscribe]
    assert net.known("c") == {"narrow"}
    assert net.told[-1][1] == Confirm(
        cause=net.told[-1][1].cause, client="client of wide", request="end of wide"
    )


def test_one_that_is_covered_ends_without_a_word_to_anybody() -> None:
    net = Pump("a-b b-c", Routing(way="subscriptions"))
    net.subscribe("a", "wide", "x <= 5")
    net.subscribe("a", "narrow", "x = 1")
    net.sent.clear()
    net.unsubscribe("a", "narrow")
    assert net.sent == []
    assert isinstance(net.told[-1][1], Confirm)


def test_a_client_cannot_end_what_is_not_its_own() -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    net.subscribe("a", "s", "x = 1")
    net.say("a", "a thief", Unsubscribe("s", "r"))
    assert isinstance(net.told[-1][1], Refuse)
    net.say("a", "a thief", Unsubscribe("s", 5))  # type: ignore[arg-type] # wrong on purpose
    assert isinstance(net.told[-1][1], Refuse)
    assert net.known("b") == {"s"}


def test_taking_back_and_sending_again_before_the_first_is_acknowledged_keeps_the_subscription() -> None:
    net = Pump("a-b b-c", Routing(way="subscriptions", policy=Pairwise(demote=True)))
    net.subscribe("a", "narrow", "x = 1")
    net.is_eager = False
    net.subscribe("a", "wide", "x <= 5")  # b is told wide, and narrow is taken back
    net.unsubscribe("a", "wide")  # narrow again, and wide is taken back
    net.run()
    net.check()
    assert net.known("b") == net.known("c") == {"narrow"}
