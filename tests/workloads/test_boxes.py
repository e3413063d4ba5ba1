from __future__ import annotations

import numpy as np
import pytest

from tests.workloads.scan import share_of_matches
from thatch.workloads import Intervals, Matrix, Workload, generate


def boxes(workload: Workload) -> tuple[np.ndarray, np.ndarray]:
    """The ends, one box a row."""
    columns = workload.subscriptions
    assert isinstance(columns, Intervals)
    shape = (len(columns), len(workload.attributes))
    assert np.array_equal(columns.attribute.reshape(shape), np.tile(np.arange(shape[1]), (shape[0], 1)))
    return columns.low.reshape(shape), columns.high.reshape(shape)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5, 40])
def test_w2_boxes_have_sides_of_50_to_150_in_every_dimension(dimensions: int) -> None:
    low, high = boxes(generate(f"W2-{dimensions}D", 5_000, 0, 1))
    assert low.shape == (5_000, dimensions)
    assert 0 <= low.min() < 1
    assert 998 < high.max() <= 999
    assert 49.9 < (high - low).min() < 51
    assert 149 < (high - low).max() < 150.1
    assert (high - low).mean() == pytest.approx(100, abs=2)


def test_w2_events_are_points_spread_evenly() -> None:
    publications = generate("W2-3D", 0, 20_000, 1).publications
    assert isinstance(publications, Matrix)
    assert publications.values.shape == (20_000, 3)
    assert publications.values.min() >= 0
    assert publications.values.max() <= 999
    assert publications.values.mean(axis=0) == pytest.approx([499.5] * 3, rel=0.02)


def test_w3_boxes_hold_500_to_900_of_1000_values_on_ten_attributes() -> None:
    workload = generate("W3", 5_000, 0, 1)
    low, high = boxes(workload)
    assert len(workload.attributes) == 10
    assert np.array_equal(low, np.floor(low))
    assert set(np.unique(high - low + 1)) == set(range(500, 901))
    assert low.min() == 0
    assert high.max() == 999


def test_w3_events_are_whole_numbers_below_a_thousand_on_all_attributes() -> None:
    publications = generate("W3", 0, 5_000, 1).publications
    assert isinstance(publications, Matrix)
    assert set(np.unique(publications.values)) == set(range(1_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("W2-2D", 0.8, 1.2), ("W2-3D", 0.08, 0.12), ("W2-5D", 0.0003, 0.003), ("W3", 1.5, 4.5)],
)
def test_the_percentage_of_matches_is_near_the_study_s(name: str, least: float, most: float) -> None:
    assert least < 100 * share_of_matches(generate(name, 20_000, 200, 1)) < most
