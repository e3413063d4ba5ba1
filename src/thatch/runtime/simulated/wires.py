"""One direction of a link, which delivers packets in order or loses them; and how large packets are.

Events are encoded; nothing else is, so sizes are estimated from texts and counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from thatch.broker.messages import (
    Advertise,
    BucketRequest,
    Digest,
    Entries,
    Joined,
    Linked,
    Message,
    Publish,
    Subscribe,
)
from thatch.broker.stimuli import Packet
from thatch.errors import ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.topology import Link

__all__ = ["NO_FAULTS", "Faults", "PacketSizes", "Wire"]

_PACKET = 32  # bytes of sessions, numbers and lengths
_NUMBER = 8
_ROW = 6  # bytes of an event's number and length


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How likely a packet is lost, and how likely it is delivered twice: probabilities below 1."""

    loss: float = 0.0
    duplication: float = 0.0

    def __post_init__(self) -> None:
        for name in ("loss", "duplication"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError("a probability from 0 to below 1", shown(getattr(self, name)), name)


NO_FAULTS = Faults()


class Wire:
    """From one broker to a neighbour, both by name, with the latency and bandwidth of their link."""

    __slots__ = ("bandwidth", "cuts", "free_at", "is_cut", "latency", "link", "source", "target", "traffic")

    def __init__(self, source: str, target: str, link: Link) -> None:
        self.source = source
        self.target = target
        self.link = link
        self.latency = link.latency
        self.bandwidth = link.bandwidth
        self.free_at = 0.0  # when the last packet will have been sent
        self.is_cut = False
        self.cuts = 0  # packets that were sent before a cut do not arrive after it
        self.traffic: dict[type, list[int]] = {}  # by kind of message: how many, and their bytes

    def arrival(self, now: float, size: int) -> float:
        """When a packet that is sent now arrives: it waits for those before it, and takes time for its bytes."""
        if self.bandwidth == inf:
            return now + self.latency
        self.free_at = max(now, self.free_at) + size / self.bandwidth
        return self.free_at + self.latency

    def cut(self) -> None:
        """Lose packets under way and packets to come."""
        self.is_cut = True
        self.cuts += 1
        self.free_at = 0.0

    def count(self, kind: type, size: int) -> None:
        """Count a packet that is sent."""
        counted = self.traffic.get(kind)
        if counted is None:
            self.traffic[kind] = [1, size]
        else:
            counted[0] += 1
            counted[1] += size


class PacketSizes:
    """Estimates how many bytes packets would have; texts of filters are measured once each."""

    def __init__(self) -> None:
        self._filters: dict[Filter, int] = {}

    def packet(self, packet: Packet) -> int:
        """The bytes of a packet."""
        return _PACKET + (0 if packet.message is None else self.message(packet.message))

    def message(self, message: Message) -> int:
        """The bytes of a message."""
        match message:
            case Subscribe():
                return len(message.subscription) + _NUMBER + self._filter(message.filter)
            case Advertise():
                return len(message.advertisement) + _NUMBER + 1 + self._filter(message.filter)
            case Publish():
                return len(message.frame.publisher) + _ROW * len(message.frame) + message.frame.size
            case Joined() | Linked():
                return sum(
                    len(name) + _NUMBER + sum(len(each) + _NUMBER for each, _ in links)
                    for name, _, links in message.reports
                )
            case Digest():
                return 2 * _NUMBER * (len(message.subscriptions) + len(message.advertisements))
            case BucketRequest():
                return _NUMBER * (len(message.subscriptions) + len(message.advertisements))
            case Entries():
                held: list[Message] = [message.buckets, *message.subscriptions, *message.advertisements]
                return sum(self.message(each) for each in held)
            case _:  # a few ids
                return sum(len(str(getattr(message, name))) for name in type(message).__slots__)

    def _filter(self, filter: Filter) -> int:
        size = self._filters.get(filter)
        if size is None:
            size = self._filters[filter] = len(str(filter))
        return size
