from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.workloads.scan import share_of_matches
from thatch.workloads import Intervals, Matrix, Workload, generate


@pytest.fixture(scope="module", params=["W4A", "W4B"])
def workload(request: pytest.FixtureRequest) -> Workload:
    return generate(request.param, 20_000, 200, 7)


def intervals(workload: Workload) -> Intervals:
    assert isinstance(workload.subscriptions, Intervals)
    return workload.subscriptions


@cache
def pool(workload: Workload) -> np.ndarray:
    """The different conditions, a row each: attribute, low, high."""
    columns = intervals(workload)
    return np.unique(np.stack([columns.attribute, columns.low, columns.high]), axis=1).T


def test_subscriptions_have_three_to_seven_conditions(workload: Workload) -> None:
    assert set(np.diff(intervals(workload).offsets)) == {3, 4, 5, 6, 7}


def test_conditions_come_from_a_pool_of_2000_or_5000_of_which_few_are_equal(workload: Workload) -> None:
    size = {"W4A": 2_000, "W4B": 5_000}[workload.name]
    assert workload.parameters["pool"] == size
    assert 0.9 * size < len(pool(workload)) <= size
    assert (np.bincount(pool(workload)[:, 0].astype(int)) > 0.85 * size / 20).all()


def test_a_quarter_of_the_pool_is_each_of_the_four_operators(workload: Workload) -> None:
    _, low, high = pool(workload).T
    size = workload.parameters["pool"]
    assert isinstance(size, int)
    counts = [(low == high).sum(), (low == -np.inf).sum(), (high == np.inf).sum()]
    counts.append(len(low) - sum(counts))
    assert np.array(counts) / size == pytest.approx([0.25] * 4, abs=0.07)
    assert max(counts) <= size / 4


def test_equality_stands_on_multiples_of_ten(workload: Workload) -> None:
    _, low, high = pool(workload).T
    assert (low[low == high] % 10 == 0).all()


def test_events_carry_all_attributes_and_three_in_ten_values_more_are_multiples_of_ten(
    workload: Workload,
) -> None:
    assert isinstance(workload.publications, Matrix)
    values = workload.publications.values
    assert values.shape == (200, 20)
    assert values.min() >= 0
    assert values.max() <= 999
    assert (values % 10 == 0).mean() == pytest.approx(0.3 + 0.7 / 10, abs=0.02)


@pytest.mark.slow
def test_the_percentage_of_matches_is_near_the_study_s(workload: Workload) -> None:
    assert 0.55 < 100 * share_of_matches(workload) < 1.2


def test_filter_text_uses_all_four_operators(workload: Workload) -> None:
    text = " ".join(workload.filter_texts()[:100])
    assert all(f" {operator} " in text for operator in ("=", "<=", ">=", "between"))
    assert "inf" not in text
