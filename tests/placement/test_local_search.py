from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from tests.placement.instances import drawn, problems
from thatch.placement import verify
from thatch.placement.balance import balance
from thatch.placement.coverage import covered
from thatch.placement.greedy import gr_star, gr_without_latency
from thatch.placement.local_search import improved
from thatch.placement.placement import measured


@given(problems)
@settings(max_examples=60)
def test_the_search_keeps_limits_and_never_needs_more_bandwidth(problem):
    for start in (gr_star(problem), balance(problem)):
        before = measured(problem, *start, algorithm="start")
        after = measured(problem, *improved(problem, start, np.random.default_rng(0)), algorithm="search")
        assert verify(after).is_valid
        assert after.bandwidth <= before.bandwidth * (1 + 1e-9)
        assert after.delays.broken == 0
        assert after.load_factor <= max(problem.beta, before.load_factor) + 1e-9


def test_the_search_gains_on_gr_star():
    problem = drawn(3, subscribers=600, leaves=10)
    start = gr_star(problem)
    before = measured(problem, *start, algorithm="start").bandwidth
    after = measured(
        problem, *improved(problem, start, np.random.default_rng(0)), algorithm="search"
    ).bandwidth
    assert after < 0.9 * before


def test_what_breaks_latency_limits_is_left_as_it_is():
    problem = drawn(3)
    start = gr_without_latency(problem)
    assert improved(problem, start, np.random.default_rng(0)) is start


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
