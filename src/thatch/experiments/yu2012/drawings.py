"""Plots of the paper that are no lines through means: triangles and bars."""

from __future__ import annotations

from collections.abc import Sequence

from thatch.experiments.results import Results
from thatch.experiments.trials import Value
from thatch.reports import Axis, Report

__all__ = ["bandwidth_bars", "triangles"]

_CORNERS = {"bandwidth": (0.0, 1.0), "rms_delay": (-0.866, -0.5), "load_deviation": (0.866, -0.5)}
_LEGEND = (
    "bandwidth upwards, RMS delay to the left, deviation of loads to the right; each relative to the largest"
)


def triangles(report: Report, results: Results, names: Sequence[str], title: str, **where: Value) -> None:
    """A triangle for each algorithm (figures 6 and 9): the smaller, the better."""
    found = {
        name: {corner: results.mean(corner, algorithm=name, **where) for corner in _CORNERS} for name in names
    }
    largest = {
        corner: max((each[corner] or 0.0 for each in found.values()), default=0.0) or 1.0
        for corner in _CORNERS
    }
    series = {}
    for name, each in found.items():
        ends = [
            (x * (each[corner] or 0.0) / largest[corner], y * (each[corner] or 0.0) / largest[corner])
            for corner, (x, y) in _CORNERS.items()
        ]
        ends.append(ends[0])
        series[name] = ([x for x, _ in ends], [y for _, y in ends])
    report.lines(series, title=title, x=_LEGEND, y="")


def bandwidth_bars(
    report: Report, results: Results, names: Sequence[str], by: str, title: str, **where: Value
) -> None:
    """Bandwidths in groups, a bar for each algorithm (figures 8a and 10a)."""
    choices = results.choices(by, **where)
    report.bars(
        choices,
        {
            name: [results.mean("bandwidth", algorithm=name, **{**where, by: each}) for each in choices]
            for name in names
        },
        title=title,
        label=by,
        value=Axis("bandwidth"),
    )
