"""Sizes that were asked for, and what the sections of the benchmark share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from benchmarks.console import note
from benchmarks.ours import Prepared, prepare

__all__ = ["FULL", "Session", "Sizes"]

FULL = 1_000_000  # subscriptions that the goals are for


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured; everything follows from `count` as the goals' sizes follow from a million."""

    count: int = FULL
    events: int = 512
    rounds: int = 5
    floor: float = 0.2  # seconds of a contestant's turn, at least
    seed: int = 1

    @classmethod
    def quick(cls, count: int = 10_000, seed: int = 1) -> Sizes:
        """Enough to see that everything runs."""
        return cls(count=count, events=64, rounds=2, floor=0.01, seed=seed)

    @property
    def is_full(self) -> bool:
        """Whether the goals are for these sizes."""
        return self.count == FULL

    @property
    def tenth(self) -> int:
        """100,000 of a million."""
        return max(1, self.count // 10)

    @property
    def pooled(self) -> int:
        """W4's 200,000 of a million."""
        return max(1, self.count // 5)

    @property
    def inserts(self) -> int:
        """300,000 of a million."""
        return max(1, self.count * 3 // 10)

    @property
    def changes(self) -> int:
        """Subscriptions that come and go during churn: 40,000 beside a million."""
        return max(1, self.count // 25)

    @property
    def rules(self) -> int:
        """For rule engines, which evaluate one rule after the other; more would only take longer."""
        return min(1_000, self.count)

    def few(self, most: int) -> int:
        """Events for a contestant that takes long."""
        return min(most, self.events)


class Session:
    """One run of the benchmark."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    @cached_property
    def w1(self) -> Prepared:
        """W1 in full size, which several sections measure; none of them changes it."""
        return self.prepare("W1", self.sizes.count)

    def prepare(self, name: str, count: int) -> Prepared:
        """A workload and its engine, told on standard error as it may take long."""
        note(f"loading {count:,} subscriptions of {name}")
        prepared = prepare(name, count, self.sizes.events, self.sizes.seed)
        note(f"... {prepared.seconds:.1f} s, {count / prepared.seconds:,.0f} a second")
        return prepared
