"""`thatch experiments`: reproduce the figures and tables of the papers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thatch.app.cli.ending import end_java_first
from thatch.app.cli.options import Master, Overwrite
from thatch.app.cli.output import (
    command_line,
    note,
    progress,
    require,
    require_spark,
    say,
    tasks,
    this_moment,
)
from thatch.outputs import check_file

if TYPE_CHECKING:
    from thatch.experiments.experiment import Experiment
    from thatch.experiments.reporting import ExperimentResults
    from thatch.experiments.running import RunSummary

__all__ = ["experiments"]

experiments = typer.Typer(
    name="experiments",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Reproduce the figures and tables of the papers.",
)

_RESULTS = Path("build/experiments")
_SHOWN = 5  # failures that are listed

Names = Annotated[
    list[str], typer.Argument(help="Experiments (see `list`), papers such as ouksel2006, or all.")
]
Results = Annotated[Path, typer.Option(help="Folder of all results.")]


@experiments.command("list")
def list_experiments() -> None:
    """List the experiments: name, number of trials in full and in quick size, title.

    \b
    Examples:
      $ thatch experiments list
    """
    from thatch.experiments.catalogue import EXPERIMENTS

    for name, each in EXPERIMENTS.items():
        say(f"{name:26} {len(each.full):>8,} {len(each.quick):>6,}  {each.figure}: {each.title}")


@experiments.command("run")
def run_experiments(
    names: Names,
    quick: Annotated[bool, typer.Option("--quick", help="Run a small size that takes seconds.")] = False,
    local: Annotated[
        bool, typer.Option("--local", help="Run trials in this process, without Spark.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Run only this many seeds of each setting.")
    ] = None,
    results: Results = _RESULTS,
    master: Master = None,
) -> None:
    """Run the trials of experiments, store their results, and compare them with the paper's values.

    Results are Parquet files in the folder. Finished trials are not run again: an interrupted run continues where it
    stopped. Exits with status 1 if a trial failed.

    \b
    Examples:
      $ thatch experiments run ouksel2006/fig9 --quick --local
      $ thatch experiments run jafarpour2008 --master 'local[2]'
      $ thatch experiments run yu2012/table1 --seeds 1
    """
    from thatch.experiments.catalogue import choose
    from thatch.experiments.reporting import load_results
    from thatch.experiments.running import run
    from thatch.experiments.store import ResultStore

    wanted = choose(names)
    spark = None
    if any(each.paper == "yu2012" for each in wanted):
        require("placement", "placement", "scipy", "ortools")
    if not local:
        require_spark()
        from thatch.pipeline import session

        with end_java_first(str(results)), progress("starting Spark"):
            spark = session("thatch experiments", master=master)
    failed = 0
    for each in wanted:
        start = time.monotonic()
        with tasks(each.name) as report:
            store = ResultStore(results, each.simulation)
            grid = each.grid(quick=quick)
            wanted_trials = grid if seeds is None else grid.first(seeds)
            summary = run(each.simulation, wanted_trials, store, spark=spark, report=report)
        _print_summary(each, summary, time.monotonic() - start)
        failed += len(summary.failures)
    for each in wanted:
        _print_comparisons(load_results(each, results))
    if failed:
        raise typer.Exit(1)


@experiments.command("report")
def report_experiments(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments or papers; all by default.")] = None,
    results: Results = _RESULTS,
    overwrite: Overwrite = False,
) -> None:
    """Write a page for each paper from the stored results, and compare them with the paper's values.

    \b
    Examples:
      $ thatch experiments report
      $ thatch experiments report ouksel2006 --results build/experiments
    """
    from thatch.experiments.catalogue import PAPERS, choose
    from thatch.experiments.reporting import load_results, make_page

    wanted = choose(names or ["all"])
    for paper in {each.paper for each in wanted}:
        check_file(results / f"{paper}.html", overwrite=overwrite)
    for paper, title in PAPERS.items():
        shown = []
        for each in wanted:
            if each.paper == paper:
                shown.append(load_results(each, results))
                _print_comparisons(shown[-1])
        if shown:
            path = results / f"{paper}.html"
            make_page(title, shown, command_line()).write(path, overwrite=overwrite, made=this_moment())
            say(f"{path}: {len(shown)} experiments of {paper}")


def _print_summary(experiment: Experiment, summary: RunSummary, seconds: float) -> None:
    before = f", {summary.before:,} were already finished" if summary.before else ""
    note(f"{experiment.name}: {summary.finished:,} trials in {seconds:,.1f} s{before}")
    if summary.failures:
        note(f"{experiment.name}: {len(summary.failures):,} trials failed:")
        for each in summary.failures[:_SHOWN]:
            parameters = ", ".join(f"{name} {value}" for name, value in each.trial.parameters)
            note(f"  {parameters}, seed {each.trial.seed}: {each.reason}")


def _print_comparisons(shown: ExperimentResults) -> None:
    """Print the paper's values beside ours."""
    each, found = shown.experiment, shown.results
    size = "quick" if shown.quick else "full"
    say(f"{each.name} ({each.figure}, {size} size, {found.done:,} of {found.trials:,} trials): {each.title}")
    for line in shown.comparisons:
        if line.ours is not None:  # the quick size leaves out some parameters
            why = f" ({line.why})" if line.why else ""
            say(f"  {line.what}: paper {line.paper}; here {line.ours}{why}")
