"""Tiny problems solved by brute force: what algorithms and bounds are held against."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.placement.brute_force import least_bandwidth, least_filter
from tests.placement.instances import drawn
from thatch.errors import ParameterError
from thatch.placement import Status, best, solve
from thatch.placement.boxes import union_volume
from thatch.placement.cell_bound import cell_bound
from thatch.placement.filters import fit_boxes

KEEPS_LIMITS = (
    "gr",
    "gr_star",
    "gr_evict",
    "gr_evict_last",
    "gr_star_search",
    "slp1",
    "slp1_search",
    "slp",
    "slp_search",
    "balance",
)
FINDS_THEM = (
    "slp1",
    "slp1_search",
    "slp",
    "slp_search",
    "balance",
)  # an answer within limits, where there is one
tiny = st.builds(drawn, st.integers(0, 10_000), subscribers=st.integers(1, 6), leaves=st.integers(1, 3))


@pytest.mark.slow
@given(tiny)
@examples(20)
def test_neither_answers_within_limits_undercut_the_optimum_nor_does_it_undercut_the_bound(problem):
    optimum = least_bandwidth(problem, problem.beta_max)
    if optimum is not None:
        assert cell_bound(problem) <= optimum + 1e-9
    for algorithm in KEEPS_LIMITS:
        placement = solve(problem, algorithm)
        if placement.status is not Status.INFEASIBLE:
            assert optimum is not None
            assert placement.bandwidth >= optimum - 1e-9
        elif algorithm in FINDS_THEM:
            assert optimum is None


@pytest.mark.slow
def test_best_is_near_the_optimum():
    ratios = []
    for seed in range(15):
        problem = drawn(seed, subscribers=7, leaves=3, max_delay=1.0)
        optimum = least_bandwidth(problem, problem.beta)
        placement = best(problem)
        if optimum is not None and placement.status is Status.FEASIBLE:
            ratios.append(placement.bandwidth / optimum)
    assert len(ratios) > 8
    assert np.mean(ratios) < 1.1
    assert np.median(ratios) == pytest.approx(1.0)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 3), st.integers(1, 3))
def test_fitted_boxes_contain_all_and_are_not_below_the_least(seed, count, most, axes):
    rng = np.random.default_rng(seed)
    lows = np.round(rng.random((count, axes)), 1)
    boxes = np.hstack([lows, lows + np.round(rng.random((count, axes)), 1)])
    for fit in ("paper", "best"):
        found = fit_boxes(boxes, np.ones(count), most, None, fit)
        assert len(found) <= most
        for box in boxes:
            assert any(
                (outer[:axes] <= box[:axes]).all() and (outer[axes:] >= box[axes:]).all() for outer in found
            )
        assert union_volume(found) >= least_filter(boxes, most) - 1e-9
    if most <= 2:
        assert union_volume(found) == pytest.approx(least_filter(boxes, most), abs=1e-9)


def test_what_brute_force_cannot_do_is_refused():
    with pytest.raises(ParameterError, match="one level"):
        least_bandwidth(drawn(1, inner=2), 2.0)
    with pytest.raises(ParameterError, match="at most 100,000 assignments"):
        least_bandwidth(drawn(1, max_delay=9.0), 2.0)
