"""Which clients really want an event: known to the simulator alone, to tell needed traffic from superfluous."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thatch.engine import Engine
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["DeliveryOracle"]


class DeliveryOracle:
    """Knows the subscriptions of all clients, and for each publication the wires that it must pass."""

    def __init__(self, schema: Schema | None) -> None:
        self._engine = Engine(schema, background=False)
        self._brokers: dict[str, str] = {}  # of clients
        self._above: dict[str, tuple[str, int]] = {}  # of each broker: its parent in some tree, and its depth
        self._needed: dict[str, set[tuple[str, str]]] = {}

    def __len__(self) -> int:
        return len(self._engine)

    def add(self, subscription: str, filter: Filter, client: str, broker: str, expires: float | None) -> None:
        """Add a subscription of a client at a broker."""
        self._brokers[client] = broker
        self._engine.subscribe(subscription, filter, subscriber=client, expires=expires)

    def remove(self, subscription: str) -> None:
        """Remove a subscription, if it has not expired."""
        if subscription in self._engine:
            self._engine.unsubscribe(subscription)

    def connect(self, links: Mapping[str, Iterable[str]]) -> None:
        """Replace the links of the network."""
        self._above.clear()
        for root in links:
            if root in self._above:
                continue
            self._above[root] = (root, 0)
            pending = [root]
            while pending:
                here = pending.pop()
                for each in links[here]:
                    if each not in self._above:
                        self._above[each] = (here, self._above[here][1] + 1)
                        pending.append(each)

    def publish(self, publication: str, event: Mapping[str, Any], source: str, now: float) -> int:
        """Find the wires between the publisher of an event and all clients that want it; returns how many do."""
        clients = self._engine.match(event, by="subscriber", now=now)
        needed: set[tuple[str, str]] = set()
        for target in {self._brokers[client] for client in clients}:
            self._add_path(needed, source, target)
        self._needed[publication] = needed
        return len(clients)

    def is_needed(self, publication: str, source: str, target: str) -> bool:
        """Whether somebody beyond a wire wanted an event when it was published."""
        return (source, target) in self._needed.get(publication, ())

    def forget_publications(self) -> None:
        """Forget the wires of events that have arrived everywhere."""
        self._needed.clear()

    def _add_path(self, needed: set[tuple[str, str]], source: str, target: str) -> None:
        """Add all wires between two brokers; none if they are not connected."""
        above = self._above
        path = []
        while source != target:
            if above[source][1] >= above[target][1]:
                up = above[source][0]
                if up == source:
                    return
                path.append((source, up))
                source = up
            else:
                up = above[target][0]
                path.append((up, target))
                target = up
        needed.update(path)
