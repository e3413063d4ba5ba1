"""`python -m benchmarks.tiering`: which sections, in which sizes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.matching.rows import Row
from benchmarks.sections import make_parser, measure_sections
from benchmarks.tiering.sections import SECTIONS, Bench

__all__ = ["main"]

_FULL = 1_000_000  # subscriptions that the goals are for


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = make_parser("tiering", __doc__, SECTIONS)
    parser.add_argument("--rounds", type=int, default=3, help="of each way, of which the best counts")
    parser.add_argument("--count", type=int, default=_FULL, help="of subscriptions")
    given = parser.parse_args(arguments)
    if given.rounds < 1 or given.count < 10_000:
        parser.error("expected 1 round or more, and 10,000 subscriptions or more")
    bench = Bench(1 if given.quick else given.rounds, given.seed, given.count, is_quick=given.quick)
    is_full = given.count == _FULL
    return measure_sections(
        "tiering", given, SECTIONS, bench, is_full=is_full, rounds=bench.rounds, seed=bench.seed
    )
