"""Looks at a link by timer: occasions to merge that come though no subscription does (paper L, section 5.2).

A broker asks for a look only where one may find that it is time to merge, so a network that is quiet stays quiet.
"""

from __future__ import annotations

from thatch.broker.step import Step

__all__ = ["Looks"]

_SECOND = 1.0  # for which events are counted at least


class Looks:
    """When one link is looked at next, and how busy it was since the last look.

    Parameters
    ----------
    neighbour : at the other end
    """

    __slots__ = ("_at", "_neighbour", "_published", "_since")

    def __init__(self, neighbour: str) -> None:
        self._neighbour = neighbour
        self._at: float | None = None
        self._published = 0  # events sent over the link since the last look
        self._since = 0.0  # when the first of them was

    @property
    def counted_at(self) -> float | None:
        """When it will be known how busy the link is, None if nothing was sent since the last look."""
        return self._since + _SECOND if self._published else None

    def count(self, now: float) -> bool:
        """Know that an event is sent; whether it is the first since the last look."""
        if not self._published:
            self._since = now
        self._published += 1
        return self._published == 1

    def ask(self, step: Step, *moments: float | None) -> None:
        """Ask to be called back at the first of some moments, unless a look comes sooner."""
        at = min((each for each in moments if each is not None), default=None)
        if at is not None and (self._at is None or at < self._at):
            self._at = at
            step.set_timer(f"merge {self._neighbour}", max(at, step.now))

    def take(self, now: float) -> float | None:
        """The timer ran out: events a second since the last look, None if they were counted for less than a second."""
        self._at = None
        if not self._published or now < self._since + _SECOND:
            return None
        bandwidth = self._published / (now - self._since)
        self._published = 0
        return bandwidth
