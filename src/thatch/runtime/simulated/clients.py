"""Clients in virtual time: a broker handles their messages at once, and what they receive is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from thatch.broker.effects import DeadLetter, Deliver, Refuse
from thatch.broker.event_frames import RefusedEvent, encode_frame, event_id
from thatch.broker.messages import (
    Acknowledge,
    Advertise,
    Message,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from thatch.errors import EventError, ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.runtime.simulated.oracle import DeliveryOracle
from thatch.runtime.simulated.schedule import Schedule

__all__ = ["ClientHost", "Received", "SimulatedClient"]


class ClientHost(Protocol):
    """What a client needs of its network."""

    schema: Schema | None
    oracle: DeliveryOracle
    schedule: Schedule

    @property
    def now(self) -> float:
        """The time, in seconds."""

    def send(self, client: SimulatedClient, message: Message) -> None:
        """Send a message of a client to its broker."""

    def disconnect(self, client: SimulatedClient, *, for_good: bool) -> None:
        """Disconnect a client."""

    def reconnect(self, client: SimulatedClient) -> None:
        """Connect a client to its broker again."""


class Received(NamedTuple):
    """An event as a client received it."""

    publication: str
    event: Mapping[str, Any]
    subscriptions: tuple[str, ...]
    at: float


class SimulatedClient:
    """A client of a broker. Made by `SimulatedNetwork.connect`.

    What its broker refuses is raised: an `EventError` for a publication, a `SubscriptionError` otherwise.
    """

    def __init__(self, host: ClientHost, broker: str, name: str) -> None:
        self.name = name
        self.broker = broker
        self.is_connected = True
        self.subscriptions: dict[str, Subscribe] = {}
        self.advertisements: dict[str, Advertise] = {}
        self.received: list[Received] = []
        self.refused: list[Refuse] = []
        self.session = ""
        self.delivered = 0  # the number of the last delivery for durable subscriptions
        self.acknowledged = 0  # the number of the last one that was acknowledged
        self.acknowledges = True  # whether it does so by itself
        self.dead: list[DeadLetter] = []  # that it will not get
        self.refused_events: list[RefusedEvent] = []
        self.published = 0  # the number of the last event
        self.confirmed: list[str] = []  # requests of unsubscriptions that are done everywhere
        self._open: list[int] = []  # places in `received` of what was not acknowledged
        self._host = host
        self._number = 0

    def subscribe(
        self,
        filter: Filter | str | Mapping[str, Any],
        subscription: str | None = None,
        *,
        expires: float | None = None,
        durable: bool = False,
    ) -> str:
        """Subscribe to events; returns the id of the subscription. If it is durable, events wait while the client is away."""
        identity = self._new_id() if subscription is None else subscription
        message = Subscribe(
            subscription=identity, filter=self._parse(filter), expires=expires, durable=durable
        )
        self._send(message)
        self.subscriptions[identity] = message
        self._host.oracle.add(identity, message.filter, self.name, self.broker, expires)
        return identity

    def unsubscribe(self, subscription: str) -> str:
        """Unsubscribe; returns the request, which is in `confirmed` once it is done everywhere."""
        request = self._new_id()
        self._send(Unsubscribe(subscription, request))
        if self.subscriptions.pop(subscription, None) is not None:
            self._host.oracle.remove(subscription)
        return request

    def advertise(
        self,
        filter: Filter | str | Mapping[str, Any],
        advertisement: str | None = None,
        *,
        closed: bool = False,
        expires: float | None = None,
    ) -> str:
        """Announce events that may be published here; returns the id of the advertisement."""
        identity = self._new_id() if advertisement is None else advertisement
        parsed = self._parse(filter)
        message = Advertise(advertisement=identity, filter=parsed, closed=closed, expires=expires)
        self._send(message)
        self.advertisements[identity] = message
        return identity

    def unadvertise(self, advertisement: str) -> None:
        """Withdraw an advertisement."""
        self._send(Unadvertise(advertisement))
        self.advertisements.pop(advertisement, None)

    def publish(self, event: Mapping[str, Any], number: int | None = None) -> str:
        """Publish an event; returns its id. What was published under a number before is not published again."""
        (about,) = self.publish_all([event], number)
        return about

    def publish_all(self, events: Iterable[Mapping[str, Any]], first: int | None = None) -> list[str]:
        """Publish events in one frame, numbered from `first` on, and return their ids.

        If some are refused, the others are published, and the error for the first of them is raised.
        """
        start = self.published + 1 if first is None else first
        frame, unreadable = encode_frame(self.name, start, events)
        refused = [*unreadable]
        if frame.rows:
            before = len(self.refused_events)
            self._send(Publish(frame))
            self.published = max(self.published, frame.numbers[-1])
            refused += self.refused_events[before:]
        if refused:
            worst = min(refused, key=lambda each: each.number)
            raise EventError(worst.reason, where=event_id(self.name, worst.number))
        return frame.ids()

    def is_new(self, delivery: Deliver) -> bool:
        """Whether a delivery comes for the first time; one for durable subscriptions is acknowledged soon in any case."""
        if not delivery.number:
            return True
        if delivery.session != self.session:
            self.session, self.delivered, self.acknowledged = delivery.session, 0, 0
            self._open.clear()
        is_new = delivery.number > self.delivered
        if is_new:
            self._open += range(len(self.received), len(self.received) + len(delivery.frame))
        self.delivered = max(self.delivered, delivery.number)
        if self.acknowledges:
            self._host.schedule.put(self._host.now, self.acknowledge)
        return is_new

    def acknowledge(self) -> None:
        """Acknowledge all deliveries for durable subscriptions that have come, if the client is connected."""
        if self.is_connected:
            self.acknowledged = self.delivered
            self._open.clear()
            self._host.send(self, Acknowledge(self.session, self.delivered))

    def crash(self) -> None:
        """Lose the connection, and the deliveries for durable subscriptions that were not acknowledged."""
        lost = set(self._open)
        self.received = [each for place, each in enumerate(self.received) if place not in lost]
        self._open.clear()
        self.delivered = self.acknowledged
        self.disconnect()

    def disconnect(self, *, for_good: bool = False) -> None:
        """Disconnect; `for_good` ends all subscriptions and advertisements of this client."""
        self._host.disconnect(self, for_good=for_good)

    def reconnect(self) -> None:
        """Connect again, after a disconnection or a crash of the broker."""
        self._host.reconnect(self)

    def repeat_all(self) -> None:
        """Send all subscriptions and advertisements again that have not expired."""
        sent: list[Advertise | Subscribe] = [*self.advertisements.values(), *self.subscriptions.values()]
        for message in sent:
            if message.expires is None or message.expires > self._host.now:
                self._send(message)

    def _send(self, message: Message) -> None:
        if not self.is_connected:
            raise ParameterError(f"The client {shown(self.name)} is not connected: reconnect it first")
        before = len(self.refused)
        self._host.send(self, message)
        for refused in self.refused[before:]:
            error = refused.error_for(message)
            if error is not None:
                raise error

    def _parse(self, filter: Filter | str | Mapping[str, Any]) -> Filter:
        return filter if isinstance(filter, Filter) else parse(filter, schema=self._host.schema)

    def _new_id(self) -> str:
        self._number += 1
        return f"{self.name}/{self._number}"
