"""Plots of the paper that several figures share: triangles, bars, and lines by levels or algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thatch.experiments.experiment import Plot
from thatch.experiments.results import Results
from thatch.experiments.trials import Value
from thatch.experiments.yu2012.levels import LEVEL_NAMES
from thatch.reports import Axis, Report

__all__ = ["bandwidth_bars", "bandwidth_by", "level_lines", "triangles"]

_CORNERS = {"bandwidth": "bandwidth", "rms_delay": "RMS delay", "load_deviation": "deviation of loads"}


def triangles(report: Report, results: Results, names: Sequence[str], title: str, **where: Value) -> None:
    """A triangle for each algorithm (figures 6 and 9): the smaller, the better."""
    found = {name: [results.mean(corner, algorithm=name, **where) for corner in _CORNERS] for name in names}
    report.triangles(found, list(_CORNERS.values()), title=title, label="algorithm")


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


def bandwidth_by(across: str, x: str) -> Plot:
    """Bandwidth over a parameter, a line for each algorithm (figures 11b and 12)."""
    return Plot(
        title=f"Bandwidth by {x}", across=across, up="bandwidth", by=("algorithm",), x=x, y="bandwidth"
    )


def level_lines(
    report: Report,
    results: Results,
    across: str,
    up: str,
    title: str,
    x: Axis | str,
    y: Axis | str,
    paper: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> None:
    """What SLP comes to over a parameter, a line for one level and one for two (figures 11a, 13 and 14)."""
    found: dict[str, tuple[Sequence[object], Sequence[object]]] = {}
    for name, (xs, ys) in (paper or {}).items():
        found[f"{name} (paper)"] = (xs, ys)
    for levels, name in LEVEL_NAMES.items():
        (found[name],) = results.lines(across, up, where={"levels": levels}).values()
    report.lines(found, title=title, x=x, y=y)
