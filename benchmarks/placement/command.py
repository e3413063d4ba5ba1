"""`python -m benchmarks.placement`: which sections, in which sizes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.placement.sections import SECTIONS, SETS, Bench
from benchmarks.store import keep

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.placement", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="networks and populations for `quality`")
    parser.add_argument("--seed", type=int, default=1, help="the first of them")
    parser.add_argument(
        "--sets", type=int, nargs="+", choices=SETS, default=SETS, help="for `shapes` and `quality`"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    given = parser.parse_args(arguments)
    if given.seeds < 1:
        parser.error("expected 1 seed or more")
    bench = Bench(1 if given.quick else given.seeds, given.seed, tuple(given.sets), is_quick=given.quick)
    rows = [row for name in given.only or SECTIONS for row in SECTIONS[name](bench)]
    print(machine())
    print(matching_table(rows, is_full=not given.quick))
    name = "placement" if not given.quick and not given.only and bench.sets == SETS else "placement-part"
    note(f"kept in {keep(name, [row.as_dict() for row in rows], seeds=bench.seeds, seed=bench.seed)}")
    return rows
