"""`python -m benchmarks.brokers`: which sections, in which sizes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.brokers.publishing import FRAMES, LINKS
from benchmarks.brokers.sections import SECTIONS, Bench
from benchmarks.matching.rows import Row
from benchmarks.sections import make_parser, measure_sections

__all__ = ["main"]

_LONG = ("network", "curve", "flooding")  # minutes each; left out of --quick unless they are asked for


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = make_parser("brokers", __doc__, SECTIONS)
    parser.add_argument("--frame", type=int, nargs="+", default=FRAMES, help="publish: events of one frame")
    parser.add_argument("--links", type=int, default=LINKS, help="publish: neighbours of the broker")
    given = parser.parse_args(arguments)
    bench = Bench(given.seed, is_quick=given.quick, frames=tuple(given.frame), links=given.links)
    left_out = _LONG if given.quick else ()
    return measure_sections("brokers", given, SECTIONS, bench, left_out=left_out, seed=bench.seed)
