"""`python -m benchmarks.export W2-3D 1000000 FOLDER`: write a workload as plain arrays, for other languages.

Files are little-endian without header: offsets.i64, attribute.i32, low.f64 and high.f64 as in
`thatch.workloads.Intervals`; events.f64 has a row for each event and a column for each attribute, NaN = missing.
description.json has the sizes and the seed. Results of other programs go into a file for `benchmarks.matching --native`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from thatch.workloads import Intervals, Matrix, generate

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a dense numeric workload."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.export", description=__doc__)
    parser.add_argument("workload", help="such as W1, W2-3D, W3, W4A; not W5 or W6")
    parser.add_argument("subscriptions", type=int)
    parser.add_argument("folder", type=Path, help="created if missing")
    parser.add_argument("--events", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    workload = generate(given.workload, given.subscriptions, given.events, given.seed)
    boxes, events = workload.subscriptions, workload.publications
    if not isinstance(boxes, Intervals) or not isinstance(events, Matrix):
        parser.error(f"expected a dense numeric workload, got {given.workload}")
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, array, kind in (
        ("offsets.i64", boxes.offsets, "<i8"),
        ("attribute.i32", boxes.attribute, "<i4"),
        ("low.f64", boxes.low, "<f8"),
        ("high.f64", boxes.high, "<f8"),
        ("events.f64", events.values, "<f8"),
    ):
        array.astype(kind).tofile(given.folder / name)
    description = {
        "workload": given.workload,
        "subscriptions": given.subscriptions,
        "events": given.events,
        "attributes": len(workload.attributes),
        "seed": given.seed,
    }
    (given.folder / "description.json").write_text(json.dumps(description, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
