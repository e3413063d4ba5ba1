"""Clients in virtual time: what they say is heard at once, what they are told is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from thatch.broker.effects import Refuse
from thatch.broker.messages import (
    Advertise,
    Message,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from thatch.errors import ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.runtime.simulated.needs import Needs

__all__ = ["Received", "SimulatedClient", "Surroundings"]


class Surroundings(Protocol):
    """What a client needs of the network that it is on."""

    schema: Schema | None
    needs: Needs

    @property
    def now(self) -> float:
        """The time, in seconds."""

    def hear(self, client: SimulatedClient, message: Message) -> None:
        """A client says something to its broker."""

    def disconnect(self, client: SimulatedClient, *, for_good: bool) -> None:
        """A client goes away."""

    def reconnect(self, client: SimulatedClient) -> None:
        """A client comes back to its broker."""


class Received(NamedTuple):
    """An event as a client got it."""

    publication: str
    event: Mapping[str, Any]
    subscriptions: tuple[str, ...]
    at: float


class SimulatedClient:
    """Somebody at a broker. Made by `SimulatedNetwork.connect`.

    What its broker refuses is raised: an `EventError` for a publication, else a `SubscriptionError`.
    """

    def __init__(self, network: Surroundings, broker: str, name: str) -> None:
        self.name = name
        self.broker = broker
        self.is_connected = True
        self.subscriptions: dict[str, Subscribe] = {}
        self.advertisements: dict[str, Advertise] = {}
        self.received: list[Received] = []
        self.refused: list[Refuse] = []
        self.confirmed: list[str] = []  # unsubscriptions that are done everywhere, by their request
        self._network = network
        self._number = 0

    def subscribe(
        self,
        filter: Filter | str | Mapping[str, Any],
        subscription: str | None = None,
        *,
        expires: float | None = None,
    ) -> str:
        """Want events; the id of the subscription."""
        identity = self._new_id() if subscription is None else subscription
        message = Subscribe(subscription=identity, filter=self._parsed(filter), expires=expires)
        self._say(message)
        self.subscriptions[identity] = message
        self._network.needs.add(identity, message.filter, self.name, self.broker, expires)
        return identity

    def unsubscribe(self, subscription: str) -> str:
        """Want them no more; the request, which is in `confirmed` once that is known everywhere."""
        request = self._new_id()
        self._say(Unsubscribe(subscription, request))
        if self.subscriptions.pop(subscription, None) is not None:
            self._network.needs.remove(subscription)
        return request

    def advertise(
        self,
        filter: Filter | str | Mapping[str, Any],
        advertisement: str | None = None,
        *,
        closed: bool = False,
        expires: float | None = None,
    ) -> str:
        """Announce that events like these may be published from here; the id of the advertisement."""
        identity = self._new_id() if advertisement is None else advertisement
        parsed = self._parsed(filter)
        message = Advertise(advertisement=identity, filter=parsed, closed=closed, expires=expires)
        self._say(message)
        self.advertisements[identity] = message
        return identity

    def unadvertise(self, advertisement: str) -> None:
        """Withdraw an advertisement."""
        self._say(Unadvertise(advertisement))
        self.advertisements.pop(advertisement, None)

    def publish(self, event: Mapping[str, Any], publication: str | None = None) -> str:
        """Publish an event; the id of the publication."""
        identity = self._new_id() if publication is None else publication
        self._say(Publish(identity, event))
        return identity

    def disconnect(self, *, for_good: bool = False) -> None:
        """Go away; for good ends all that this client subscribed to and advertised."""
        self._network.disconnect(self, for_good=for_good)

    def reconnect(self) -> None:
        """Come back after going away, or after the broker was gone."""
        self._network.reconnect(self)

    def say_all_again(self) -> None:
        """Subscribe and advertise anew what the broker may have forgotten, unless it has ended."""
        said: list[Advertise | Subscribe] = [*self.advertisements.values(), *self.subscriptions.values()]
        for message in said:
            if message.expires is None or message.expires > self._network.now:
                self._say(message)

    def _say(self, message: Message) -> None:
        if not self.is_connected:
            raise ParameterError("a client that is connected", f"{shown(self.name)}, which is not")
        before = len(self.refused)
        self._network.hear(self, message)
        for refused in self.refused[before:]:
            error = refused.error_for(message)
            if error is not None:
                raise error

    def _parsed(self, filter: Filter | str | Mapping[str, Any]) -> Filter:
        return filter if isinstance(filter, Filter) else parse(filter, schema=self._network.schema)

    def _new_id(self) -> str:
        self._number += 1
        return f"{self.name}/{self._number}"
