"""One direction of a link: a pipe that frames leave in the order in which they entered it, if they leave it at all."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from thatch.errors import ParameterError, shown
from thatch.model.topology import Link

__all__ = ["NO_FAULTS", "Faults", "Wire"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How often a frame is lost, and how often it comes twice: probabilities below 1."""

    loss: float = 0.0
    duplication: float = 0.0

    def __post_init__(self) -> None:
        for name in ("loss", "duplication"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError("a probability from 0 to below 1", shown(getattr(self, name)), name)


NO_FAULTS = Faults()


class Wire:
    """From one broker to a neighbour.

    Parameters
    ----------
    source, target : names of brokers
    link : its latency and bandwidth
    """

    __slots__ = ("bandwidth", "cuts", "free_at", "is_cut", "latency", "link", "source", "target", "traffic")

    def __init__(self, source: str, target: str, link: Link) -> None:
        self.source = source
        self.target = target
        self.link = link
        self.latency = link.latency
        self.bandwidth = link.bandwidth
        self.free_at = 0.0  # when the last frame will have entered it
        self.is_cut = False
        self.cuts = 0  # what was sent before a cut does not arrive after it
        self.traffic: dict[type, list[int]] = {}  # by kind of message: how many, and their bytes

    def arrival(self, now: float, size: int) -> float:
        """When a frame that is sent now arrives: it enters after those before it, and takes time for its bytes."""
        if self.bandwidth == inf:
            return now + self.latency
        self.free_at = max(now, self.free_at) + size / self.bandwidth
        return self.free_at + self.latency

    def cut(self) -> None:
        """Lose what is under way and what will be sent."""
        self.is_cut = True
        self.cuts += 1
        self.free_at = 0.0

    def count(self, kind: type, size: int) -> None:
        """Count a frame that is sent."""
        counted = self.traffic.get(kind)
        if counted is None:
            self.traffic[kind] = [1, size]
        else:
            counted[0] += 1
            counted[1] += size
