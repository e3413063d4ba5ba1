from __future__ import annotations

from itertools import count

import pytest

from tests.placement.instances import drawn
from thatch import ParameterError
from thatch.placement import PORTFOLIO, Status, best, solve, verify


def test_the_best_of_several_is_kept_with_both_bounds():
    problem = drawn(3)
    told = []
    placement = best(problem, tell=told.append)
    assert verify(placement).is_valid
    assert placement.bandwidth == min(solve(problem, each).bandwidth for each in PORTFOLIO)
    assert placement.bounds.rigorous is not None
    assert placement.bounds.fractional is not None
    assert len(told) == len(PORTFOLIO)
    assert [each.bandwidth for each in told] == sorted((each.bandwidth for each in told), reverse=True)


def test_a_feasible_answer_is_better_than_a_cheaper_one():
    problem = drawn(3)
    assert solve(problem, "gr_without_latency").bandwidth < solve(problem, "gr_star").bandwidth
    assert best(problem, algorithms=["gr_without_latency", "gr_star"]).status is Status.FEASIBLE


def test_no_algorithm_begins_after_the_limit():
    ticks = count()
    told = []
    best(drawn(3), now=lambda: float(next(ticks)), limit=2.0, tell=told.append)
    assert len(told) == 1
    assert set(told[0].seconds) == {"gr_star", "certificate"}


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
    with pytest.raises(ParameterError, match=r"one of gr, |a whole number from 0"):
        solve(drawn(3), **bad)


def test_a_limit_needs_a_clock_and_a_portfolio_algorithms():
    with pytest.raises(ParameterError, match="a clock beside the limit"):
        best(drawn(3), limit=1.0)
    with pytest.raises(ParameterError, match="at least one algorithm"):
        best(drawn(3), algorithms=[])
