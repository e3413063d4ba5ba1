"""The route of an event through a whole network, found from the tables of its brokers without publishing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from thatch.broker.broker import Broker

__all__ = ["Hop", "Route", "Stop", "explain_route"]

_SHOWN = 3  # subscriptions that are named as the reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """Whether a broker sends the event over one link."""

    neighbour: str  # at its other end
    is_sent: bool  # whether the event is sent there
    # Known subscriptions from there that want it; empty if every event is sent there.
    wanted: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.is_sent:
            return f"not to {self.neighbour}: nobody there wants it"
        if not self.wanted:
            return (
                f"to {self.neighbour}: somebody there may want it, since not all subscriptions are known here"
            )
        more = " and others" if len(self.wanted) > _SHOWN else ""
        return f"to {self.neighbour}: wanted by {', '.join(self.wanted[:_SHOWN])}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What one broker does with the event."""

    broker: str
    came_from: str | None  # the neighbour that sent it, None where it is published
    hops: tuple[Hop, ...]
    clients: Mapping[str, tuple[str, ...]]  # who gets it here, each with the subscriptions that want it

    def lines(self) -> Iterator[str]:
        """The lines of the explanation."""
        yield f"{self.broker}: " + ("published here" if self.came_from is None else f"from {self.came_from}")
        for client, subscriptions in self.clients.items():
            yield f"  delivered to {client}: {', '.join(subscriptions)}"
        for hop in self.hops:
            yield f"  {hop}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where an event would go, and why; print it."""

    event: Mapping[str, Any]
    stops: tuple[Stop, ...]

    @property
    def brokers(self) -> tuple[str, ...]:
        """The brokers that would get the event."""
        return tuple(stop.broker for stop in self.stops)

    @property
    def clients(self) -> dict[str, tuple[str, ...]]:
        """The clients that would get it, each with the subscriptions that want it."""
        return {client: wanted for stop in self.stops for client, wanted in stop.clients.items()}

    def __str__(self) -> str:
        return "\n".join(line for stop in self.stops for line in stop.lines())


def explain_route(brokers: Mapping[str, Broker], event: Mapping[str, Any], source: str) -> Route:
    """Find where an event would go if it were published at a broker now, and why.

    Parameters
    ----------
    brokers : all that run, by name; a route ends at a broker that does not run
    event : to be published; whether its publisher has advertised it is not checked
    source : the broker where it is published

    Raises
    ------
    EventError
        If the event cannot be read.
    """
    stops = []
    pending: list[tuple[str, str | None]] = [(source, None)]
    while pending:
        name, before = pending.pop(0)
        stop = _stop(brokers[name], event, before)
        stops.append(stop)
        pending += [(hop.neighbour, name) for hop in stop.hops if hop.is_sent and hop.neighbour in brokers]
    return Route(event=event, stops=tuple(stops))


def _stop(broker: Broker, event: Mapping[str, Any], before: str | None) -> Stop:
    route = broker.route(event, before)
    hops = (
        Hop(neighbour=link, is_sent=link in route.links, wanted=route.links.get(link, ()))
        for link in broker.tables.links
        if link != before
    )
    return Stop(broker=broker.name, came_from=before, hops=tuple(hops), clients=route.clients)
