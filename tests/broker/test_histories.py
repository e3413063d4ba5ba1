"""Histories of a small network on links that lose, double, delay and replay; crashes, cuts and other ways."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.broker.pump import Pump
from tests.broker.test_snapshot import seen
from thatch import Filter, parse
from thatch.broker.broker import Broker
from thatch.broker.event_codec import encode_event
from thatch.broker.event_frames import EventFrame, event_id
from thatch.broker.messages import Publish
from thatch.broker.overlap import names_of
from thatch.broker.settings import Routing
from thatch.broker.stimuli import LinkDown, LinkUp
from thatch.reduction.forwarding.policies import Exact, Flooding, Merging, NegativeSpace, Pairwise
from thatch.reduction.merging import When

TREES = ("a-b", "a-b b-c", "a-b b-c c-d", "a-b a-c a-d", "a-b b-c b-d d-e")
FILTERS = (
    "x <= 3",
    "x between 2 and 5",
    "x >= 4",
    "x between 0 and 9",
    "x = 3",
    "y = 1",
    "x <= 6 and y = 1",
    "x >= 3 and y = 1",
    "exists(x)",
)
ROUTINGS = tuple(
    Routing(way=way, policy=policy, advertising=advertising)
    for way in ("advertisements", "subscriptions", "events")
    for policy, advertising in (
        (Exact(), Flooding()),
        (Exact(demote=True), Pairwise(demote=True)),
        (Pairwise(), Exact()),
        (NegativeSpace(), Flooding()),
        (Merging(), Merging()),
        (Merging(threshold=0.3, budget=0.5, intervals=2, every=2), Flooding()),
        (
            Merging(threshold=0.3, every=None, when=When(period=2.5, bandwidth=1)),
            Merging(every=None, when=When(rate=2, table=4)),
        ),
    )
)
EVENTS = (
    *({"x": x} for x in range(10)),
    *({"x": x, "y": y} for x in range(0, 10, 2) for y in (0, 1)),
    {"y": 1},
    {"x": [1, 4], "y": 1},
)
filters = st.sampled_from(FILTERS)


class Histories(RuleBasedStateMachine):
    """Whatever happened: when all is quiet, each event reaches exactly the clients that want it."""

    @initialize(
        tree=st.sampled_from(TREES),
        routing=st.sampled_from(ROUTINGS),
        is_eager=st.booleans(),
        wants=st.lists(st.tuples(st.integers(0, 4), filters), min_size=2, max_size=6),
        offers=st.lists(st.tuples(st.integers(0, 4), filters, st.booleans()), min_size=1, max_size=4),
    )
    def begin(
        self,
        tree: str,
        routing: Routing,
        is_eager: bool,
        wants: list[tuple[int, str]],
        offers: list[tuple[int, str, bool]],
    ) -> None:
        self.net = Pump(routing=routing)
        self.pairs = [tuple(pair.split("-")) for pair in tree.split()]
        for one, other in self.pairs:
            self.net.link(one, other)
        self.names = sorted(self.net.brokers)
        self.past: list[tuple[str, object]] = []
        self.wanted: dict[str, tuple[str, Filter]] = {}
        self.offered: dict[str, tuple[str, Filter, bool]] = {}
        self.ever: dict[str, list[Filter]] = {}  # all that a subscription of an id has ever asked for
        self.published: dict[str, dict[str, object]] = {}
        self.sent: dict[tuple[str, str], dict[int, dict[str, object]]] = {}  # by broker and client, by number
        self.number = 0
        for where, filter, closed in offers:
            self.offer(self.names[where % len(self.names)], filter, closed)
        for where, filter in wants:
            self.want(self.names[where % len(self.names)], self.new_id("s"), filter)
        self.net.is_eager = is_eager

    def pick(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(self.names))

    def new_id(self, kind: str) -> str:
        self.number += 1
        return f"{kind}{self.number}"

    def offer(self, name: str, filter: str, closed: bool) -> None:
        about = self.new_id("a")
        self.offered[about] = (name, parse(filter), closed)
        self.net.advertise(name, about, filter, closed=closed)

    def want(self, name: str, about: str, filter: str) -> None:
        self.ever.setdefault(about, []).append(parse(filter))
        self.wanted[about] = (name, parse(filter))
        self.net.subscribe(name, about, filter)

    # --- clients -----------------------------------------------------------------------------------------------------

    @rule(data=st.data(), filter=filters)
    def subscribe(self, data: st.DataObject, filter: str) -> None:
        self.want(self.pick(data), self.new_id("s"), filter)

    @rule(data=st.data(), filter=filters)
    def unsubscribe(self, data: st.DataObject, filter: str) -> None:
        if self.wanted:
            about = data.draw(st.sampled_from(sorted(self.wanted)))
            name, _ = self.wanted.pop(about)
            self.net.unsubscribe(name, about)
            if data.draw(st.booleans()):
                self.want(name, about, filter)

    @rule(data=st.data(), filter=filters, closed=st.booleans())
    def advertise(self, data: st.DataObject, filter: str, closed: bool) -> None:
        self.offer(self.pick(data), filter, closed)

    @rule(data=st.data())
    def unadvertise(self, data: st.DataObject) -> None:
        if self.offered:
            about = data.draw(st.sampled_from(sorted(self.offered)))
            name, _, _ = self.offered.pop(about)
            self.net.unadvertise(name, about)

    @rule(data=st.data(), events=st.lists(st.sampled_from(EVENTS), max_size=4), again=st.integers(0, 3))
    def publish(self, data: st.DataObject, events: list[dict[str, object]], again: int) -> None:
        """A frame of new events, behind some that the broker has had, cut in whatever way."""
        name = self.pick(data)
        theirs = [about for about, offer in self.offered.items() if offer[0] == name]
        client = f"client of {data.draw(st.sampled_from(theirs)) if theirs else 'nobody'}"
        known = self.sent.setdefault((name, client), {})
        numbers = sorted(known)[len(known) - min(again, len(known)) :]
        for event in events:
            self.net.numbers[client] += 1
            numbers.append(self.net.numbers[client])
            known[numbers[-1]] = self.published[event_id(client, numbers[-1])] = event
        if numbers:
            rows = tuple(encode_event(known[each]) for each in numbers)
            self.net.say(name, client, Publish(EventFrame(client, tuple(numbers), rows)))

    # --- the network -------------------------------------------------------------------------------------------------

    @rule(count=st.integers(1, 20))
    def deliver(self, count: int) -> None:
        for _ in range(count):
            if self.net.packets:
                self.past.append(self.net.deliver())

    @rule(data=st.data())
    def lose(self, data: st.DataObject) -> None:
        if self.net.packets:
            del self.net.packets[data.draw(st.integers(0, len(self.net.packets) - 1))]

    @rule(data=st.data())
    def move_back(self, data: st.DataObject) -> None:
        if self.net.packets:
            place = data.draw(st.integers(0, len(self.net.packets) - 1))
            packet = self.net.packets[place]
            del self.net.packets[place]
            self.net.packets.append(packet)

    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        if self.past:
            self.net.packets.append(data.draw(st.sampled_from(self.past[-40:])))

    @rule(seconds=st.sampled_from((0.3, 1.5, 12.0)))
    def wait(self, seconds: float) -> None:
        self.net.tick(seconds)

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        self.net.crash(self.pick(data))

    @rule(data=st.data())
    def lose_memory(self, data: st.DataObject) -> None:
        name = self.pick(data)
        self.net.crash(name, forgets=True)
        self.sent = {who: sent for who, sent in self.sent.items() if who[0] != name}
        self.wanted = {about: each for about, each in self.wanted.items() if each[0] != name}
        self.offered = {about: each for about, each in self.offered.items() if each[0] != name}

    @rule(data=st.data())
    def cut_and_heal(self, data: st.DataObject) -> None:
        pair = data.draw(st.sampled_from(self.pairs))
        if frozenset(pair) in self.net.up:
            self.net.cut(*pair)
        else:
            self.net.link(*pair)

    @rule(data=st.data())
    def forget_a_link(self, data: st.DataObject) -> None:
        one, other = data.draw(st.sampled_from(self.pairs))
        if data.draw(st.booleans()):
            one, other = other, one
        self.net.do(one, LinkDown(now=self.net.now, neighbour=other, for_good=True))
        if frozenset((one, other)) in self.net.up:
            self.net.do(one, LinkUp(now=self.net.now, neighbour=other))

    @rule(data=st.data(), routing=st.sampled_from(ROUTINGS), everywhere=st.booleans())
    def switch(self, data: st.DataObject, routing: Routing, everywhere: bool) -> None:
        self.net.switch(routing, *(self.names if everywhere else [self.pick(data)]))

    # --- what must hold ----------------------------------------------------------------------------------------------

    @invariant()
    def every_broker_is_in_order(self) -> None:
        if hasattr(self, "net"):
            self.net.check()
            for name, broker in self.net.brokers.items():
                assert seen(Broker(name, broker.routing, items=self.net.items[name])) == seen(broker)

    def teardown(self) -> None:
        if not hasattr(self, "net"):
            return
        self.net.run()
        for pair in self.pairs:
            if frozenset(pair) not in self.net.up:
                self.net.link(*pair)
        for _ in range(4):
            self.net.tick(40)
        self.net.is_eager = True
        self.net.check()
        for broker in self.net.brokers.values():
            assert not broker.stats()["unacknowledged"], broker.name
            assert not broker.tables.awaited, broker.tables.awaited
            assert set(broker.tables.links) == {
                other for pair in self.pairs if broker.name in pair for other in pair if other != broker.name
            }
        for about, (name, filter, closed) in self.offered.items():
            for event in EVENTS:
                got = self.net.publish(name, about, event)
                if self.net.brokers[name].routing.way == "advertisements" and not is_allowed(
                    filter, closed, event
                ):
                    assert got == []
                else:
                    wanting = [each for each, (_, wanted) in self.wanted.items() if wanted.matches(event)]
                    assert got == sorted(wanting)
        self.net.check()
        assert len(self.net.delivered) == len(set(self.net.delivered)), "an event was delivered twice"
        for client, publication in self.net.delivered:
            if publication in self.published:
                asked = self.ever[client.removeprefix("client of ")]
                assert any(each.matches(self.published[publication]) for each in asked)


def is_allowed(filter: Filter, closed: bool, event: dict[str, object]) -> bool:
    """The rule for publishing, by writing out all flat events; here filters have one conjunction."""
    x = event.get("x")
    flats = [{**event, "x": each} for each in x] if isinstance(x, list) else [event]
    return all(filter.matches(flat) and (not closed or set(flat) <= names_of(filter)) for flat in flats)


Histories.TestCase.settings = settings(deadline=None)
TestHistories = Histories.TestCase
