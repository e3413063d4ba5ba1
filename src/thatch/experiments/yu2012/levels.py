"""Drawings that several figures share, and the trials on one and on two levels of brokers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thatch.experiments.experiment import Plot
from thatch.experiments.results import Results
from thatch.experiments.trials import Grid, Value
from thatch.experiments.yu2012.placements import FEW, SETTING, SMALL, WITH_SLP, placements
from thatch.reports import PlotAxis, Report

__all__ = [
    "FEW_OF_TWO",
    "LEVELS",
    "LEVEL_NAMES",
    "TIGHT_LOOSE",
    "bandwidth_bars",
    "bandwidth_by",
    "one_and_two",
    "tight_and_loose",
    "triangles",
]

LARGE = 200  # brokers, the paper's
FEW_OF_TWO = 12  # of the quick size
LEVEL_NAMES = {1: "one level", 2: "two levels"}
TIGHT_LOOSE = {"tight": 0.2, "loose": 1.0}  # the maximum delay of each
LEVELS = (
    SETTING
    + "200 brokers on two levels, 13 of them inner with at most 15 children, 100,000 subscribers, not screened. "
    "Tight: delay 0.2, β and β_max are 7 / 6 and 8 / 6 of the least load factor (the paper has 7 and 8, where the least is "
    "around 6). Loose: delay 1, 1.3 and 1.5. "
)


def tight_and_loose(seeds: int, **choices: Sequence[Value]) -> Grid:
    """Trials with tight and with loose limits of latency."""
    return _limited(seeds, "tight", choices) + _limited(seeds, "loose", choices)


def one_and_two(seeds: int, *, is_quick: bool = False, **choices: Sequence[Value]) -> Grid:
    """Trials of SLP on one level, and on two with loose limits."""
    choices = {"algorithms": (WITH_SLP,), **choices}
    one, two = choices, choices
    if is_quick:
        choices = {"subscribers": (SMALL,), **choices}
        one, two = {"brokers": (FEW,), **choices}, {"brokers": (FEW_OF_TWO,), **choices}
    return placements(seeds, **one) + _limited(seeds, "loose", two)


def _limited(seeds: int, limits: str, choices: Mapping[str, Sequence[Value]]) -> Grid:
    usual: dict[str, Sequence[Value]] = {"brokers": (LARGE,), "levels": (2,)}
    limited: dict[str, Sequence[Value]] = {"limits": (limits,), "delay": (TIGHT_LOOSE[limits],)}
    return placements(seeds, **{**usual, **choices, **limited})


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
        value=PlotAxis("bandwidth"),
    )


def bandwidth_by(across: str, x: str) -> Plot:
    """Bandwidth over a parameter, a line for each algorithm (figures 11b and 12)."""
    return Plot(f"Bandwidth by {x}", across, "bandwidth", by=("algorithm",), x=x, y="bandwidth")
