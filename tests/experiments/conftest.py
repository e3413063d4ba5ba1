"""One run of all experiments in quick size, which the tests of the group `papers` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.app.here import run_here
from thatch.experiments.experiment import Experiment
from thatch.experiments.reporting import ExperimentResults, load_results
from thatch.experiments.results import Results

QUICK = ("experiments", "run", "all", "--quick", "--local", "--results", "here")


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory) -> tuple[Path, CompletedProcess[str]]:
    """The folder in which `thatch experiments run all` ran, and what it printed."""
    folder = tmp_path_factory.mktemp("experiments")
    return folder, run_here(folder, *QUICK)


@pytest.fixture
def shown(quick_run) -> Callable[[Experiment], ExperimentResults]:
    """The results and comparisons of an experiment."""
    return lambda experiment: load_results(experiment, quick_run[0] / "here")


@pytest.fixture
def ran(shown) -> Callable[[Experiment], Results]:
    """The results of an experiment, all of whose trials succeeded."""

    def results(experiment: Experiment) -> Results:
        found = shown(experiment).results
        assert found.done == found.trials > 0
        return found

    return results
