"""`thatch.pipeline.merge` on two cores, and how its cost grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.console import note
from benchmarks.matching.rows import Row
from benchmarks.reduction.on_spark import grown_rows

if TYPE_CHECKING:
    from benchmarks.reduction.sections import Bench

__all__ = ["merging_rows"]

_TOLD = {"perfect mergers only": "perfect", "forwarded": "forwarded", "false positives, bound": "bound"}


def merging_rows(bench: Bench) -> list[Row]:
    """The template workload, under a budget of 2 % that 100,000 events measure."""
    counts = [bench.size(100_000), bench.size(1_000_000)]
    note(f"merging on Spark: {counts[0]:,} and {counts[1]:,} subscriptions")
    request = {"counts": counts, "events": bench.size(100_000), "seed": bench.seed}
    return grown_rows("merging_child", request, "merging 67 rows a tail", _TOLD)
