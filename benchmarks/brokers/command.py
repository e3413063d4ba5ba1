"""`python -m benchmarks.brokers`: which sections, in which sizes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.brokers.sections import SECTIONS, Bench
from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.store import keep

__all__ = ["main"]

_LONG = ("network", "curve", "flooding")  # minutes each; left out of --quick unless they are asked for


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.brokers", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    given = parser.parse_args(arguments)
    bench = Bench(given.seed, is_quick=given.quick)
    names = given.only or [name for name in SECTIONS if not given.quick or name not in _LONG]
    rows = [row for name in names for row in SECTIONS[name](bench)]
    print(machine())
    print(matching_table(rows, is_full=not given.quick))
    name = "brokers" if not given.quick and not given.only else "brokers-part"
    note(f"kept in {keep(name, [row.as_dict() for row in rows], seed=bench.seed)}")
    return rows
