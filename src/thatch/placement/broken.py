"""What a placement that keeps not all limits says for itself: which are broken, where, and what would be enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from thatch.errors import shown
from thatch.placement.checks import list_some

__all__ = ["BrokenLimit", "Parameter", "Relaxation", "Shortage"]

Parameter = Literal["beta_max", "max_delay", "limits factor", "limits plus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLimit:
    """A limit that is broken at one broker.

    Parameters
    ----------
    limit : "load": it serves more subscribers than it may at β_max; "latency": some of its subscribers have too long a path
    subscribers : how many it serves, or how many of them have too long a path
    value, allowed : its load and the largest one allowed; or the path that is too long by most, and the limit of it
    worst : whose path is too long by most
    """

    limit: Literal["load", "latency"]
    broker: str
    subscribers: int
    value: float
    allowed: float
    worst: str = ""

    @property
    def excess(self) -> float:
        """By how much the limit is broken."""
        return self.value - self.allowed

    def __str__(self) -> str:
        broker = shown(self.broker)
        if self.limit == "load":
            return f"{broker} serves {_subscribers(self.subscribers)}, {self.excess:,.0f} more than it may ({self.allowed:,.0f})"
        return (
            f"the paths through {broker} are too long for {_subscribers(self.subscribers)}, by most for "
            f"{shown(self.worst)}: {self.value:.6g}, which is {self.excess:.3g} more than {self.allowed:.6g}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """Why no placement keeps all limits: these subscribers may only be served by these brokers, which have too little room.

    Parameters
    ----------
    subscribers : how many have no other broker within their latency limits
    room : how many these brokers may serve at β_max
    """

    brokers: tuple[str, ...]
    subscribers: int
    room: int

    def __str__(self) -> str:
        one = len(self.brokers) == 1
        return (
            f"{_subscribers(self.subscribers)} can reach only {list_some([shown(each) for each in self.brokers])} within "
            f"{'its limit' if self.subscribers == 1 else 'their limits'}, and {'it has' if one else 'they have'} room for "
            f"{self.room:,}: {self.subscribers - self.room:,} too many, whatever the placement"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """The least change of one parameter that makes a placement within all limits possible, found by maximum flow.

    Parameters
    ----------
    parameter : "beta_max" or "max_delay"; or, where limits are given by subscriber, "limits factor" (all limits times this) or
        "limits plus" (all limits longer by this)
    given, enough : its value, and one at which everybody can be served within the limits
    too_little : a value close below at which that is proved impossible
    """

    parameter: Parameter
    given: float
    enough: float
    too_little: float

    def __str__(self) -> str:
        words = {
            "beta_max": f"beta_max of {self.enough:.12g} instead of {self.given:.12g}",
            "max_delay": f"max_delay of {self.enough:.12g} instead of {self.given:.12g}",
            "limits factor": f"limits that are longer by the factor {self.enough:.12g}",
            "limits plus": f"limits that are longer by {self.enough:.12g}",
        }
        return f"possible with {words[self.parameter]} (proved impossible at {self.too_little:.12g})"


def _subscribers(count: int) -> str:
    return f"{count:,} subscriber{'' if count == 1 else 's'}"
