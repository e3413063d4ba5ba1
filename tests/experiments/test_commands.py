"""`thatch experiments`, what needs no Spark."""

from __future__ import annotations

import pytest

from tests.app.here import run_here
from thatch.experiments.catalogue import EXPERIMENTS, choose


def test_all_experiments_are_listed(tmp_path):
    ended = run_here(tmp_path, "experiments", "list")
    assert ended.returncode == 0
    assert [line.split()[0] for line in ended.stdout.splitlines()] == list(EXPERIMENTS)


@pytest.mark.parametrize("command", ["run", "report"])
def test_an_unknown_name_is_refused_with_all_that_exist(tmp_path, command):
    ended = run_here(tmp_path, "experiments", command, "ouksel2006/fig99")
    assert ended.returncode == 2
    assert "'ouksel2006/fig99'" in ended.stderr
    assert all(name in ended.stderr for name in EXPERIMENTS)
    assert list(tmp_path.iterdir()) == []


def test_names_stand_for_papers_and_all():
    assert [each.name for each in choose(["ouksel2006/fig9", "ouksel2006/fig5"])] == [
        "ouksel2006/fig5",
        "ouksel2006/fig9",
    ]
    assert {each.paper for each in choose(["jafarpour2008"])} == {"jafarpour2008"}
    assert len(choose(["all"])) == len(EXPERIMENTS)


def test_an_experiment_runs_without_spark_and_its_page_is_made_of_the_store(tmp_path):
    ended = run_here(tmp_path, "experiments", "run", "ouksel2006/fig9", "--quick", "--local")
    assert ended.returncode == 0, ended.stderr
    assert "ouksel2006/fig9: 323 trials in " in ended.stderr
    assert ended.stdout.startswith("ouksel2006/fig9 (Figure 9, quick size, 323 of 323 trials)")
    kept = list(tmp_path.glob("build/experiments/ouksel2006/extreme_non_cover/*.parquet"))
    assert kept
    ended = run_here(tmp_path, "experiments", "report", "ouksel2006/fig9", "ouksel2006/fig5")
    assert ended.returncode == 0, ended.stderr
    page = (tmp_path / "build/experiments/ouksel2006.html").read_text()
    assert "thatch experiments run ouksel2006/fig5" in page  # which has no results yet
    assert list(tmp_path.glob("build/experiments/ouksel2006/extreme_non_cover/*.parquet")) == kept


def test_a_failed_trial_is_reported_and_exits_with_status_1(tmp_path, monkeypatch):
    monkeypatch.setattr("thatch.experiments.ouksel2006.extreme_non_cover.ROWS", 1)
    ended = run_here(tmp_path, "experiments", "run", "ouksel2006/fig9", "--quick", "--local")
    assert ended.returncode == 1
    assert "323 trials failed:" in ended.stderr
    assert "ParameterError: Expected at least 2 rows, got 1 - at rows" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_whole(name):
    each = EXPERIMENTS[name]
    assert name == each.name
    assert each.statement.endswith(".")
    for quick in (False, True):
        for trial in each.grid(quick=quick).first(1):
            assert {key: type(value) for key, value in trial.parameters} == dict(each.simulation.parameters)
    columns = {*each.simulation.parameters, *each.simulation.results}
    for plot in each.plots:
        assert {plot.across, plot.up, *plot.by, *(plot.where or {})} <= columns
