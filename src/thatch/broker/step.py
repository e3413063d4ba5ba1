"""One step of a broker: what one stimulus leads to, collected in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from thatch.broker.effects import CancelTimer, Effect, Persist, SetTimer

__all__ = ["BrokerStep"]


@dataclass(slots=True, eq=False)
class BrokerStep:
    """The effects of one stimulus."""

    cause: int  # the number of the stimulus
    now: float  # when it happened
    effects: list[Effect] = field(default_factory=list)

    def persist(self, key: tuple[str, ...], value: Any) -> None:
        """Keep a value under a key, or delete it where the value is None."""
        self.effects.append(Persist(cause=self.cause, key=key, value=value))

    def set_timer(self, timer: str, at: float) -> None:
        """Ask to be called back."""
        self.effects.append(SetTimer(cause=self.cause, timer=timer, at=at))

    def cancel_timer(self, timer: str) -> None:
        """Ask not to be called back."""
        self.effects.append(CancelTimer(cause=self.cause, timer=timer))
