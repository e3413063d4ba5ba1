"""Settings of a broker, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from thatch.errors import ParameterError, shown
from thatch.reduction.forwarding.policies import Exact, Flooding, Merging, Policy

__all__ = ["Keeping", "Limits", "Routing", "Timing"]

_WAYS = ("advertisements", "subscriptions", "events")


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """How messages are routed.

    Parameters
    ----------
    way : "advertisements": subscriptions travel only towards advertisements that they overlap; "subscriptions": they
        travel everywhere; "events": only events travel, and brokers filter for their clients, which is the baseline
    policy : what a link leaves out of the subscriptions that it forwards, and what it merges
    advertising : what a link leaves out of the advertisements that it forwards; mergers must be perfect
    """

    way: Literal["advertisements", "subscriptions", "events"] = "advertisements"
    policy: Policy = field(default_factory=Exact)
    advertising: Policy = field(default_factory=Flooding)

    def __post_init__(self) -> None:
        if self.way not in _WAYS:
            raise ParameterError(" or ".join(map(repr, _WAYS)), shown(self.way), "way")
        # An imperfect merger would draw subscriptions to where nothing is published for them (li2005, section 5).
        merging = self.advertising
        if isinstance(merging, Merging) and (merging.threshold or merging.profile or merging.advertisements):
            raise ParameterError("perfect mergers of advertisements", shown(merging), "advertising")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a broker waits, in seconds.

    Parameters
    ----------
    resend : until a message that was not acknowledged is sent again
    failure : until a neighbour that acknowledges nothing is reported as failed; longer than `resend`
    """

    resend: float = 1.0
    failure: float = 10.0

    def __post_init__(self) -> None:
        if not 0 < self.resend < self.failure:
            raise ParameterError(
                "0 < resend < failure", f"{shown(self.resend)} and {shown(self.failure)}", "timing"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How much is kept for a client with durable subscriptions, and for how long.

    Parameters
    ----------
    events, bytes : most of both; beyond, the oldest deliveries become dead letters
    age : after how many seconds a delivery that was not acknowledged becomes one
    attempts : how often a delivery is made, once each time the client connects, before it becomes one
    window : how many deliveries may be under way at a time; the others wait
    """

    events: int = 100_000
    bytes: int = 64_000_000
    age: float = 7 * 86_400.0
    attempts: int = 10
    window: int = 256

    def __post_init__(self) -> None:
        for name in ("events", "bytes", "age", "attempts", "window"):
            if not getattr(self, name) >= 1:
                raise ParameterError("at least 1", shown(getattr(self, name)), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a broker accepts and remembers.

    Parameters
    ----------
    event_size : most bytes of one event, as it is encoded
    idle : after how many seconds the numbers of a publisher that is away are forgotten; what it sends again after that
        is published again
    facts : how many facts are remembered for `Broker.explain`
    keeping : what is kept for each client with durable subscriptions
    """

    event_size: int = 1_000_000
    idle: float = 7 * 86_400.0
    facts: int = 1_000
    keeping: Keeping = field(default_factory=Keeping)

    def __post_init__(self) -> None:
        for name in ("event_size", "idle", "facts"):
            if not getattr(self, name) >= 1:
                raise ParameterError("at least 1", shown(getattr(self, name)), name)
