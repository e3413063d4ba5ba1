"""Trials run, here and on Spark: the same rows, none twice, and failures told."""

from __future__ import annotations

import pytest

from tests.experiments.made_up import counting
from thatch.experiments import running
from thatch.experiments.running import run
from thatch.experiments.store import ResultStore
from thatch.experiments.trials import Simulation, grid

GRID = grid(3, size=(1, 2), form=("x", "y"))
TOLD = sorted([size * 10 + seed + mark for size in (1, 2) for seed in range(3) for mark in range(2)] * 2)


def test_trials_run_here(tmp_path):
    store = ResultStore(tmp_path, counting())
    outcome = run(counting(), GRID, store)
    assert (outcome.before, outcome.finished, outcome.failures) == (0, 12, ())
    assert sorted(store.results(GRID).values("told").tolist()) == TOLD


def test_finished_trials_are_not_run_again(tmp_path):
    store = ResultStore(tmp_path, counting())
    run(counting(), grid(3, size=(1,), form=("x", "y")), store)
    outcome = run(counting(), GRID, store)
    assert (outcome.before, outcome.finished) == (6, 6)
    assert (run(counting(), GRID, store).before, run(counting(), GRID, store).finished) == (12, 0)
    assert sorted(store.results(GRID).values("told").tolist()) == TOLD


def test_what_was_done_before_an_interruption_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_ROUND", 0.0)  # one trial at a time

    def interrupt(done, total):
        if done == 5:
            raise KeyboardInterrupt

    store = ResultStore(tmp_path, counting())
    with pytest.raises(KeyboardInterrupt):
        run(counting(), GRID, store, report=interrupt)
    assert len(store.finished_trials()) == 5
    assert run(counting(), GRID, store).finished == 7


def test_a_failed_trial_is_reported_and_tried_again(tmp_path):
    store = ResultStore(tmp_path, counting())
    outcome = run(counting(fails=lambda seed: seed == 1), GRID, store)
    assert outcome.finished == 8
    assert {failure.trial.seed for failure in outcome.failures} == {1}
    assert {failure.reason for failure in outcome.failures} == {"ValueError: no seed 1, please"}
    assert run(counting(), GRID, store).finished == 4


@pytest.mark.parametrize("rows", [[], [{"mark": 1}], [{"mark": 1, "told": 2, "share": 0.5, "more": 1}]])
def test_a_trial_must_report_what_it_said_it_would(tmp_path, rows):
    plain = counting()
    simulation = Simulation(
        name=plain.name, trial=lambda *_, **__: rows, results=plain.results, defaults={"size": 1, "form": "x"}
    )
    outcome = run(simulation, grid(1, size=(1,), form=("x",)), ResultStore(tmp_path, simulation))
    assert len(outcome.failures) == 1
    assert "ParameterError: Expected" in outcome.failures[0].reason


def test_progress_is_reported(tmp_path):
    told = []
    run(
        counting(),
        GRID,
        ResultStore(tmp_path, counting()),
        report=lambda done, total: told.append((done, total)),
    )
    assert told[0] == (0, 12)
    assert told[-1] == (12, 12)
    assert told == sorted(told)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_gives_the_same_rows_and_reports_failures(tmp_path, spark):
    store = ResultStore(tmp_path, counting())
    outcome = run(counting(fails=lambda seed: seed == 1), GRID, store, spark=spark)
    assert outcome.finished == 8
    assert {failure.reason for failure in outcome.failures} == {"ValueError: no seed 1, please"}
    assert run(counting(), GRID, store, spark=spark).before == 8
    assert sorted(store.results(GRID).values("told").tolist()) == TOLD
