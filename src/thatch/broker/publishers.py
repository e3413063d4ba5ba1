"""How far each publisher has come: what it sends again, after any pause, is known by its numbers.

A publisher is a client of this broker. Its number is kept while it is connected, and for some time after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from thatch.broker.step import BrokerStep

__all__ = ["Publishers"]

_KIND = "publisher"


class Publishers:
    """The last number of each publisher, and when it was last heard of."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[int, float]] = {}  # who was not heard of for longest first

    def last(self, name: str) -> int:
        """The number of the last event that came from a publisher, 0 if none is known."""
        return self.known.get(name, (0, 0.0))[0]

    def note(self, step: BrokerStep, name: str, number: int) -> None:
        """Note the number of the event that came last."""
        self.known.pop(name, None)
        self.known[name] = (number, step.now)
        step.persist((_KIND, name), (number, step.now))

    def touch(self, step: BrokerStep, name: str) -> None:
        """Note that a publisher is there, or was until now."""
        if name in self.known:
            self.note(step, name, self.last(name))

    def forget(self, step: BrokerStep, name: str) -> None:
        """Forget a publisher, which has left for good."""
        if self.known.pop(name, None) is not None:
            step.persist((_KIND, name), None)

    def forget_idle(self, step: BrokerStep, seconds: float, connected: Iterable[str]) -> None:
        """Forget those not heard of for longer than some seconds, except who is connected."""
        there = None
        while self.known:
            name, (_, since) = next(iter(self.known.items()))
            if step.now - since <= seconds:
                return
            there = set(connected) if there is None else there
            if name in there:
                self.touch(step, name)
            else:
                self.forget(step, name)

    # --- restarts ------------------------------------------------------------------------------------------------

    def load(self, items: Mapping[tuple[str, ...], tuple[int, float]]) -> None:
        """Restore what was persisted, by name."""
        kept = sorted(items.items(), key=lambda each: each[1][1])
        self.known = {name: (number, since) for (name,), (number, since) in kept}

    def restart(self, now: float) -> None:
        """Count the time from now on: while the broker was away, nobody could be heard of."""
        self.known = {name: (number, now) for name, (number, _) in self.known.items()}
