"""Timers of one broker on the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

__all__ = ["Timers"]


class Timers:
    """At most one call of the loop for each timer, however often it is set anew.

    A timer that is set for later is not taken off the loop: its call finds that it is too early and waits again. A
    resend timer is set and cancelled at every message, and so costs two dictionary entries.
    """

    def __init__(self, fire: Callable[[str], None]) -> None:
        self._fire = fire
        self._due: dict[str, float] = {}
        self._calls: dict[str, tuple[float, asyncio.TimerHandle]] = {}

    def set(self, name: str, at: float) -> None:
        """Fire at a moment, in seconds since 1970."""
        self._due[name] = at
        call = self._calls.get(name)
        if call is not None and call[0] <= at:
            return
        if call is not None:
            call[1].cancel()
        self._wait(name, at)

    def cancel(self, name: str) -> None:
        """Do not fire."""
        self._due.pop(name, None)

    def clear(self) -> None:
        """Let nothing fire any more."""
        for _, handle in self._calls.values():
            handle.cancel()
        self._calls.clear()
        self._due.clear()

    def _wait(self, name: str, at: float) -> None:
        delay = max(0.0, at - time.time())
        handle = asyncio.get_running_loop().call_later(delay, self._look, name)
        self._calls[name] = (at, handle)

    def _look(self, name: str) -> None:
        del self._calls[name]
        at = self._due.get(name)
        if at is None:
            return
        if at > time.time():
            self._wait(name, at)
            return
        del self._due[name]
        self._fire(name)
