"""`thatch.pipeline.merge` on two cores, and how its cost grows."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.child import ask
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most

if TYPE_CHECKING:
    from benchmarks.reduction.sections import Bench

__all__ = ["merging_rows"]


def merging_rows(bench: Bench) -> list[Row]:
    """The template workload, under a budget of 2 % that 100,000 events measure."""
    counts = [bench.size(100_000), bench.size(1_000_000)]
    note(f"merging on Spark: {counts[0]:,} and {counts[1]:,} subscriptions")
    with tempfile.TemporaryDirectory() as folder:
        request = {"folder": folder, "counts": counts, "events": bench.size(100_000), "seed": bench.seed}
        figures = ask("benchmarks.reduction.merging_child", request)["figures"]
    rows = [
        Row(
            what="merge on Spark, local[2], 67 rows a tail, from filter texts",
            subscriptions=each["count"],
            ours=each["seconds"],
            unit="s",
            details={
                "perfect mergers only": each["perfect"],
                "forwarded": each["forwarded"],
                "false positives, bound": each["bound"],
                "processor s": each["cpu"],
                "driver MB": each["driver"] / 1e6,
            },
        )
        for each in figures
    ]
    grown = np.log(counts[1] / counts[0])
    exponents = {
        name: float(np.log(figures[1][name] / figures[0][name]) / grown) for name in ("seconds", "cpu")
    }
    rows.append(
        Row(
            what="exponent of the time of merging, from the smaller to the larger",
            subscriptions=counts[1],
            ours=exponents["seconds"],
            unit="",
            goal=at_most(1.3),
            details={"of processor time": exponents["cpu"]},
        )
    )
    return rows
