"""Whatever others send: never an exception, nothing changed, and counted."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from tests.broker.pump import Pump
from tests.broker.test_snapshot import seen
from thatch import Filter, Integer, Schema, parse
from thatch.broker.broker import Broker
from thatch.broker.effects import Ignored, Persist, Refuse, SendPacket
from thatch.broker.event_frames import EventFrame
from thatch.broker.messages import (
    Acknowledge,
    Advertise,
    BucketRequest,
    Complete,
    Digest,
    Entries,
    Joined,
    Linked,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    Unsubscribed,
)
from thatch.broker.settings import Limits, Routing
from thatch.broker.stimuli import (
    ClientConnected,
    ClientDisconnected,
    LinkDown,
    LinkUp,
    MessageReceived,
    Packet,
    PacketReceived,
    RoutingSwitched,
    TimerFired,
)
from thatch.errors import ParameterError
from thatch.model.profile import Profile
from thatch.reduction import Merging

BAD_FILTERS = [
    "x = 1",
    None,
    5,
    Filter((), None, ()),
    parse("x = 1", schema=Schema({"x": Integer(0, 5)})),
]
X = parse("x = 1")


@pytest.mark.parametrize("filter", BAD_FILTERS)
@pytest.mark.parametrize("kind", ["subscribe", "advertise"])
def test_filters_that_are_none_are_refused(filter: Any, kind: str) -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    if kind == "subscribe":
        effects = net.say("a", "c", Subscribe(subscription="s", filter=filter))
    else:
        effects = net.say("a", "c", Advertise(advertisement="s", filter=filter))
    assert [type(each) for each in effects] == [Refuse]


@pytest.mark.parametrize(
    "message",
    [
        Subscribe(subscription="", filter=X),
        Subscribe(subscription=5, filter=X),  # type: ignore[arg-type] # wrong on purpose
        Subscribe(subscription="s", filter=X, expires="soon"),  # type: ignore[arg-type] # wrong on purpose
        Subscribe(subscription="s", filter=X, expires=float("nan")),
        Subscribe(subscription="s", filter=X, expires=True),
        Subscribe(subscription="s", filter=X, expires=-1),
        Advertise(advertisement=None, filter=X),  # type: ignore[arg-type] # wrong on purpose
        Publish(None),  # type: ignore[arg-type] # wrong on purpose
        Publish(EventFrame("", (1,), (b"\x80",))),
        Publish(EventFrame("another", (1,), (b"\x80",))),
        Publish(EventFrame("c", (), ())),
        Publish(EventFrame("c", (0,), (b"\x80",))),
        Publish(EventFrame("c", (True,), (b"\x80",))),
        Publish(EventFrame("c", (2**63,), (b"\x80",))),
        Publish(EventFrame("c", (1, 1), (b"\x80", b"\x80"))),
        Publish(EventFrame("c", (1, 2), (b"\x80",))),
        Publish(EventFrame("c", tuple(range(1, 2**16 + 2)), (b"\x80",) * (2**16 + 1))),
    ],
)
def test_messages_of_clients_that_make_no_sense_are_refused(message: Any) -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    assert [type(each) for each in net.say("a", "c", message)] == [Refuse]
    assert net.brokers["a"].stats()["ignored"] == 1


@pytest.mark.parametrize(
    "message",
    [
        "hello",
        None,
        5,
        Unsubscribed("r"),
        Joined("0.0#1", ()),
        Linked(()),
        Complete(True, True),
        Digest((), ()),
    ],
)
def test_clients_cannot_say_what_only_brokers_say(message: Any) -> None:
    net = Pump("a-b")
    assert [type(each) for each in net.say("a", "c", message)] == [Ignored]


def test_a_client_that_is_not_connected_is_not_heard() -> None:
    broker = Broker("a", Routing(way="subscriptions"))
    message = Subscribe(subscription="s", filter=X)
    assert [type(each) for each in broker.handle(MessageReceived(now=0, client="c", message=message))] == [
        Ignored
    ]
    broker.handle(ClientConnected(now=0, client="c"))
    broker.handle(ClientDisconnected(now=0, client="c"))
    assert [type(each) for each in broker.handle(MessageReceived(now=0, client="c", message=message))] == [
        Ignored
    ]
    assert [type(each) for each in broker.handle(ClientDisconnected(now=0, client="x"))] == [Ignored]


def test_timers_that_nobody_waits_for_do_nothing() -> None:
    net = Pump("a-b")
    for timer in ("resend nobody", "nonsense", "expiry", "acknowledge nobody", "nonsense b"):
        assert net.do("a", TimerFired(now=0, timer=timer)) == []


def test_what_is_no_stimulus_is_a_mistake_of_the_driver() -> None:
    with pytest.raises(TypeError, match="Expected a stimulus"):
        Broker("a").handle(Packet(session="0.0#1", number=0, received_session="", received=0, message=None))  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(ParameterError):
        Broker("")
    with pytest.raises(ParameterError):
        Limits(event_size=0)


junk = st.none() | st.integers(-2, 2) | st.text(max_size=3) | st.tuples() | st.tuples(st.just("b"), st.text())
junk_filters = st.sampled_from([*BAD_FILTERS, X])
junk_reports = junk | st.tuples(
    st.sampled_from(["a", "b", "c"]),
    junk | st.sampled_from(["0.0#1", "9.0#9"]),
    junk | st.tuples(st.tuples(st.sampled_from(["a", "b", "c"]), st.just("0.0#1") | junk)),
)
messages = st.one_of(
    junk,
    st.builds(Subscribe, subscription=junk, filter=junk_filters, expires=junk),
    st.builds(Advertise, advertisement=junk, filter=junk_filters, closed=junk, expires=junk),
    st.builds(Unsubscribe, junk, junk),
    st.builds(Unsubscribed, junk),
    st.builds(Unadvertise, junk),
    st.builds(Acknowledge, junk, junk),
    st.builds(
        Publish,
        junk
        | st.builds(
            EventFrame,
            junk | st.just("c"),
            junk | st.lists(st.integers(0, 5), max_size=3).map(tuple),
            junk | st.lists(junk | st.binary(max_size=4) | st.just(b"\x81\xa1x\x01"), max_size=3).map(tuple),
        ),
    ),
    st.builds(Joined, junk | st.just("0.0#1"), junk | st.tuples(junk_reports)),
    st.builds(Linked, junk | st.tuples(junk_reports)),
    st.builds(Complete, junk, junk),
    st.builds(Digest, junk, junk),
    st.builds(BucketRequest, junk, junk),
    st.builds(Entries, junk | st.builds(BucketRequest, junk, junk), junk, junk),
)


@given(st.lists(messages, max_size=6))
def test_a_broker_survives_whatever_a_neighbour_sends(said: list[Any]) -> None:
    net = Pump("a-b")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("b", "s", "x = 1")
    channel = net.brokers["a"].tables.links["b"].channel
    for message in said:
        packet = Packet(
            session=channel.peer,
            number=channel.received + 1,
            received_session=channel.session,
            received=0,
            message=message,
        )
        net.do("a", PacketReceived(now=0, neighbour="b", packet=packet))
    net.check()


@given(st.lists(messages, max_size=6))
def test_a_broker_survives_whatever_a_client_says(said: list[Any]) -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    for message in said:
        before = seen(net.brokers["a"])
        effects = net.say("a", "c", message)
        if any(isinstance(each, Refuse | Ignored) for each in effects):
            assert not any(isinstance(each, Persist | SendPacket) for each in effects)
            assert seen(net.brokers["a"]) == before
    net.check()


@pytest.mark.parametrize(
    "merging",
    [
        Merging(threshold=0.1),
        Merging(profile=Profile.of([{"x": 1}])),
        Merging(advertisements=(parse("x = 1"),)),
    ],
    ids=["threshold", "profile", "advertisements"],
)
def test_advertisements_are_merged_perfectly_or_not_at_all(merging: Merging) -> None:
    with pytest.raises(ParameterError, match="advertising"):
        Routing(advertising=merging)
    assert Routing(advertising=Merging(), policy=merging).policy is merging


@pytest.mark.parametrize("kind", ["subscribe", "advertise"])
def test_ids_of_mergers_are_not_for_others(kind: str) -> None:
    net = Pump("a-b", Routing(policy=Merging()))
    getattr(net, kind)("a", "merger a/0.0#1/5", "x = 1")
    (told,) = [effect for _, effect in net.told if isinstance(effect, Refuse)]
    assert told.reason == "an id that is reserved for mergers"
    assert not net.brokers["a"].tables.subscriptions
    assert not net.brokers["a"].tables.advertisements


def test_a_neighbour_that_sends_the_number_of_a_merger_is_ignored() -> None:
    net = Pump("a-b", Routing(way="subscriptions", policy=Merging()))
    net.subscribe("a", "s", "x < 5")
    net.subscribe("a", "t", "x = 5")
    a, b = net.brokers["a"], net.brokers["b"]
    number = b.tables.links["a"].channel.number + 1
    packet = Packet(
        session=b.tables.links["a"].channel.session,
        number=number,
        received_session=a.tables.links["b"].channel.session,
        received=0,
        message=Subscribe(subscription="merger 1", filter=X),
    )
    net.do("a", PacketReceived(now=net.now, neighbour="b", packet=packet))
    assert a.count_ignored() == {"an id that is reserved for mergers": 1}
    net.check()


ODD: list[Any] = [
    np.array([1, 2]),
    np.array([]),
    np.float64("nan"),
    np.bool_(True),
    10**400,
    -(10**400),
    float("inf"),
    float("nan"),
    2**64,
    b"bytes",
    "\ud800",
    "\0",
    [],
    {},
    set(),
    {"a": [{}]},
    object(),
    Ellipsis,
    int,
    0.5,
    True,
    "a",
    "b",
    "c",
    "s",
]
odd = st.sampled_from(ODD)
odd_messages = st.one_of(
    odd,
    st.builds(Subscribe, subscription=odd, filter=odd | st.just(X), expires=odd | st.none()),
    st.builds(Advertise, advertisement=odd, filter=odd | st.just(X), closed=odd, expires=odd | st.none()),
    st.builds(Unsubscribe, odd, odd),
    st.builds(Unsubscribed, odd),
    st.builds(Unadvertise, odd),
    st.builds(Acknowledge, odd, odd),
    st.builds(
        Publish,
        odd
        | st.builds(
            EventFrame,
            odd,
            odd | st.lists(odd, max_size=2).map(tuple),
            odd | st.lists(odd, max_size=2).map(tuple),
        ),
    ),
    st.builds(Joined, odd | st.just("0.0#1"), odd | st.tuples(odd | st.tuples(odd, odd, odd))),
    st.builds(Linked, odd | st.tuples(odd | st.tuples(odd, st.just("9.0#9"), odd | st.tuples(odd)))),
    st.builds(Complete, odd, odd),
    st.builds(Digest, odd | st.tuples(odd | st.tuples(odd, odd)), odd),
    st.builds(BucketRequest, odd | st.tuples(odd), odd),
    st.builds(
        Entries,
        odd | st.builds(BucketRequest, odd | st.tuples(odd), st.just(())),
        odd | st.tuples(odd),
        odd | st.tuples(st.builds(Advertise, advertisement=odd, filter=odd, closed=odd)),
    ),
)
odd_packets = st.one_of(
    odd,
    st.builds(Packet, session=odd, number=odd, received_session=odd, received=odd, message=odd_messages),
)
odd_stimuli = st.one_of(
    st.builds(PacketReceived, now=odd | st.just(1), neighbour=odd, packet=odd_packets),
    st.builds(PacketReceived, now=st.just(1), neighbour=st.just("b"), packet=odd_packets),
    st.builds(MessageReceived, now=odd | st.just(1), client=odd, message=odd_messages),
    st.builds(MessageReceived, now=st.just(1), client=st.just("c"), message=odd_messages),
    st.builds(ClientConnected, now=odd, client=odd),
    st.builds(ClientDisconnected, now=odd, client=odd, for_good=odd),
    st.builds(LinkUp, now=odd, neighbour=odd),
    st.builds(LinkDown, now=odd | st.just(1), neighbour=odd, for_good=odd),
    st.builds(TimerFired, now=odd | st.just(1), timer=odd),
    st.builds(RoutingSwitched, now=odd | st.just(1), routing=odd),
)


@given(st.lists(odd_stimuli, max_size=5))
def test_whatever_a_stimulus_holds_it_is_used_refused_or_a_mistake_of_the_driver(stimuli: list[Any]) -> None:
    net = Pump("a-b", Routing(way="subscriptions"))
    net.subscribe("b", "s", "x = 1")
    net.say("a", "c", Subscribe(subscription="mine", filter=X))
    for stimulus in stimuli:
        before = seen(net.brokers["a"])
        try:
            effects = net.do("a", stimulus)
        except ParameterError:
            effects = []
        if all(isinstance(each, Refuse | Ignored) for each in effects):
            assert seen(net.brokers["a"]) == before
    for about in ("s", "mine", "a"):
        net.brokers["a"].explain(about)
    net.check()


def test_flags_that_are_none_are_refused() -> None:
    net = Pump("a-b")
    message = Advertise(advertisement="a", filter=X, closed=np.array([1, 2]))  # type: ignore[arg-type] # on purpose
    (refused,) = net.say("a", "c", message)
    assert isinstance(refused, Refuse)
    assert refused.reason == "a flag that is neither true nor false"
