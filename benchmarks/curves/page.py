"""The curves as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.curves.points import Point
from thatch.reports import PlotAxis, Report

__all__ = ["write_page"]

_FIGURES = {
    "microseconds": PlotAxis("µs per event", log=True),
    "hot_bytes": PlotAxis("hot bytes per subscription"),
    "build_seconds": PlotAxis("seconds to build"),
}


def write_page(path: Path, points: Sequence[Point], machine: str) -> None:
    """Write a section of plots for each curve."""
    report = Report("Thatch, one event per call")
    report.note(machine)
    for name in dict.fromkeys(point.curve for point in points):
        report.section(name)
        line = [point for point in points if point.curve == name]
        across = [point.value for point in line]
        for key, axis in _FIGURES.items():
            up = [getattr(point, key) for point in line]
            report.lines(
                {"": (across, up)}, title=f"{axis.title} over {name}", x=PlotAxis(name, log=True), y=axis
            )
    report.write(path)
