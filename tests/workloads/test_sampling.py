from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.workloads.sampling import distinct_choices, draws, popularity, ragged_choices, zipf_weights


def test_zipf_weights_fall_by_the_exponent_and_sum_to_one() -> None:
    weights = zipf_weights(1_000, 0.9)
    assert weights.sum() == pytest.approx(1)
    assert weights[0] / weights[99] == pytest.approx(100**0.9)
    assert zipf_weights(4, 0).tolist() == [0.25] * 4


def test_draws_follow_their_weights() -> None:
    weights = np.array([0.5, 0.2, 0.0, 0.3])
    counts = np.bincount(draws(np.random.default_rng(1), weights, 100_000), minlength=4)
    assert counts / 100_000 == pytest.approx(weights, abs=0.01)


@given(
    count=st.integers(6, 40),
    exponent=st.floats(0, 2),
    rows=st.integers(0, 50),
    columns=st.integers(0, 6),
    seed=st.integers(0, 2**32),
)
def test_choices_of_a_row_are_different(
    count: int, exponent: float, rows: int, columns: int, seed: int
) -> None:
    chosen = distinct_choices(np.random.default_rng(seed), zipf_weights(count, exponent), rows, columns)
    assert chosen.shape == (rows, columns)
    assert all(len(set(row)) == columns and set(row) <= set(range(count)) for row in chosen.tolist())


def test_choices_are_drawn_one_after_the_other_without_putting_back() -> None:
    weights = np.array([0.6, 0.3, 0.1])
    chosen = distinct_choices(np.random.default_rng(1), weights, 100_000, 2)
    counts = np.zeros((3, 3))
    np.add.at(counts, (chosen[:, 0], chosen[:, 1]), 1 / len(chosen))
    expected = weights[:, None] * weights / (1 - weights[:, None])
    np.fill_diagonal(expected, 0)
    assert counts == pytest.approx(expected, abs=0.01)


def test_every_size_of_a_row_is_as_likely_as_the_others() -> None:
    offsets, indices = ragged_choices(np.random.default_rng(1), zipf_weights(20, 0.8), 40_000, (3, 6))
    assert offsets[0] == 0
    assert offsets[-1] == len(indices)
    assert np.bincount(np.diff(offsets))[3:] / 40_000 == pytest.approx([0.25] * 4, abs=0.01)


def test_popularity_gives_each_row_its_own_order_of_all_values() -> None:
    orders = popularity(np.random.default_rng(1), 5, 100)
    assert all(sorted(order) == list(range(100)) for order in orders.tolist())
    assert len(set(map(tuple, orders.tolist()))) == 5
