"""`python -m benchmarks.tiering`: which sections, in which sizes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.store import keep
from benchmarks.tiering.sections import SECTIONS, Bench

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tiering", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="of each way, of which the best counts")
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--count", type=int, default=1_000_000, help="of subscriptions")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    given = parser.parse_args(arguments)
    if given.rounds < 1 or given.count < 10_000:
        parser.error("expected 1 round or more, and 10,000 subscriptions or more")
    bench = Bench(1 if given.quick else given.rounds, given.seed, given.count, is_quick=given.quick)
    rows = [row for name in given.only or SECTIONS for row in SECTIONS[name](bench)]
    print(machine())
    print(matching_table(rows, is_full=not given.quick and given.count == 1_000_000))
    name = "tiering" if not given.quick and not given.only and given.count == 1_000_000 else "tiering-part"
    note(f"kept in {keep(name, [row.as_dict() for row in rows], rounds=bench.rounds, seed=bench.seed)}")
    return rows
