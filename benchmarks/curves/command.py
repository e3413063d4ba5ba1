"""`python -m benchmarks.curves`: a table, JSON, and a page of plots."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from benchmarks.console import figure, note, table_text
from benchmarks.curves.page import write_page
from benchmarks.curves.points import Point, measure
from benchmarks.curves.shapes import curves
from benchmarks.machine import machine
from benchmarks.store import STORE, keep

__all__ = ["main"]

_HEAD = ("varied", "to", "subscriptions", "matches", "µs per event", "p99", "hot bytes", "build s")
_MOST = 1_000_000


def main(arguments: Sequence[str] | None = None) -> list[Point]:
    """Measure all curves, print and store them; the points."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curves", description=__doc__)
    parser.add_argument("--count", type=int, help=f"largest number of subscriptions, {_MOST:,} by default")
    parser.add_argument("--events", type=int, default=256, help="different events")
    parser.add_argument("--seed", type=int, default=1, help="of the workloads")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and one round, to check that everything runs"
    )
    given = parser.parse_args(arguments)
    most = given.count or (10_000 if given.quick else _MOST)
    events, rounds, floor = (32, 1, 0.0) if given.quick else (given.events, 5, 0.1)
    points = []
    for curve in curves(most, events, given.seed):
        for value in curve.values:
            note(f"{curve.name} {value:,g}")
            points.append(measure(curve.name, value, curve.make(value), rounds=rounds, floor=floor))
    print(machine())
    print(table_text(_HEAD, [_cells(point) for point in points]))
    name = "curves" if most == _MOST else "curves-part"  # a short run must not overwrite a full one
    path = keep(name, [asdict(point) for point in points])
    page = STORE / f"{name}.html"
    write_page(page, points, machine())
    note(f"stored in {path} and {page}")
    return points


def _cells(point: Point) -> tuple[str, ...]:
    return (
        point.curve,
        f"{point.value:,g}",
        f"{point.subscriptions:,}",
        figure(point.matches),
        figure(point.microseconds),
        figure(point.p99),
        figure(point.hot_bytes),
        figure(point.build_seconds),
    )
