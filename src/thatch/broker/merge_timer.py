"""When a link is next checked for merging although no subscription comes or goes (li2005, section 5.2).

A timer is set only where merging may become due, so a quiet network stays quiet.
"""

from __future__ import annotations

from dataclasses import dataclass

from thatch.broker.step import BrokerStep

__all__ = ["MergeTimer"]

_SECOND = 1.0  # for which events are counted at least


@dataclass(slots=True, eq=False)
class MergeTimer:
    """The timer of the link to a neighbour, and how busy the link was since the last check."""

    neighbour: str
    _at: float | None = None
    _published: int = 0  # events sent over the link since the last check
    _since: float = 0.0  # when the first of them was sent

    @property
    def counted_at(self) -> float | None:
        """When the bandwidth will be known, None if nothing was sent since the last check."""
        return self._since + _SECOND if self._published else None

    def count_events(self, now: float, count: int) -> bool:
        """Count events that are sent; returns whether they are the first since the last check."""
        is_first = not self._published
        if is_first:
            self._since = now
        self._published += count
        return is_first

    def set(self, step: BrokerStep, at: float | None) -> None:
        """Ask to be called back at a time, unless an earlier one is set; None for never."""
        if at is not None and (self._at is None or at < self._at):
            self._at = at
            step.set_timer(f"merge {self.neighbour}", max(at, step.now))

    def fire(self, now: float) -> float | None:
        """Begin a check: events a second since the last one, None if they were counted for less than a second."""
        self._at = None
        if not self._published or now < self._since + _SECOND:
            return None
        bandwidth = self._published / (now - self._since)
        self._published = 0
        return bandwidth
