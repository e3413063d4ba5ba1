from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.examples import examples
from tests.placement.instances import drawn, problems
from thatch.placement import local_search, verify
from thatch.placement.baselines import balance
from thatch.placement.greedy import gr_star, gr_without_latency
from thatch.placement.local_search import improve
from thatch.placement.placement import measure
from thatch.placement.slp.branches import Branches, Subproblem
from thatch.placement.slp.coverage import Coverage


def whole_of(problem, capacities=None):
    capacities = problem.capacities(problem.beta) if capacities is None else capacities
    return Subproblem.of(problem, problem.subscriber_types(), Branches.leaves(problem), capacities)


def covered(problem, filters):
    """Whether leaves contain interests: a row an interest, a column a leaf."""
    return Coverage(whole_of(problem), [filters[leaf] for leaf in problem.tree.leaves]).contains


@given(problems)
@examples(20)
def test_the_search_keeps_limits_and_never_needs_more_bandwidth_than_balance(problem):
    start = balance(problem)
    before = measure(problem, start, algorithm="start")
    after = measure(problem, improve(problem, start, np.random.default_rng(0)), algorithm="search")
    assert verify(after).is_valid
    assert after.bandwidth <= before.bandwidth * (1 + 1e-9)
    assert after.delays.broken == 0
    assert after.load_factor <= max(problem.beta, before.load_factor) + 1e-9


def test_the_search_gains_on_gr_star():
    problem = drawn(3, subscribers=600, leaves=10)
    start = gr_star(problem)
    before = measure(problem, start, algorithm="start").bandwidth
    after = measure(problem, improve(problem, start, np.random.default_rng(0)), algorithm="search").bandwidth
    assert after < 0.9 * before


def test_what_breaks_latency_limits_is_left_as_it_is():
    problem = drawn(3)
    start = gr_without_latency(problem)
    assert improve(problem, start, np.random.default_rng(0)) is start


def test_a_search_that_is_over_ends_with_what_it_has_and_gains_more_with_every_step():
    problem = drawn(3, subscribers=600, leaves=10)
    start = gr_star(problem)
    assert improve(problem, start, np.random.default_rng(0), is_over=lambda: True) is start
    bandwidths = []
    for steps in (1, 4, 1_000):
        asked = iter(range(steps))
        answer = improve(
            problem, start, np.random.default_rng(0), is_over=lambda asked=asked: next(asked, None) is None
        )
        bandwidths.append(measure(problem, answer, algorithm="search").bandwidth)
    assert bandwidths == sorted(bandwidths, reverse=True)
    assert bandwidths[-1] < bandwidths[0]


@pytest.mark.slow
def test_the_more_types_there_are_the_fewer_steps_a_search_takes(monkeypatch):
    problem = drawn(3, subscribers=600, leaves=10)
    taken = {}
    for types in (local_search._ROUND_TYPES, 1_000):
        monkeypatch.setattr(local_search, "_ROUND_TYPES", types)
        monkeypatch.setattr(local_search, "_REBUILD_TYPES", types)
        asked: list[bool] = []
        improve(
            problem,
            gr_star(problem),
            np.random.default_rng(0),
            is_over=lambda asked=asked: asked.append(True),
        )
        taken[types] = len(asked)
    assert taken[1_000] <= 2 < taken[4_000_000]


@given(problems)
def test_an_interest_is_covered_where_each_of_its_boxes_lies_inside_one_box(problem):
    _, filters = gr_star(problem)
    answer = covered(problem, filters)
    d = problem.interests.axes
    for interest in range(len(problem.interests)):
        for column, leaf in enumerate(problem.tree.leaves):
            expected = all(
                any((box[:d] >= outer[:d]).all() and (box[d:] <= outer[d:]).all() for outer in filters[leaf])
                for box in problem.interests.of(interest)
            )
            assert answer[interest, column] == expected


@given(problems)
@examples(20)
def test_leaves_that_are_filled_anew_keep_capacities_and_contain_whom_they_serve(problem):
    served_by, filters = balance(problem)
    capacities = np.maximum(
        problem.capacities(problem.beta), np.bincount(served_by, minlength=len(problem.shares))
    )
    part = whole_of(problem, capacities)
    found = local_search._rebuild(part, filters, np.random.default_rng(1))
    if found is not None:
        served_by, filters = found
        assert (np.bincount(served_by, minlength=len(capacities)) <= capacities).all()
        assert covered(problem, filters)[problem.interest_of, served_by].all()
        assert part.types.sets.matrix[part.types.sets.of, served_by].all()
