"""The boxes of jafarpour2008: ends in the domain, low ends as their form says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.errors import ParameterError
from thatch.workloads.jafarpour2008 import FORMS, STEP, TOP, zipf_boxes


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(
    st.integers(0, 2**32),
    st.integers(0, 200),
    st.integers(1, 8),
    st.sampled_from(FORMS),
    st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]),
)
def test_boxes_lie_in_the_domain(seed, count, dimensions, form, exponent):
    lows, highs = zipf_boxes(random(seed), count, dimensions, form, exponent)
    assert lows.shape == highs.shape == (count, dimensions)
    assert lows.dtype == highs.dtype == np.int64
    assert (lows >= 0).all()
    assert (lows <= highs).all()
    assert (highs <= TOP).all()


def test_scattered_low_ends_are_whole_and_some_are_popular():
    lows, highs = zipf_boxes(random(1), 20_000, 1, "scattered")
    assert (lows % STEP == 0).all()
    assert (highs % STEP != 0).mean() > 0.99
    _, counts = np.unique(lows, return_counts=True)
    assert counts.max() > 8 * counts.mean()
    # Popular ones are not the small ones.
    assert lows.mean() == pytest.approx(TOP / 2, rel=0.15)


def test_each_dimension_has_its_own_popular_values():
    lows, _ = zipf_boxes(random(1), 20_000, 2, "scattered")
    first, second = (np.unique(lows[:, axis], return_counts=True) for axis in range(2))
    assert first[0][first[1].argmax()] != second[0][second[1].argmax()]


def test_grid_boxes_hold_whole_values_to_the_next():
    lows, highs = zipf_boxes(random(2), 5_000, 2, "grid")
    assert (lows % STEP == 0).all()
    assert (((highs + 1) % STEP == 0) | (highs == TOP)).all()


@pytest.mark.parametrize(("exponent", "median"), [(0.0, 500.0), (0.5, 257.4), (1.0, 30.6), (2.0, 1.0)])
def test_the_power_law_falls_as_its_exponent_says(exponent, median):
    lows, _ = zipf_boxes(random(3), 40_000, 1, "power law", exponent)
    assert np.median(lows) / STEP == pytest.approx(median, rel=0.05)


@pytest.mark.parametrize("form", FORMS)
def test_the_length_is_even_in_what_is_left(form):
    lows, highs = zipf_boxes(random(4), 20_000, 1, form)
    share = (highs - lows) / np.maximum(TOP - lows, 1)
    assert np.quantile(share, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.03)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 2), "a count from 0"),
        ((3, 0), "dimensions from 1"),
        ((3, 2, "uniform"), "one of scattered, grid, power law"),
        ((3, 2, "scattered", -1.0), "an exponent from 0"),
        ((3, 2, "scattered", float("nan")), "an exponent from 0"),
    ],
)
def test_what_makes_no_boxes_is_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        zipf_boxes(random(0), *arguments)
