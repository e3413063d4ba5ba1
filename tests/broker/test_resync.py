from __future__ import annotations

import pytest

from tests.broker.pump import Pump
from thatch import parse
from thatch.broker.messages import Advertise, BucketRequest, Digest, Entries, Message, Subscribe, Unsubscribe
from thatch.broker.resync import _bucket, send_digest
from thatch.broker.settings import Routing
from thatch.broker.step import BrokerStep
from thatch.broker.stimuli import LinkDown, LinkUp, Packet, PacketReceived
from thatch.reduction.forwarding.policies import Flooding

FLOODING = Routing(way="subscriptions", policy=Flooding())


def say(net: Pump, sender: str, receiver: str, message: Message) -> None:
    """Let a broker hear what its neighbour has not really said."""
    channel = net.brokers[receiver].tables.links[sender].channel
    packet = Packet(
        session=channel.peer,
        number=channel.received + 1,
        received_session=channel.session,
        received=0,
        message=message,
    )
    net.do(receiver, PacketReceived(now=net.now, neighbour=sender, packet=packet))


def test_a_neighbour_that_lost_its_memory_is_told_all_again() -> None:
    net = Pump("a-b b-c")
    net.advertise("a", "ad", "x >= 0")
    for number in range(20):
        net.subscribe("c", f"s{number}", f"x = {number}")
    net.tick(5)
    net.crash("b", forgets=True)
    net.tick(5)
    net.check()
    assert net.known("b") == net.known("a") == net.known("c")
    assert net.publish("a", "ad", {"x": 7}) == ["s7"]


def test_what_a_neighbour_had_before_it_lost_its_memory_is_forgotten() -> None:
    net = Pump("a-b b-c", FLOODING)
    net.subscribe("c", "s", "x = 1")
    net.subscribe("a", "t", "x = 2")
    net.tick(5)
    net.crash("c", forgets=True)
    net.tick(5)
    net.check()
    assert net.known("a") == net.known("b") == net.known("c") == {"t"}


def test_only_what_differs_is_sent() -> None:
    net = Pump("a-b", FLOODING)
    for number in range(200):
        net.subscribe("a", f"s{number}", f"x = {number}")
    net.tick(5)
    link = net.brokers["b"].tables.links["a"]
    for about in ("s3", "s100"):  # b forgets two of them
        net.brokers["b"].tables.drop_subscription(link.subscriptions[about])
    net.sent.clear()
    tables = net.brokers["a"].tables
    send_digest(BrokerStep(0, net.now), tables.links["b"])
    net.cut("a", "b")
    net.link("a", "b")
    (wanted,) = [message for *_, message in net.sent if isinstance(message, BucketRequest)]
    (entries,) = [message for *_, message in net.sent if isinstance(message, Entries)]
    assert len(wanted.subscriptions) == 2
    assert {"s3", "s100"} <= {each.subscription for each in entries.subscriptions}
    assert len(entries.subscriptions) < 10
    assert len(net.known("b")) == 200
    net.check()


def test_nothing_is_asked_for_where_nothing_differs() -> None:
    net = Pump("a-b", FLOODING)
    net.subscribe("a", "s", "x = 1")
    net.tick(5)
    assert not [message for *_, message in net.sent if isinstance(message, BucketRequest | Entries)]


def test_entries_replace_what_is_known_in_their_buckets_and_nothing_else() -> None:
    net = Pump("a-b b-c")
    net.advertise("c", "all", "x >= 0")
    for about in ("s", "t", "u"):
        net.subscribe("a", about, "x = 1" if about == "s" else "x = 2")
    net.advertise("a", "ad", "x <= 5")
    changed = Subscribe(subscription="s", filter=parse("x = 7"))
    new = Subscribe(subscription="v", filter=parse("x = 8"))
    buckets = BucketRequest(tuple({_bucket(each) for each in "stv"}), (_bucket("ad"), _bucket("other")))
    other = Advertise(advertisement="other", filter=parse("x > 5"), closed=True)
    say(net, "a", "b", Entries(buckets, (changed, new), (other,)))
    net.run()
    tables = net.brokers["b"].tables
    assert {each.id for each in tables.links["a"].subscriptions.values()} == {"s", "v"}
    assert tables.subscriptions["s"].filter == parse("x = 7")
    assert tables.links["a"].advertisements.keys() == {"other"}


@pytest.mark.parametrize(
    "message",
    [
        Digest(5, ()),  # type: ignore[arg-type] # wrong on purpose
        Digest(((1,),), ()),  # type: ignore[arg-type] # wrong on purpose
        Digest((), (("a", "b"),)),  # type: ignore[arg-type] # wrong on purpose
        BucketRequest(5, ()),  # type: ignore[arg-type] # wrong on purpose
        BucketRequest((), ("a",)),  # type: ignore[arg-type] # wrong on purpose
        Entries(5, (), ()),  # type: ignore[arg-type] # wrong on purpose
        Entries(BucketRequest((), ()), (5,), ()),  # type: ignore[arg-type] # wrong on purpose
        Entries(BucketRequest((), ()), (), (Unsubscribe("s", ""),)),  # type: ignore[arg-type] # wrong on purpose
    ],
)
def test_what_is_malformed_is_ignored(message: Message) -> None:
    net = Pump("a-b", FLOODING)
    net.subscribe("a", "s", "x = 1")
    before = sum(net.brokers["b"].count_ignored().values())
    say(net, "a", "b", message)
    assert sum(net.brokers["b"].count_ignored().values()) == before + 1
    assert net.known("b") == {"s"}


def test_events_that_a_side_had_before_it_forgot_a_link_do_not_come_again() -> None:
    net = Pump("a-b", FLOODING)
    net.subscribe("b", "s", "x = 1")
    net.tick(5)
    net.publish("a", "nobody", {"x": 1})
    assert len(net.brokers["a"].tables.links["b"].channel.outbox) == 1  # not acknowledged yet
    for is_heard in (True, False, False):
        net.is_eager = False
        net.do("b", LinkDown(now=net.now, neighbour="a", for_good=True))
        net.do("b", LinkUp(now=net.now, neighbour="a"))
        net.deliver()  # a begins anew, if it was answered before
        net.publish("a", "nobody", {"x": 1}, checks=False)
        while net.packets:
            sender, _ = net.packets[0]
            if sender == "b" and not is_heard:
                net.packets.popleft()
            else:
                net.deliver()
    net.tick(20)
    assert len(net.delivered) == len(set(net.delivered))
    net.check()


def test_a_link_that_only_one_side_has_forgotten_comes_back() -> None:
    net = Pump("a-b b-c")
    net.advertise("a", "ad", "x >= 0")
    net.subscribe("c", "s", "x = 1")
    net.tick(5)
    net.do("b", LinkDown(now=net.now, neighbour="c", for_good=True))
    net.do("b", LinkUp(now=net.now, neighbour="c"))
    net.tick(5)
    net.check()
    assert net.publish("a", "ad", {"x": 1}) == ["s"]
