"""What the store holds, to be looked at: comparisons with the paper, and a page for each paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.store import SECONDS, Store
from thatch.reports import Report

__all__ = ["Shown", "page_of", "shown_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An experiment with the results that are shown of it."""

    experiment: Experiment
    results: Results
    quick: bool
    compared: Sequence[Compared]


def shown_of(experiment: Experiment, folder: str | Path) -> Shown:
    """The results of the full size; those of the quick size if more of them is there."""
    store = Store(folder, experiment.simulation)
    results, quick = store.results(experiment.full), False
    if results.done < results.trials:
        small = store.results(experiment.quick)
        if small.done * results.trials > results.done * small.trials:
            results, quick = small, True
    compared = experiment.compare(results) if len(results) else ()
    if quick:  # reasons are given for what the full size shows
        compared = [replace(line, why="") for line in compared]
    return Shown(experiment=experiment, results=results, quick=quick, compared=compared)


def page_of(title: str, shown: Sequence[Shown], command: str) -> Report:
    """A page with a section for each experiment, made from the store alone."""
    report = Report(title, command=command)
    done = sum(each.results.done for each in shown)
    report.facts(
        {
            "experiments": len(shown),
            "with results": sum(bool(len(each.results)) for each in shown),
            "trials shown": done,
        }
    )
    for each in shown:
        _section(report, each)
    return report


def _section(report: Report, shown: Shown) -> None:
    experiment, results = shown.experiment, shown.results
    report.section(
        f"{experiment.figure}: {experiment.title}",
        f"The paper: {experiment.statement}\n\nHere: {experiment.setting}",
    )
    if not len(results):
        report.note(f"There are no results yet: `thatch experiments run {experiment.name}`")
        return
    size = "quick" if shown.quick else "full"
    report.facts(
        {
            "size": size,
            "trials": results.trials,
            "finished": results.done,
            "processor time": _seconds(results),
        },
        formats={"processor time": "seconds"},
    )
    report.table([asdict(line) for line in shown.compared], caption="The paper's values beside ours")
    for plot in experiment.plots:
        _draw(report, results, plot)
    for draw in experiment.drawings:
        draw(report, results)


def _draw(report: Report, results: Results, plot: Plot) -> None:
    lines = results.lines(plot.across, plot.up, plot.by, plot.where)
    series = {**{f"{name} (paper)": line for name, line in (plot.paper or {}).items()}, **lines}
    report.lines(series, title=plot.title, x=plot.x, y=plot.y)


def _seconds(results: Results) -> float:
    """Processor time of all trials; each row of a trial has that of the whole."""
    seconds, rows = results.values(SECONDS), results.values("row")
    return float(seconds[rows == 0].sum())
