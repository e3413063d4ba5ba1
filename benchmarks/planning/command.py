"""`python -m benchmarks.planning`: which sections, in which sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.matching.rows import Row
from benchmarks.planning.sections import SECTIONS, Bench
from benchmarks.sections import make_parser, measure_sections

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = make_parser("planning", __doc__, SECTIONS)
    parser.add_argument("--rounds", type=int, default=3, help="of what is timed, of which the best counts")
    parser.add_argument(
        "--data", type=Path, help="folder with stock-quotes.csv.gz and wikipedia-edits.json.gz, for `real`"
    )
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error("expected 1 round or more")
    bench = Bench(1 if given.quick else given.rounds, given.seed, is_quick=given.quick, data=given.data)
    return measure_sections("planning", given, SECTIONS, bench, rounds=bench.rounds, seed=bench.seed)
