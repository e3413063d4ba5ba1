"""`python -m benchmarks.rules`: which sections, on which rules and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.console import note
from benchmarks.matching.rows import Row
from benchmarks.rules.corpus import Bench
from benchmarks.rules.loading import loading_rows
from benchmarks.rules.matching import event_rows, peer_rows, process_rows
from benchmarks.rules.redundancy import redundancy_rows
from benchmarks.rules.scaled import scaled_rows
from benchmarks.rules.words import word_rows
from benchmarks.sections import make_parser, measure_sections

__all__ = ["SECTIONS", "main"]

SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "loading": loading_rows,
    "events": event_rows,
    "process": process_rows,
    "peers": peer_rows,
    "redundancy": redundancy_rows,
    "words": word_rows,
    "scaled": scaled_rows,
}
_WITHOUT_DATA = ("words",)
_ON_REQUEST = ("scaled",)  # takes long


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = make_parser("rules", __doc__, SECTIONS)
    parser.add_argument("--rounds", type=int, default=9, help="of what is timed, of which the best counts")
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with sigma-rules.tar.xz (YAML) and windows-events.json.gz (JSON lines)",
    )
    parser.add_argument("--times", type=int, default=100, help="as many rules, for `scaled`")
    given = parser.parse_args(arguments)
    if given.rounds < 1 or given.times < 1:
        parser.error("expected 1 round and 1 time or more")
    left_out = _ON_REQUEST
    if given.data is None:
        left_out = tuple(name for name in SECTIONS if name not in _WITHOUT_DATA)
        if given.only and not set(given.only) <= set(_WITHOUT_DATA):
            parser.error(f"all sections but {', '.join(_WITHOUT_DATA)} need --data FOLDER")
        note(f"without --data FOLDER only these run: {', '.join(_WITHOUT_DATA)}")
    rounds = 1 if given.quick else given.rounds
    with TemporaryDirectory() as folder:
        bench = Bench(
            data=given.data,
            folder=Path(folder),
            rounds=rounds,
            times=given.times,
            seed=given.seed,
            is_quick=given.quick,
        )
        return measure_sections(
            "rules", given, SECTIONS, bench, left_out=left_out, rounds=rounds, seed=bench.seed
        )
