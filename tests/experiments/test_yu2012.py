"""The instances that placements of yu2012 are compared on, and what is told of a placement."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from thatch.errors import ParameterError
from thatch.experiments.catalogue import EXPERIMENTS
from thatch.experiments.reporting import load_results, make_page
from thatch.experiments.results import Results
from thatch.experiments.running import run, run_trial
from thatch.experiments.store import ResultStore
from thatch.experiments.yu2012.cases import make_case, solve_verified
from thatch.experiments.yu2012.placements import ALGORITHMS, SIMULATION, bandwidths, placements
from thatch.placement import ALGORITHMS as KNOWN
from thatch.placement import solve

SMALL = {"subscribers": (200,), "brokers": (8,)}


def _parameters(**choices):
    asked = {"subscribers": 200, "brokers": 8, "algorithms": "slp", **choices}
    (trial,) = placements(1, **{name: (value,) for name, value in asked.items()})
    return dict(trial.parameters)


def test_a_network_is_taken_only_if_balance_finds_room_below_beta():
    for seed in range(3):
        found = make_case(_parameters(load="LL"), seed)
        assert found.floor <= 0.9 * 1.5
        assert solve(found.problem, "balance").load_factor == pytest.approx(found.floor, rel=0.01)


def test_the_network_does_not_depend_on_the_delay_nor_on_the_filters():
    usual, later, simpler = (
        make_case(_parameters(**more), 1) for more in ({}, {"delay": 1.0}, {"complexity": 1})
    )
    for other in (later, simpler):
        np.testing.assert_array_equal(usual.problem.tree.locations, other.problem.tree.locations)
        np.testing.assert_array_equal(usual.problem.locations, other.problem.locations)
    assert later.candidates > usual.candidates
    assert set(simpler.problem.complexities.tolist()) == {1}


def test_limits_of_load_follow_the_least_factor_where_they_are_asked_to():
    tight = make_case(_parameters(levels=2, brokers=12, limits="tight", delay=0.2), 0)
    assert not tight.problem.tree.is_one_level
    assert tight.problem.beta == pytest.approx(tight.floor * 7 / 6)
    assert tight.problem.beta_max == pytest.approx(tight.floor * 8 / 6)
    spread = make_case(_parameters(limits="balance", ratio="7:1:1"), 0)
    assert spread.problem.beta_max == pytest.approx(1.5 * spread.floor)
    with pytest.raises(ParameterError, match="paper, tight, loose, balance"):
        make_case(_parameters(limits="none"), 0)


@pytest.mark.slow
def test_slp_with_the_usual_sizes_is_the_one_of_the_catalogue():
    problem = make_case(_parameters(set=2), 0).problem
    plain, same, other = (
        solve(problem, "slp", seed=3),
        solve_verified(problem, "slp", 3),
        solve_verified(problem, "slp", 3, sampled=40, clusters=1),
    )
    np.testing.assert_array_equal(plain.assignment, same.assignment)
    assert plain.bounds.fractional == same.bounds.fractional != other.bounds.fractional


@pytest.mark.slow
def test_a_trial_is_the_same_again_but_for_its_time():
    trial = next(iter(placements(1, load=("LL",), algorithms=("slp gr_star",), **SMALL)))
    first, second = (run_trial(SIMULATION, trial) for _ in range(2))
    assert [row["algorithm"] for row in first] == ["SLP", "Gr*"]
    for one, other in zip(first, second, strict=True):
        assert "error" not in one
        assert {k: v for k, v in one.items() if k not in ("seconds", "processor_time")} == {
            k: v for k, v in other.items() if k not in ("seconds", "processor_time")
        }
    assert first[0]["bound"] <= first[0]["bandwidth"]


def test_every_algorithm_that_is_compared_exists():
    assert set(ALGORITHMS) <= set(KNOWN)


def test_bandwidths_are_compared_on_networks_that_all_were_run_on():
    table = pa.table(
        {
            "algorithm": ["SLP", "Gr*", "Gr*", "Gr"],
            "seed": [1, 0, 1, 1],
            "bandwidth": [10.0, 900.0, 30.0, 2_500.0],
            "status": ["feasible", "infeasible", "feasible", "infeasible"],
        }
    )
    results = Results(table, trials=4, done=4)
    assert bandwidths(results, ("SLP", "Gr*", "Gr")) == "10 / 30 / (2,500)"
    assert bandwidths(results, ("Gr*", "Closest")) == "(465) / –"
    assert bandwidths(results, ("Closest",)) is None


def test_fewer_seeds_are_a_part_of_the_same_trials():
    whole = placements(3, load=("LL", "HH"))
    part = whole.first(2)
    assert len(part) == 2 / 3 * len(whole)
    assert all(trial in whole for trial in part)
    assert len(whole.first(9)) == len(whole)


def test_maps_of_interests_are_drawn_for_each_region(tmp_path):
    experiment = EXPERIMENTS["yu2012/fig7"]
    store = ResultStore(tmp_path, experiment.simulation)
    assert run(experiment.simulation, experiment.quick, store).failures == ()
    shown = load_results(experiment, tmp_path)
    assert (shown.results.values("share") <= 1).all()
    page = make_page("interests", [shown], "").html()
    for region in ("Asia", "North America", "Europe"):
        assert f"Interests, {region}" in page
