"""Histories of whole networks: whatever happens, events reach those who want them, each once, and nobody else.

The oracle floods every event to every client and matches by `Filter.matches`. A publication may be delivered for the
subscriptions that matched it at some time while it was under way; it must be delivered for those that were known
everywhere before it was published and lasted until all was quiet again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.runtime.histories import (
    AGAIN,
    DELAYS,
    FRAMES,
    OFFERS,
    ROUTINGS,
    WHICH,
    Offer,
    Person,
    Under,
    Wish,
    events_of,
    filters,
    reached,
)
from thatch.broker import invariants
from thatch.broker.event_frames import event_id
from thatch.broker.settings import Limits, Timing
from thatch.errors import EventError
from thatch.model.topology import Link, Topology
from thatch.runtime.simulated import Faults, SimulatedNetwork


class NetworkHistories(RuleBasedStateMachine):
    """A network, what goes wrong with it, and the oracle."""

    network: SimulatedNetwork
    limits: Limits | None = None
    most = 1  # how often an event may come to a client, each time for other subscriptions

    @initialize(
        parents=st.lists(WHICH, min_size=1, max_size=6),
        routing=ROUTINGS,
        people=st.lists(st.tuples(WHICH, filters(), OFFERS), min_size=2, max_size=4),
        seed=st.integers(0, 100),
    )
    def begin(self, parents, routing, people, seed):
        names = tuple(f"b{number}" for number in range(len(parents) + 1))
        links = tuple(
            Link(one=names[parent % number], other=names[number], latency=0.01, bandwidth=100_000.0)
            for number, parent in enumerate(parents, start=1)
        )
        self.network = SimulatedNetwork(
            Topology(names, links),
            routing=routing,
            timing=Timing(resend=0.1, failure=1.0),
            limits=self.limits,
            seed=seed,
        )
        self.people: dict[str, Person] = {}
        self.under_way: dict[str, Under] = {}
        self.numbers = 0
        self.ways_are_settled = (
            True  # if not, subscriptions are on their way to where no advertisement led them
        )
        for number, (where, filter, offer) in enumerate(people):
            self.connect(where)
            self.subscribe(number, filter, None)
            self.advertise(number, *offer)
        self.settle()

    # --- clients ----------------------------------------------------------------------------------------------------

    @rule(which=WHICH)
    @precondition(lambda self: len(self.people) < 6)
    def connect(self, which):
        running = [name for name in self.network.brokers if self.network.is_running(name)]
        if running:
            client = self.network.connect(running[which % len(running)], f"c{self._number()}")
            self.people[client.name] = Person(client)

    @rule(which=WHICH, filter=filters(), lasts=st.sampled_from([None, None, None, 0.5, 50.0]))
    def subscribe(self, which, filter, lasts):
        person = self._connected(which)
        if person is None:
            return
        expires = None if lasts is None else self.network.now + lasts
        identity = person.client.subscribe(filter, f"s{self._number()}", expires=expires)
        self._wish(person, identity, Wish(filter, expires))

    @rule(which=WHICH, what=WHICH)
    def unsubscribe(self, which, what):
        person = self._connected(which)
        if person is not None and person.wishes:
            identity = list(person.wishes)[what % len(person.wishes)]
            person.client.unsubscribe(identity)
            self._forget_wish(person, identity)

    @rule(which=WHICH, what=WHICH, filter=filters())
    def subscribe_anew(self, which, what, filter):
        """The same id again for something else, while the old one may still be leaving."""
        person = self._connected(which)
        if person is not None and person.wishes:
            identity = list(person.wishes)[what % len(person.wishes)]
            person.client.unsubscribe(identity)
            self._forget_wish(person, identity)
            person.client.subscribe(filter, identity)
            self._wish(person, identity, Wish(filter, None))

    @rule(which=WHICH, offer=OFFERS)
    def advertise_more(self, which, offer):
        self.advertise(which, *offer)

    def advertise(self, which, filter, closed):
        person = self._connected(which)
        if person is not None:
            identity = person.client.advertise(filter, f"a{self._number()}", closed=closed)
            person.offers[identity] = Offer(filter, closed)

    @rule(which=WHICH, what=WHICH)
    def unadvertise(self, which, what):
        person = self._connected(which)
        if person is not None and person.offers:
            identity = list(person.offers)[what % len(person.offers)]
            person.client.unadvertise(identity)
            del person.offers[identity]

    @rule(which=WHICH, events=FRAMES, again=AGAIN)
    def publish(self, which, events, again):
        """Frames of several publishers; each begins with events that its broker has had, cut in whatever way."""
        for number, frame in enumerate(events):
            self._publish(which + number, frame, again)

    @rule(which=WHICH, events=FRAMES, again=AGAIN)
    def settle_and_publish(self, which, events, again):
        """All that is wanted is known everywhere: exactly those who want an event get it."""
        self.settle()
        before = set(self.under_way)
        self.publish(which, events, again)
        for each in [under for identity, under in self.under_way.items() if identity not in before]:
            wishes = {pair: self.people[pair[0]].wishes[pair[1]] for pair in each.may}
            lasting = {pair for pair, wish in wishes.items() if wish.expires is None}
            assert each.must == {pair for pair in lasting if self._gets(self.people[pair[0]], wishes[pair])}
        self.settle()

    def _publish(self, which, events, again):
        person = self._connected(which)
        if person is None:
            return
        client = person.client
        allowed = [
            self._is_published(person, number, event)
            for number, event in enumerate(events, client.published + 1)
        ]
        known = person.sent[len(person.sent) - min(again, len(person.sent)) :]
        first = client.published + 1 - len(known)
        person.sent += events
        if all(allowed):
            client.publish_all([*known, *events], first)
        else:  # the others are published
            with pytest.raises(
                EventError, match=f"{client.name}#{first + len(known) + allowed.index(False)}"
            ):
                client.publish_all([*known, *events], first)

    def _is_published(self, person, number, event):
        """Whether an event will be published; what it may and must reach is noted."""
        offers = [each for each in person.offers.values() if each.allows(event)]
        is_guided = self.network.broker(person.client.broker).routing.way == "advertisements"
        # What it may reach must be known before it is published: the publisher's broker delivers at once.
        is_known = (self.ways_are_settled and not is_guided) or any(each.is_settled for each in offers)
        under = self._wanted(event, settled=is_known)
        if is_guided and not offers:
            return False
        self.under_way[event_id(person.client.name, number)] = under
        return True

    @rule(which=WHICH)
    def go_away(self, which):
        person = self._connected(which)
        if person is not None:
            person.client.disconnect()
            self._excuse(person.client.name)

    @rule(which=WHICH)
    def come_back(self, which):
        away = [each for each in self.people.values() if not each.client.is_connected]
        away = [each for each in away if self.network.is_running(each.client.broker)]
        if away:
            away[which % len(away)].client.reconnect()

    @rule(which=WHICH)
    def leave_for_good(self, which):
        person = self._connected(which)
        if person is not None:
            self._excuse(person.client.name)
            self._check(person)
            person.client.disconnect(for_good=True)
            del self.people[person.client.name]

    # --- faults -----------------------------------------------------------------------------------------------------

    @rule(loss=st.sampled_from([0.0, 0.2, 0.5]), duplication=st.sampled_from([0.0, 0.3]))
    def change_faults(self, loss, duplication):
        self.network.faults = Faults(loss=loss, duplication=duplication)

    @rule(which=WHICH, silently=st.booleans())
    def cut(self, which, silently):
        whole = [link.ends for link in self.network.links() if not self.network.is_cut(*link.ends)]
        if whole:
            self.network.cut(*whole[which % len(whole)], silently=silently)

    @rule(which=WHICH)
    def heal(self, which):
        cut = [link.ends for link in self.network.links() if self.network.is_cut(*link.ends)]
        if cut:
            self.network.heal(*cut[which % len(cut)])

    @rule(which=WHICH, in_step=st.booleans())
    def crash(self, which, in_step):
        running = [name for name in self.network.brokers if self.network.is_running(name)]
        if len(running) > len(self.network.brokers) - 2:
            name = running[which % len(running)]
            if in_step:  # what is delivered in that step is lost
                for person in self._people_at(name):
                    self._excuse(person.client.name)
            self.network.crash(name, in_step=in_step)
            if in_step:
                self.network.run(self.network.now + 0.02)
                if self.network.is_running(name):
                    self.network.crash(name)

    @rule(which=WHICH)
    def restart(self, which):
        crashed = [name for name in self.network.brokers if not self.network.is_running(name)]
        if crashed:
            self.network.restart(crashed[which % len(crashed)])

    @rule(which=WHICH)
    def lose_memory(self, which):
        """A broker loses its disk: what was under way through it may be lost, and its clients say all again."""
        running = [name for name in self.network.brokers if self.network.is_running(name)]
        if running:
            for each in self.under_way.values():
                each.must.clear()
            name = running[which % len(running)]
            self.network.crash(name)
            for person in self._people_at(name):
                person.sent.clear()
            self._unsettle()
            self.network.restart(name, forget=True)

    @rule(routing=ROUTINGS)
    def switch(self, routing):
        """Brokers that do not run learn of it when they start."""
        self.network.switch(routing)
        self.ways_are_settled = False

    @rule(which=WHICH, routing=ROUTINGS)
    def switch_one(self, which, routing):
        running = [name for name in self.network.brokers if self.network.is_running(name)]
        if running:
            self.network.switch(routing, running[which % len(running)])
            self.ways_are_settled = False

    # --- time ---------------------------------------------------------------------------------------------------------

    @rule(seconds=DELAYS)
    def wait(self, seconds):
        self.network.run(self.network.now + seconds)

    @rule()
    def settle(self):
        """Mend everything, let it come to rest, and compare with the oracle."""
        for name in self.network.brokers:
            if not self.network.is_running(name):
                self.network.restart(name)
        for link in list(self.network.links()):
            if self.network.is_cut(*link.ends):
                self.network.heal(*link.ends)
        self.network.run_until_quiet()
        for person in self.people.values():
            self._check(person)
        self._forget_events()
        for name in self.network.brokers:
            invariants.check(self.network.broker(name))
        self.ways_are_settled = True
        now = self.network.now
        for person in self.people.values():
            for identity in [i for i, wish in person.wishes.items() if wish.expires and wish.expires <= now]:
                self._forget_wish(person, identity)
            for known in (*person.wishes.values(), *person.offers.values()):
                known.is_settled = True

    @rule(which=WHICH, where=WHICH)
    def move(self, which, where):
        """Take a link away and connect the two parts by another, all while nothing is under way."""
        self.settle()
        links = list(self.network.links())
        gone = links[which % len(links)]
        self.network.remove_link(*gone.ends)
        self.network.run_until_quiet()  # before all know of it, another link looks like a cycle and is refused
        left = reached(self.network, gone.one)
        right = [name for name in self.network.brokers if name not in left]
        new = Link(one=left[where % len(left)], other=right[which % len(right)], latency=0.01)
        self.network.add_link(new)
        self._unsettle()
        self.settle()

    @rule(which=WHICH, where=WHICH)
    def try_a_cycle(self, which, where):
        """A link that would close a cycle is refused, and all goes on as before."""
        self.settle()
        names = self.network.brokers
        one = names[which % len(names)]
        near = {name for link in self.network.links() if one in link.ends for name in link.ends} | {one}
        far = [name for name in names if name not in near]
        if far:
            before = sorted(link.ends for link in self.network.links())
            self.network.add_link(Link(one=one, other=far[where % len(far)], latency=0.01))
            self.network.run_until_quiet()
            assert sorted(link.ends for link in self.network.links()) == before

    def teardown(self):
        if hasattr(self, "network"):
            self.network.faults = Faults()
            self.settle()

    # --- the oracle ---------------------------------------------------------------------------------------------------

    def _wanted(self, event: Mapping[str, Any], *, settled: bool) -> Under:
        under = Under(event)
        for name, person in self.people.items():
            for identity, wish in person.wishes.items():
                if wish.filter.matches(event) and (wish.expires is None or wish.expires > self.network.now):
                    under.may.add((name, identity))
                    if settled and wish.is_settled and wish.expires is None and self._gets(person, wish):
                        under.must.add((name, identity))
        return under

    def _check(self, person: Person) -> None:
        """Compare what a client got since the last time with what it should have got."""
        name = person.client.name
        got = events_of(name, person.client.received[person.seen :], most=self.most)
        person.seen = len(person.client.received)
        for identity, found in got.items():
            assert identity in self.under_way, f"{name} got {identity} after all was quiet"
            assert found <= self.under_way[identity].may, f"{name} got {identity}, which it did not want"
        for identity, under in self.under_way.items():
            missed = {pair for pair in under.must if pair[0] == name} - got.get(identity, set())
            assert not missed, f"{name} did not get {identity} {under.event} for {missed}"

    def _gets(self, person: Person, wish: Wish) -> bool:
        """Whether what is wanted now arrives."""
        return person.client.is_connected

    def _forget_events(self) -> None:
        """Forget the events that were under way, since all is quiet."""
        self.under_way.clear()

    def _wish(self, person: Person, identity: str, wish: Wish) -> None:
        person.wishes[identity] = wish
        for each in self.under_way.values():
            if wish.filter.matches(each.event):
                each.may.add((person.client.name, identity))

    def _forget_wish(self, person: Person, identity: str) -> None:
        person.wishes.pop(identity, None)
        for each in self.under_way.values():
            each.must.discard((person.client.name, identity))

    def _excuse(self, name: str) -> None:
        for each in self.under_way.values():
            each.must = {pair for pair in each.must if pair[0] != name}

    def _people_at(self, broker: str) -> list[Person]:
        return [each for each in self.people.values() if each.client.broker == broker]

    def _unsettle(self) -> None:
        for person in self.people.values():
            for known in (*person.wishes.values(), *person.offers.values()):
                known.is_settled = False

    def _connected(self, which: int) -> Person | None:
        people = [each for each in self.people.values() if each.client.is_connected]
        return people[which % len(people)] if people else None

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers


NetworkHistories.TestCase.pytestmark = [pytest.mark.slow]
TestNetworkHistories = NetworkHistories.TestCase
