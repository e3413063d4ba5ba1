"""`thatch experiments`: the figures and tables of the papers, made again."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thatch.app.cli.output import note, say, tasks

if TYPE_CHECKING:
    from thatch.experiments.experiment import Experiment
    from thatch.experiments.reporting import ExperimentResults
    from thatch.experiments.running import RunSummary

__all__ = ["experiments"]

experiments = typer.Typer(
    name="experiments",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make the figures and tables of the papers again.",
)

_RESULTS = Path("build/experiments")
_SHOWN = 5  # failures that are told

Names = Annotated[
    list[str], typer.Argument(help="Experiments, papers (ouksel2006, yu2012), or all; see `list`.")
]
Results = Annotated[Path, typer.Option(help="Folder of all results.")]


@experiments.command("list")
def list_experiments() -> None:
    """List the experiments: name, trials in full and in quick size, title.

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
    quick: Annotated[bool, typer.Option("--quick", help="A small size, for a first look.")] = False,
    local: Annotated[
        bool, typer.Option("--local", help="Run trials in this process, without Spark.")
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Run only so many seeds of each setting; all by default.")
    ] = None,
    results: Results = _RESULTS,
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn. All cores here by default."),
    ] = None,
) -> None:
    """Run the trials of experiments, keep their results, and set the paper's values beside ours.

    Results are Parquet files in the folder. Trials that are finished are not run again, so that a run that was stopped
    goes on where it was. Ends with status 1 if a trial failed.

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
    if not local:
        from thatch.pipeline import session

        spark = session("thatch experiments", master=master)
    failed = 0
    for each in wanted:
        start = time.monotonic()
        with tasks(each.name) as report:
            store = ResultStore(results, each.simulation)
            grid = each.grid(quick=quick)
            wanted_trials = grid if seeds is None else grid.first(seeds)
            summary = run(each.simulation, wanted_trials, store, spark=spark, report=report)
        _tell(each, summary, time.monotonic() - start)
        failed += len(summary.failures)
    for each in wanted:
        _compare(load_results(each, results))
    if failed:
        raise typer.Exit(1)


@experiments.command("report")
def report_experiments(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments or papers; all by default.")] = None,
    results: Results = _RESULTS,
) -> None:
    """Write a page for each paper from the results that are there, and set the paper's values beside ours.

    \b
    Examples:
      $ thatch experiments report
      $ thatch experiments report ouksel2006 --results build/experiments
    """
    from thatch.experiments.catalogue import PAPERS, choose
    from thatch.experiments.reporting import load_results, make_page

    wanted = choose(names or ["all"])
    command = shlex.join(["thatch", *sys.argv[1:]])
    for paper, title in PAPERS.items():
        shown = []
        for each in wanted:
            if each.paper == paper:
                shown.append(load_results(each, results))
                _compare(shown[-1])
        if shown:
            path = results / f"{paper}.html"
            make_page(title, shown, command).write(path)
            say(f"{path}: {len(shown)} experiments of {paper}")


def _tell(experiment: Experiment, summary: RunSummary, seconds: float) -> None:
    before = f", {summary.before:,} were finished before" if summary.before else ""
    note(f"{experiment.name}: {summary.finished:,} trials in {seconds:,.1f} s{before}")
    if summary.failures:
        note(f"{experiment.name}: {len(summary.failures):,} trials failed:")
        for each in summary.failures[:_SHOWN]:
            told = ", ".join(f"{name} {value}" for name, value in each.trial.parameters)
            note(f"  {told}, seed {each.trial.seed}: {each.reason}")


def _compare(shown: ExperimentResults) -> None:
    """The paper's values beside ours, as lines."""
    each, found = shown.experiment, shown.results
    size = "quick" if shown.quick else "full"
    say(f"{each.name} ({each.figure}, {size} size, {found.done:,} of {found.trials:,} trials): {each.title}")
    for line in shown.comparisons:
        if line.ours is not None:  # the quick size has not all parameters
            why = f" ({line.why})" if line.why else ""
            say(f"  {line.what}: paper {line.paper}; here {line.ours}{why}")
