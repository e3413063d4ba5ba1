"""`python -m benchmarks.diagrams`: which sections, in which sizes. All times are processor time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.diagrams.bench import Bench
from benchmarks.diagrams.covering import covering_rows, dependency_rows, pair_rows
from benchmarks.diagrams.routing import routing_rows, segment_rows
from benchmarks.matching.rows import Row
from benchmarks.sections import make_parser, measure_sections

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
    parser = make_parser("diagrams", __doc__, SECTIONS)
    parser.add_argument("--rounds", type=int, default=3, help="of each way, of which the best counts")
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error("expected 1 round or more")
    bench = Bench(1 if given.quick else given.rounds, given.seed, is_quick=given.quick)
    return measure_sections("diagrams", given, SECTIONS, bench, rounds=bench.rounds, seed=bench.seed)
