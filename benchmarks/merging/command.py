"""`python -m benchmarks.merging`: which sections, in which sizes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.merging.sections import SECTIONS, Bench
from benchmarks.store import keep

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.merging", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="subscriptions")
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    given = parser.parse_args(arguments)
    if given.count < 1:
        parser.error("expected 1 subscription or more")
    bench = Bench(1_000 if given.quick else given.count, given.seed)
    rows = [row for name in given.only or SECTIONS for row in SECTIONS[name](bench)]
    print(machine())
    print(matching_table(rows, is_full=not given.quick))
    name = "merging" if not given.quick and not given.only else "merging-part"
    note(f"kept in {keep(name, [row.as_dict() for row in rows], seed=bench.seed)}")
    return rows
