"""`python -m benchmarks.merging`: which sections, in which sizes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.matching.rows import Row
from benchmarks.merging.sections import SECTIONS, Bench
from benchmarks.sections import make_parser, measure_sections

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = make_parser("merging", __doc__, SECTIONS)
    parser.add_argument("--count", type=int, default=100_000, help="subscriptions")
    given = parser.parse_args(arguments)
    if given.count < 1:
        parser.error("expected 1 subscription or more")
    bench = Bench(1_000 if given.quick else given.count, given.seed)
    return measure_sections("merging", given, SECTIONS, bench, seed=bench.seed)
