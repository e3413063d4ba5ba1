"""When to merge (paper L, section 5.2): after a time, at a table size, at a rate of subscriptions, when the link is busy, or
when a diagram has many outputs. The paper names these and leaves the choice open; here any of them suffices.

A set of filters knows no clock and no network: whoever drives it tells the time and how busy the link is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from thatch.errors import ParameterError, shown

__all__ = ["Occasion", "When"]

_SECOND = 1.0  # after which a rate is first told, so that what came at one moment has one


class Occasion(NamedTuple):
    """What is known of a link since its rows were merged last; None for what nobody has told.

    Parameters
    ----------
    active : rows that are forwarded
    outputs : most of them that share a tail with one that came since then
    changes : subscriptions that came or went
    seconds : that have passed
    bandwidth : how busy the link is, in whatever measure
    """

    active: int
    outputs: int
    changes: int
    seconds: float | None = None
    bandwidth: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The conditions for merging, of which one suffices; None for one that never holds.

    Parameters
    ----------
    period : seconds since the last time
    table : filters that are forwarded
    rate : subscriptions that come or go in a second, in the mean since the last time
    bandwidth : how busy the link is, in the measure in which that is told; brokers tell events a second
    outputs : filters that differ in one attribute only, the same for all: the output nodes of a diagram
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
        """When a condition may come to hold though nothing comes or goes, None for never.

        Parameters
        ----------
        since : when rows were merged last
        counted_at : when it will be known how busy the link is, None if it is idle
        """
        looks = []
        if self.period is not None:
            looks.append(since + self.period)
        if self.rate is not None and now < since + _SECOND:  # a mean that only falls from then on
            looks.append(since + _SECOND)
        if self.bandwidth is not None and counted_at is not None:
            looks.append(counted_at)
        return min(looks, default=None)

    def holds(self, occasion: Occasion) -> bool:
        """Whether it is time to merge."""
        seconds, bandwidth = occasion.seconds, occasion.bandwidth
        return (
            (self.table is not None and occasion.active >= self.table)
            or (self.outputs is not None and occasion.outputs >= self.outputs)
            or (self.bandwidth is not None and bandwidth is not None and bandwidth >= self.bandwidth)
            or (self.period is not None and seconds is not None and seconds >= self.period)
            or (self.rate is not None and bool(seconds) and occasion.changes >= self.rate * (seconds or 0.0))
        )
