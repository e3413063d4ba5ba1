"""Who really wants an event: known to the simulator alone, to tell needed traffic from superfluous."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thatch.engine import Engine
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["Needs"]


class Needs:
    """The subscriptions of all clients, and for each publication the wires that it must pass."""

    def __init__(self, schema: Schema | None) -> None:
        self._engine = Engine(schema, background=False)
        self._brokers: dict[str, str] = {}  # of clients
        self._above: dict[
            str, tuple[str, int]
        ] = {}  # of each broker: the one above it in some tree, and its depth
        self._needed: dict[str, set[tuple[str, str]]] = {}

    def __len__(self) -> int:
        return len(self._engine)

    def add(self, subscription: str, filter: Filter, client: str, broker: str, expires: float | None) -> None:
        """A client at a broker subscribes."""
        self._brokers[client] = broker
        self._engine.subscribe(subscription, filter, subscriber=client, expires=expires)

    def remove(self, subscription: str) -> None:
        """A subscription ends, if it has not ended by itself."""
        if subscription in self._engine:
            self._engine.unsubscribe(subscription)

    def connect(self, beside: Mapping[str, Iterable[str]]) -> None:
        """The links are these from now on."""
        self._above.clear()
        for root in beside:
            if root in self._above:
                continue
            self._above[root] = (root, 0)
            pending = [root]
            while pending:
                here = pending.pop()
                for each in beside[here]:
                    if each not in self._above:
                        self._above[each] = (here, self._above[here][1] + 1)
                        pending.append(each)

    def publish(self, publication: str, event: Mapping[str, Any], source: str, now: float) -> int:
        """Find the wires on the ways from where an event is published to all who want it; how many clients do."""
        clients = self._engine.match(event, by="subscriber", now=now)
        needed: set[tuple[str, str]] = set()
        for target in {self._brokers[client] for client in clients}:
            self._add_way(needed, source, target)
        self._needed[publication] = needed
        return len(clients)

    def is_needed(self, publication: str, source: str, target: str) -> bool:
        """Whether somebody beyond a wire wanted an event when it was published."""
        return (source, target) in self._needed.get(publication, ())

    def forget_publications(self) -> None:
        """Forget what is needed for events that have arrived everywhere."""
        self._needed.clear()

    def _add_way(self, needed: set[tuple[str, str]], source: str, target: str) -> None:
        """All wires between two brokers; none if they are not connected."""
        above = self._above
        way = []
        while source != target:
            if above[source][1] >= above[target][1]:
                up = above[source][0]
                if up == source:
                    return
                way.append((source, up))
                source = up
            else:
                up = above[target][0]
                way.append((up, target))
                target = up
        needed.update(way)
