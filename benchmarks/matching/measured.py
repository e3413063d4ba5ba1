"""What most sections do: let contestants agree, race them, and make rows of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.console import note
from benchmarks.contest import Contestant, agree, latencies, race
from benchmarks.matching.rows import Goal, Row
from benchmarks.matching.session import Sizes
from benchmarks.ours import BATCH, SINGLE, Prepared

__all__ = ["contest", "our_row", "percentiles"]


def contest(
    sizes: Sizes, contestants: Sequence[Contestant], rounds: int | None = None
) -> tuple[float, dict[str, float]]:
    """Matches an event, and microseconds an event of each contestant by name."""
    note(f"comparing the answers of {', '.join(each.name for each in contestants)}")
    matches = agree(contestants)
    note("timing them")
    return matches, race(contestants, rounds=rounds or sizes.rounds, floor=sizes.floor)


def our_row(
    prepared: Prepared, contestant: Contestant, matches: float, microseconds: float, goal: Goal | None = None
) -> Row:
    """The engine's own figure; for single events with the spread of single calls."""
    way = {SINGLE: "single", BATCH: "batch"}[contestant.name]
    return Row(
        what=f"{prepared.name} {way}",
        subscriptions=prepared.count,
        matches=matches,
        ours=microseconds,
        unit="µs",
        goal=goal,
        details=percentiles(contestant) if way == "single" else {},
        workload=prepared.name,
        way=way,
    )


def percentiles(contestant: Contestant, rounds: int = 10) -> dict[str, float]:
    """The middle and the slow end of single calls, the clock's own time included."""
    taken = latencies(contestant.call, contestant.items, rounds)
    return {"p50": float(np.percentile(taken, 50)), "p99": float(np.percentile(taken, 99))}
