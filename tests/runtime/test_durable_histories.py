"""The same histories with durable subscriptions: what their clients want arrives, however often they are away."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.runtime.histories import DELAYS, FRAMES, WHICH, Person, Wish, filters
from tests.runtime.test_network_histories import NetworkHistories
from thatch.broker.settings import Keeping, Limits


class DurableHistories(NetworkHistories):
    """Events wait for clients that are away, that do not acknowledge or crash, or whose broker crashes in the middle of a step."""

    limits = Limits(keeping=Keeping(window=2, attempts=1_000_000))
    most = 2  # for durable subscriptions, and for others

    @rule(which=WHICH, filter=filters(), lasts=st.sampled_from([None, None, None, 50.0]))
    def subscribe(self, which, filter, lasts):
        """Those that do not expire are durable."""
        person = self._connected(which)
        if lasts is not None:
            super().subscribe(which, filter, lasts)
        elif person is not None:
            identity = person.client.subscribe(filter, f"s{self._number()}", durable=True)
            self._wish(person, identity, Wish(filter, None, durable=True))

    @rule(which=WHICH, acknowledges=st.booleans())
    def acknowledge_or_not(self, which, acknowledges):
        """Without acknowledgements, only the first deliveries come until the client has been away, and these again."""
        person = self._connected(which)
        if person is not None:
            person.client.acknowledges = acknowledges
            if acknowledges:
                person.client.acknowledge()

    @rule(which=WHICH)
    def crash_client(self, which):
        person = self._connected(which)
        if person is not None:
            person.client.crash()
            self._excuse(person.client.name)

    @rule(which=WHICH, events=FRAMES, come_back=st.booleans(), seconds=DELAYS)
    def crash_clients_that_have_not_acknowledged(self, which, events, come_back, seconds):
        self.settle()
        for person in self.people.values():
            person.client.acknowledges = False
        self.publish(which, events, 0)
        self.network.run(self.network.now + seconds)
        for number in range(len(self.people)):
            self.crash_client(number)
        for person in self.people.values():
            person.client.acknowledges = True
            if come_back and self.network.is_running(person.client.broker):
                person.client.reconnect()

    @rule()
    def settle(self):
        for person in self.people.values():
            person.client.acknowledges = True
            person.client.acknowledge()
        super().settle()

    @rule(which=WHICH)
    def leave_for_good(self, which):
        person = self._connected(which)
        if person is not None:
            for each in self.under_way.values():
                each.must = {pair for pair in each.must if pair[0] != person.client.name}
        super().leave_for_good(which)

    # --- the oracle ---------------------------------------------------------------------------------------------

    def _gets(self, person: Person, wish: Wish) -> bool:
        return wish.durable or super()._gets(person, wish)

    def _excuse(self, name: str) -> None:
        wishes = self.people[name].wishes
        for each in self.under_way.values():
            each.must = {
                pair
                for pair in each.must
                if pair[0] != name or (pair[1] in wishes and wishes[pair[1]].durable)
            }

    def _check(self, person: Person) -> None:
        if person.client.is_connected:
            super()._check(person)

    def _forget_events(self) -> None:
        """What clients that are away may want is still under way."""
        away = {name for name, person in self.people.items() if not person.client.is_connected}
        for identity, under in list(self.under_way.items()):
            under.may = {pair for pair in under.may if pair[0] in away}
            under.must &= under.may
            if not under.may:
                del self.under_way[identity]


DurableHistories.TestCase.pytestmark = [pytest.mark.slow]
TestDurableHistories = DurableHistories.TestCase
