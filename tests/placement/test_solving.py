from __future__ import annotations

from itertools import count, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.placement.instances import drawn, problems
from thatch.errors import ParameterError
from thatch.placement import ALGORITHMS, PORTFOLIO, BrokerTree, PlacementProblem, Status, best, solve, verify
from thatch.placement.cell_bound import cell_bound
from thatch.placement.filters import fit_filters
from thatch.placement.greedy import gr_star
from thatch.placement.placement import measure

BREAKS_LATENCY = ("gr_without_latency", "closest", "closest_without_balance")
SEARCHES = {"gr_star_search": "gr_star", "slp1_search": "slp1", "slp_search": "slp"}  # with their starts
SLOW = ("slp1", "slp", *SEARCHES)


def check_answers(problem, algorithms):
    """Each answer is certified by `solve` itself, keeps latency, and undercuts no lower bound; a search only improves."""
    floor, bound = solve(problem, "balance"), cell_bound(problem)
    found = {}
    for algorithm in algorithms:
        placement = found[algorithm] = solve(problem, algorithm)
        if algorithm not in BREAKS_LATENCY:
            assert placement.delays.broken == 0
            assert placement.load_factor >= floor.load_factor - 1e-9
            assert placement.bandwidth >= bound * (1 - 1e-9)
        if algorithm in SEARCHES:
            start = found[SEARCHES[algorithm]]
            assert placement.bandwidth <= start.bandwidth * (1 + 1e-9)
            assert placement.load_factor <= max(problem.beta, start.load_factor) + 1e-9
    if "slp" in found:
        assert found["slp"].status is floor.status


@given(problem=problems)
@examples(50)
def test_greedy_and_baseline_answers_are_certified_and_within_bounds(problem):
    check_answers(problem, [algorithm for algorithm in ALGORITHMS if algorithm not in SLOW])


@pytest.mark.slow
@pytest.mark.parametrize("algorithms", [(start, search) for search, start in SEARCHES.items()])
@given(problem=problems)
@examples(15)
def test_linear_programs_and_searches_are_certified_and_within_bounds(algorithms, problem):
    check_answers(problem, algorithms)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_seed_gives_the_same_placement(algorithm):
    problem = drawn(8, several=True, inner=2)
    one, other = solve(problem, algorithm, seed=5), solve(problem, algorithm, seed=5)
    assert (one.assignment == other.assignment).all()
    assert one.bandwidth == other.bandwidth


@given(st.integers(0, 500))
@examples(60)
def test_balance_finds_the_smallest_load_factor_there_is(seed):
    problem = drawn(seed, subscribers=6, leaves=3, max_delay=0.4)
    lengths = problem.leaf_distances(problem.locations)
    allowed = [np.flatnonzero(row) for row in lengths <= problem.limits[:, None] * (1 + 1e-9)]
    every = np.array(list(product(*allowed)))
    loads = (every[:, :, None] == np.arange(3)).sum(axis=1)
    least = min(map(problem.load_factor, np.unique(loads, axis=0)))
    assert solve(problem, "balance").load_factor == pytest.approx(least)


def test_gr_star_serves_those_without_choice_first():
    # The first comer may go to either broker, the other two only to one: Gr fills that one, Gr* does not.
    tree = BrokerTree.star([0.0], [[1.0], [-1.0]])
    points = [[0.0], [1.0], [-1.0], [1.0]]
    box = [[0.0, 0.0]] * 4, [[1.0, 1.0]] * 4
    problem = PlacementProblem.of(tree, points, *box, limits=[9.0, 1.5, 1.5, 1.5], beta=1.01, beta_max=1.02)
    placement = solve(problem, "gr_star")
    assert placement.status is Status.FEASIBLE
    assert placement.loads.tolist() == [2, 2]


@pytest.mark.parametrize("near", [2, 4])
def test_gr_star_can_be_orders_of_magnitude_worse_than_the_optimum(near):
    # Near boxes and one far away: the first subscribers spread over all brokers.
    tree = BrokerTree.star([0.0, 0.0], [[1.0, 0.0], [1.0, 0.0]])
    lows = np.array([[0.01 * each] * 2 for each in range(near)] + [[1.0, 1.0]])
    points = np.tile([1.0, 0.0], (near + 1, 1))
    complexity = near // 2
    problem = PlacementProblem.of(
        tree, points, lows, lows + 0.001, complexity=complexity, beta=1.5, beta_max=1.9
    )
    answer = measure(problem, gr_star(problem), algorithm="gr_star")
    apart = np.zeros(near + 1, np.int64)
    apart[-1] = 1
    optimum = measure(problem, (apart, fit_filters(problem, apart)), algorithm="by hand")
    assert optimum.load_factor <= 1.9
    assert optimum.bandwidth < 2e-3
    assert answer.bandwidth > 100 * optimum.bandwidth
    assert solve(problem, "slp").bandwidth <= 2 * optimum.bandwidth
    assert best(problem).bandwidth <= 2 * optimum.bandwidth


def test_what_cannot_be_served_within_limits_is_marked():
    tree = BrokerTree.star([0.0], [[1.0], [-1.0]])
    points = [[1.0]] * 10
    problem = PlacementProblem.of(tree, points, [[0.0]] * 10, [[1.0]] * 10, max_delay=0.1)
    for algorithm in ("gr", "gr_star", "gr_evict", "gr_evict_last", "balance"):
        placement = solve(problem, algorithm)
        assert placement.status is Status.INFEASIBLE
        assert placement.load_factor == 2
    assert solve(problem, "closest").delays.broken == 1


def test_a_leaf_without_capacity_serves_nobody():
    tree = BrokerTree.star([0.0], [[1.0], [-1.0], [0.5]])
    points = [[0.0]] * 9
    problem = PlacementProblem.of(
        tree, points, [[0.0]] * 9, [[1.0]] * 9, shares=[1, 0, 2], max_delay=10.0, beta=1.2, beta_max=1.5
    )
    for algorithm in ALGORITHMS:
        if algorithm != "closest_without_balance":
            assert solve(problem, algorithm).loads[1] == 0


def test_many_subscribers_at_one_point_are_one_type():
    tree = BrokerTree.star([0.0, 0.0], [[1.0, 0.0], [1.0, 0.1]])
    points = np.tile([1.0, 0.05], (20_000, 1))
    lows = np.zeros((20_000, 2))
    problem = PlacementProblem.of(tree, points, lows, lows + 1)
    for algorithm in ALGORITHMS:
        placement = solve(problem, algorithm)
        assert placement.bandwidth == pytest.approx(2.0 if placement.loads.min() else 1.0)


def test_a_clock_times_each_phase():
    ticks = count()
    placement = solve(drawn(1), "gr", now=lambda: float(next(ticks)))
    assert placement.seconds == {"gr": 1.0, "certificate": 1.0}
    assert not solve(drawn(1), "gr").seconds


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(ParameterError, match=r"one of gr, gr_star.*got 'simplex' - at algorithm"):
        solve(drawn(1), "simplex")


def test_the_best_of_several_is_kept_with_both_bounds():
    problem = drawn(3)
    heard = []
    placement = best(problem, on_progress=heard.append)
    assert verify(placement).is_valid
    assert placement.bandwidth == min(solve(problem, each).bandwidth for each in PORTFOLIO)
    assert placement.bounds.rigorous is not None
    assert placement.bounds.fractional is not None
    assert len(heard) == len(PORTFOLIO)
    assert [each.bandwidth for each in heard] == sorted((each.bandwidth for each in heard), reverse=True)


def test_a_feasible_answer_is_better_than_a_cheaper_one():
    problem = drawn(3)
    assert solve(problem, "gr_without_latency").bandwidth < solve(problem, "gr_star").bandwidth
    assert best(problem, algorithms=["gr_without_latency", "gr_star"]).status is Status.FEASIBLE


def test_no_algorithm_begins_after_the_limit():
    ticks = count()
    heard = []
    found = best(drawn(3), now=lambda: float(next(ticks)), limit=2.0, on_progress=heard.append)
    assert len(heard) == 1
    assert set(heard[0].seconds) == {"gr_star"}
    assert set(found.seconds) == {"gr_star", "certificate"}


def test_a_search_that_has_begun_ends_at_the_limit():
    problem = drawn(3, subscribers=600, leaves=10)
    ticks = count()
    found = best(problem, algorithms=["gr_star_search"], now=lambda: float(next(ticks)), limit=4.0)
    assert next(ticks) < 20
    whole = best(problem, algorithms=["gr_star_search"])
    assert verify(found).is_valid
    assert whole.bandwidth < found.bandwidth <= solve(problem, "gr_star").bandwidth


@pytest.mark.parametrize("bad", [{"algorithm": ["gr"]}, {"algorithm": "gr", "seed": -1}, {"seed": 0.5}])
def test_what_cannot_be_solved_is_refused(bad):
    with pytest.raises(ParameterError, match=r"one of gr, |an integer from 0"):
        solve(drawn(3), **bad)


def test_a_limit_needs_a_clock_and_a_portfolio_algorithms():
    with pytest.raises(ParameterError, match="A limit needs a clock"):
        best(drawn(3), limit=1.0)
    with pytest.raises(ParameterError, match="Give at least one algorithm"):
        best(drawn(3), algorithms=[])
