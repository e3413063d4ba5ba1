"""`python -m benchmarks.pipeline`: which sections, in which sizes."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.pipeline.sections import SECTIONS, Bench
from benchmarks.store import keep

__all__ = ["main"]

_FULL = 1_000_000


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipeline", description=__doc__)
    parser.add_argument("--count", type=int, default=_FULL, help="subscriptions")
    parser.add_argument("--events", type=int, default=200_000, help="of the log")
    parser.add_argument("--rounds", type=int, default=5, help="of each way, of which the best counts")
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    given = parser.parse_args(arguments)
    if min(given.count, given.events, given.rounds) < 1:
        parser.error("expected 1 or more of everything")
    if given.quick:
        given.count, given.events, given.rounds = 20_000, 20_000, 1
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), given.count, given.events, given.rounds, given.seed)
        rows = [row for name in given.only or SECTIONS for row in SECTIONS[name](bench)]
    is_full = given.count == _FULL
    print(machine())
    print(matching_table(rows, is_full=is_full))
    sizes = {"count": given.count, "events": given.events, "rounds": given.rounds, "seed": given.seed}
    name = "pipeline" if is_full and not given.only else "pipeline-part"
    note(f"kept in {keep(name, [row.as_dict() for row in rows], sizes=sizes)}")
    return rows
