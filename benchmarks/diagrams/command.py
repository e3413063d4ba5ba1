"""`python -m benchmarks.diagrams`: which sections, in which sizes. All times are processor time."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from benchmarks.console import note
from benchmarks.diagrams.bench import Bench
from benchmarks.diagrams.covering import covering_rows, dependency_rows, pair_rows
from benchmarks.diagrams.routing import routing_rows, segment_rows
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.store import keep

__all__ = ["SECTIONS", "main"]

SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "routing": routing_rows,
    "covering": covering_rows,
    "pairs": pair_rows,
    "dependencies": dependency_rows,
    "segments": segment_rows,
}


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diagrams", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="of each way, of which the best counts")
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error("expected 1 round or more")
    bench = Bench(1 if given.quick else given.rounds, given.seed, is_quick=given.quick)
    rows = [row for name in given.only or SECTIONS for row in SECTIONS[name](bench)]
    print(machine())
    print(matching_table(rows, is_full=not given.quick))
    name = "diagrams" if not given.quick and not given.only else "diagrams-part"
    note(f"kept in {keep(name, [row.as_dict() for row in rows], rounds=bench.rounds, seed=bench.seed)}")
    return rows
