"""Which rules others cover, and how long it takes to find all of them with their proofs."""

from __future__ import annotations

import time

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most
from benchmarks.rules.corpus import Bench
from thatch.pipeline.embedded.covering import find_covered

__all__ = ["redundancy_rows"]


def redundancy_rows(bench: Bench) -> list[Row]:
    """Seconds until all redundant rules are known, the index included; every proof is checked afterwards."""
    thatch.warm()
    every = list(bench.filters.values())
    filters = list(dict.fromkeys(every))
    note("looking for redundant rules")
    start = time.process_time()
    found = find_covered(filters, None)
    seconds = time.process_time() - start
    for number, others in found.by.items():
        assert thatch.covered_by(filters[number], [filters[other] for other in others]).covered
    details = {
        "equal": len(every) - len(filters),
        "covered": len(found.by),
        "together": sum(len(others) > 1 for others in found.by.values()),
    }
    undecided = 100 * len(found.unchecked) / len(filters)
    return [
        Row(
            what="redundant rules, with proofs",
            subscriptions=len(every),
            ours=seconds,
            unit="s",
            goal=at_most(15, 3),
            details=details,
        ),
        Row(
            what="rules not decided to be redundant or not",
            subscriptions=len(every),
            ours=undecided,
            unit="%",
            goal=at_most(1, 0.1),
        ),
    ]
