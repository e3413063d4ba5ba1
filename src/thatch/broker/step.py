"""One step: what one stimulus leads to, gathered in order."""

from __future__ import annotations

from typing import Any

from thatch.broker.effects import CancelTimer, Effect, Ignored, Persist, Refuse, SetTimer

__all__ = ["Step"]


class Step:
    """The effects of one stimulus.

    Parameters
    ----------
    cause : the number of the stimulus
    now : when it happened
    """

    __slots__ = ("cause", "effects", "now")

    def __init__(self, cause: int, now: float) -> None:
        self.cause = cause
        self.now = now
        self.effects: list[Effect] = []

    def persist(self, key: tuple[str, ...], value: Any) -> None:
        """Keep a value under a key, or forget it where the value is None."""
        self.effects.append(Persist(cause=self.cause, key=key, value=value))

    def set_timer(self, timer: str, at: float) -> None:
        """Ask to be called back."""
        self.effects.append(SetTimer(cause=self.cause, timer=timer, at=at))

    def cancel_timer(self, timer: str) -> None:
        """Ask not to be called back."""
        self.effects.append(CancelTimer(cause=self.cause, timer=timer))

    def ignore(self, sender: str, reason: str) -> None:
        """Say that something that came was of no use."""
        self.effects.append(Ignored(cause=self.cause, sender=sender, reason=reason))

    def refuse(self, client: str, about: str, reason: str) -> None:
        """Tell a client that a message of its own was refused."""
        self.effects.append(Refuse(cause=self.cause, client=client, about=about, reason=reason))
