"""What was recorded in a run: traffic, table sizes, deliveries and their delay, and faults."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from thatch.runtime.simulated.wires import Wire

__all__ = ["Delivery", "LinkTraffic", "Records", "TableSizes"]

_ACKNOWLEDGE = "acknowledge"  # a packet without a message only acknowledges


class Delivery(NamedTuple):
    """An event that reached a client."""

    publication: str
    client: str
    at: float
    delay: float  # seconds since it was published


class LinkTraffic(NamedTuple):
    """The messages of one kind that one broker sent to a neighbour."""

    source: str
    target: str
    kind: str
    messages: int
    bytes: int


class TableSizes(NamedTuple):
    """How large the tables of a broker were at a time."""

    at: float
    broker: str
    subscriptions: int
    advertisements: int
    forwarded: int  # subscriptions that its neighbours know from it, summed over links


@dataclass(slots=True)
class Records:
    """Everything that is counted; traffic is counted by the wires."""

    deliveries: list[Delivery] = field(default_factory=list)
    samples: list[TableSizes] = field(default_factory=list)
    published: int = 0  # events
    wanted: int = 0  # deliveries if every event reached all who want it at once
    lost: int = 0  # packets
    duplicated: int = 0  # packets
    # Events sent to a neighbour beyond which somebody, or nobody, wanted them.
    needed: int = 0
    superfluous: int = 0
    ignored: Counter[str] = field(default_factory=Counter)  # what brokers ignored, by reason
    # Neighbours that brokers reported as failed, by broker and neighbour.
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    # Links that brokers asked to be closed, by broker, neighbour and reason.
    closed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    wires: list[Wire] = field(default_factory=list)  # also of links that were removed

    def traffic(self) -> list[LinkTraffic]:
        """What was sent, by wire and kind, including lost and repeated packets."""
        return [
            LinkTraffic(wire.source, wire.target, _name(kind), *counted)
            for wire in self.wires
            for kind, counted in wire.traffic.items()
        ]

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """Messages and bytes by kind of message."""
        sums: dict[str, tuple[int, int]] = {}
        for each in self.traffic():
            messages, size = sums.get(each.kind, (0, 0))
            sums[each.kind] = messages + each.messages, size + each.bytes
        return dict(sorted(sums.items()))

    def messages(self, *kinds: type) -> int:
        """How many messages of some kinds were sent."""
        return sum(wire.traffic[kind][0] for wire in self.wires for kind in kinds if kind in wire.traffic)

    @property
    def publications_sent(self) -> int:
        """How often an event was sent to a neighbour."""
        return self.needed + self.superfluous


def _name(kind: type) -> str:
    return _ACKNOWLEDGE if kind is type(None) else kind.__name__.lower()
