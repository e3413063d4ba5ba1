"""SLP1 as the paper writes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.examples import examples
from tests.experiments.slp1_literal import expand, round_each, solve_literally
from tests.placement.brute_force import least_bandwidth
from tests.placement.instances import drawn, problems
from tests.placement.test_optimum import tiny
from thatch.placement import BrokerTree, PlacementProblem, Status, verify
from thatch.placement.slp import program
from thatch.placement.slp.branches import Branches
from thatch.placement.slp.relaxation import FractionalFilters


@pytest.mark.slow
@given(problem=problems)
@examples(25)
def test_every_answer_is_certified(problem):
    placement = solve_literally(problem)
    assert verify(placement).is_valid
    assert placement.delays.broken == 0


def test_the_same_seed_gives_the_same_placement():
    problem = drawn(8, several=True, inner=2)
    one, other = solve_literally(problem, seed=5), solve_literally(problem, seed=5)
    assert (one.assignment == other.assignment).all()
    assert one.bandwidth == other.bandwidth


@pytest.mark.slow
@given(tiny)
@examples(40)
def test_no_answer_within_limits_undercuts_the_optimum(problem):
    placement = solve_literally(problem)
    if placement.status is not Status.INFEASIBLE:
        optimum = least_bandwidth(problem, problem.beta_max)
        assert optimum is not None
        assert placement.bandwidth >= optimum - 1e-9


def test_a_leaf_without_capacity_serves_nobody():
    tree = BrokerTree.star([0.0], [[1.0], [-1.0], [0.5]])
    box = [[0.0]] * 9, [[1.0]] * 9
    problem = PlacementProblem.of(
        tree, [[0.0]] * 9, *box, shares=[1, 0, 2], max_delay=10.0, beta=1.2, beta_max=1.5
    )
    assert solve_literally(problem).loads[1] == 0


def test_many_subscribers_at_one_point_are_one_type():
    tree = BrokerTree.star([0.0, 0.0], [[1.0, 0.0], [1.0, 0.1]])
    points = np.tile([1.0, 0.05], (20_000, 1))
    lows = np.zeros((20_000, 2))
    placement = solve_literally(PlacementProblem.of(tree, points, lows, lows + 1))
    assert placement.bandwidth == pytest.approx(2.0 if placement.loads.min() else 1.0)


def test_a_solver_that_fails_leaves_a_verified_answer(monkeypatch):
    monkeypatch.setattr(program, "_solve", lambda *_: None)
    placement = solve_literally(drawn(3, beta=2.4, beta_max=2.6))
    assert verify(placement).is_valid
    assert placement.status is Status.FEASIBLE
    assert placement.bounds.fractional is None


def test_the_paper_rounds_each_box_for_itself_and_expands():
    problem = drawn(3, leaves=2)
    boxes = np.array([[0.0, 0, 1, 2], [0, 0, 2, 2]])
    found = FractionalFilters(boxes, np.array([0, 1]), np.array([1.0, 0.1]), 0.0)
    rng = np.random.default_rng(0)
    counts = np.zeros(2)
    for _ in range(1_000):
        counts += [len(each) for each in round_each(found, 100, Branches.leaves(problem), rng)]
    assert counts / 1_000 == pytest.approx([1.0, 1 - 0.9 ** np.log(100)], abs=0.05)
    assert expand([boxes[:1]])[0] == pytest.approx(np.array([[-0.05, -0.1, 1.05, 2.1]]))
