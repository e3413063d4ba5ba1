"""When to merge (li2005, section 5.2): after a time, at a table size, at a rate of subscriptions, when the link is busy, or
when a diagram has many outputs. The paper names these conditions and leaves the choice open; here one suffices.

A forwarding set has no clock and no network: its caller passes the time and the bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from thatch.errors import ParameterError, shown

__all__ = ["Occasion", "When"]

_SECOND = 1.0  # after which a rate is first known


class Occasion(NamedTuple):
    """The state of a link since its rows were last merged; None for what is not known."""

    active: int  # rows that are forwarded
    outputs: int  # most of them that share a tail with a row that came since then
    changes: int  # subscriptions that came or went
    seconds: float | None = None
    bandwidth: float | None = None  # how busy the link is, in any unit


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """Conditions for merging, of which one suffices; None for a condition that never holds.

    Parameters
    ----------
    period : seconds since the last merging
    table : filters that are forwarded
    rate : subscriptions that come or go in a second, on average since the last merging
    bandwidth : how busy the link is; brokers pass events a second
    outputs : filters that differ in the same one attribute only: the output nodes of a diagram
    """

    period: float | None = None
    table: int | None = None
    rate: float | None = None
    bandwidth: float | None = None
    outputs: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not (
                isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            ):
                raise ParameterError("a number above 0, or None", shown(value), field.name)

    def next_check(self, since: float, now: float, counted_at: float | None) -> float | None:
        """When a condition may become true although nothing comes or goes, None for never.

        Rows were last merged at `since`; it is known at `counted_at` how busy the link is, None if it is idle.
        """
        checks = []
        if self.period is not None:
            checks.append(since + self.period)
        if self.rate is not None and now < since + _SECOND:  # afterwards the average only falls
            checks.append(since + _SECOND)
        if self.bandwidth is not None and counted_at is not None:
            checks.append(counted_at)
        return min(checks, default=None)

    def holds(self, occasion: Occasion) -> bool:
        """Whether one of the conditions is true."""
        seconds, bandwidth = occasion.seconds, occasion.bandwidth
        return (
            (self.table is not None and occasion.active >= self.table)
            or (self.outputs is not None and occasion.outputs >= self.outputs)
            or (self.bandwidth is not None and bandwidth is not None and bandwidth >= self.bandwidth)
            or (self.period is not None and seconds is not None and seconds >= self.period)
            or (self.rate is not None and bool(seconds) and occasion.changes >= self.rate * (seconds or 0.0))
        )
