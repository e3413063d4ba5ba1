"""Comparisons with the papers and a page for each paper, made from stored results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from thatch.experiments.experiment import AXES, Comparison, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.store import SECONDS, ResultStore
from thatch.reports import PlotAxis, Report

__all__ = ["ExperimentResults", "load_results", "make_page"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResults:
    """The results of an experiment that are shown, and their comparison with the paper."""

    experiment: Experiment
    results: Results
    quick: bool
    comparisons: Sequence[Comparison]


def load_results(experiment: Experiment, folder: str | Path) -> ExperimentResults:
    """The results of the full size, or of the quick size if a larger share of its trials is finished."""
    store = ResultStore(folder, experiment.simulation)
    results, quick = store.results(experiment.full), False
    if results.done < results.trials:
        small = store.results(experiment.quick)
        if small.done * results.trials > results.done * small.trials:
            results, quick = small, True
    comparisons = list(experiment.compare(results)) if len(results) else []
    if quick:  # the reasons explain results of the full size
        comparisons = [replace(line, why="") for line in comparisons]
    return ExperimentResults(experiment=experiment, results=results, quick=quick, comparisons=comparisons)


def make_page(title: str, shown: Sequence[ExperimentResults], command: str) -> Report:
    """A page with a section for each experiment."""
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


def _section(report: Report, shown: ExperimentResults) -> None:
    experiment, results = shown.experiment, shown.results
    report.section(
        f"{experiment.figure}: {experiment.title}",
        f"The paper: {experiment.statement}\n\nHere: {experiment.setting}",
    )
    if not len(results):
        report.note(f"There are no results yet. Run `thatch experiments run {experiment.name}`.")
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
    report.table([asdict(line) for line in shown.comparisons], caption="The paper's values beside ours")
    for plot in experiment.plots:
        _draw(report, results, plot)
    for draw in experiment.drawings:
        draw(report, results)


def _draw(report: Report, results: Results, plot: Plot) -> None:
    lines = results.lines(plot.across, plot.up, plot.by, plot.where)
    series = {**{f"{name} (paper)": line for name, line in (plot.paper or {}).items()}, **lines}
    x, y = plot.x or _axis(plot.across), plot.y or _axis(plot.up)
    report.lines(series, title=plot.title, x=x, y=y)


def _axis(column: str) -> PlotAxis:
    return AXES.get(column) or PlotAxis(column.replace("_", " "))


def _seconds(results: Results) -> float:
    """The processor time of all trials; every row of a trial repeats that of the whole trial."""
    seconds, rows = results.values(SECONDS), results.values("row")
    return float(seconds[rows == 0].sum())
