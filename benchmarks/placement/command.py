"""`python -m benchmarks.placement`: which sections, in which sizes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.matching.rows import Row
from benchmarks.placement.sections import SECTIONS, SETS, Bench
from benchmarks.sections import make_parser, measure_sections

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table and store it as JSON; the rows."""
    parser = make_parser("placement", __doc__, SECTIONS)
    parser.add_argument(
        "--seeds", type=int, default=5, help="networks and populations for `quality`, from --seed on"
    )
    parser.add_argument(
        "--sets", type=int, nargs="+", choices=SETS, default=SETS, help="for `shapes` and `quality`"
    )
    given = parser.parse_args(arguments)
    if given.seeds < 1:
        parser.error("--seeds must be at least 1")
    bench = Bench(1 if given.quick else given.seeds, given.seed, tuple(given.sets), is_quick=given.quick)
    is_full = bench.sets == SETS
    return measure_sections(
        "placement", given, SECTIONS, bench, is_full=is_full, seeds=bench.seeds, seed=bench.seed
    )
