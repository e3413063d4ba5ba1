from __future__ import annotations

import pytest

from tests.placement.instances import drawn
from thatch.placement import BrokerTree, PlacementProblem, best, solve
from thatch.placement.cell_bound import cell_bound


def test_a_cell_wanted_on_both_sides_enters_both_brokers():
    tree = BrokerTree.star([0.0], [[1.0], [-1.0]])
    problem = PlacementProblem.of(tree, [[1.0], [-1.0]], [[0.0], [1.0]], [[2.0], [3.0]], max_delay=0.1)
    assert cell_bound(problem) == pytest.approx(4.0)
    assert solve(problem, "gr_star", bound=True).bounds.rigorous == pytest.approx(4.0)


def test_interests_that_are_points_on_an_axis_need_no_bandwidth():
    tree = BrokerTree.star([0.0], [[1.0], [-1.0]])
    problem = PlacementProblem.of(tree, [[1.0], [-1.0]], [[0.5, 0.0]] * 2, [[0.5, 1.0]] * 2)
    assert cell_bound(problem) == 0.0
    assert best(problem).bandwidth == 0.0


def test_each_level_of_a_tree_counts():
    tree = BrokerTree.of([-1, 0, 1, 1], [[0.0], [1.0], [2.0], [0.5]])
    problem = PlacementProblem.of(tree, [[2.0], [0.5]], [[0.0], [0.0]], [[1.0], [1.0]], max_delay=0.01)
    assert cell_bound(problem) == pytest.approx(3.0)


def test_a_coarse_grid_counts_less_but_never_too_much():
    problem = drawn(5, subscribers=400, leaves=8, axes=4, max_delay=0.3)
    placement = solve(problem, "gr_star")
    assert 0 < cell_bound(problem) <= placement.bandwidth
