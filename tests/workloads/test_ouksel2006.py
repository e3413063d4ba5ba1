"""The scenarios of ouksel2006: each is what it says, checked on random points and on the sides of its rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.errors import ParameterError
from thatch.workloads import ouksel2006
from thatch.workloads.ouksel2006 import (
    COMPARISON_TOP,
    FORMS,
    GAP_FORMS,
    HIGH,
    LOW,
    WIDTH,
    CoverCase,
    comparison,
    disjoint,
    extreme_non_cover,
    non_cover,
    pairwise_cover,
    redundant_cover,
)

seeds = st.integers(0, 2**32)
sizes = st.tuples(st.integers(2, 60), st.integers(1, 12))


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def holders(made: CoverCase, points: np.ndarray) -> np.ndarray:
    """For each point which rows contain it."""
    return ((made.lows <= points[:, None]) & (points[:, None] <= made.highs)).all(axis=2)


def points_of(made: CoverCase, seed: int, count: int = 300) -> np.ndarray:
    return random(seed).integers(made.low, made.high + 1, (count, len(made.low)))


def check_shape(made: CoverCase, rows: int, attributes: int) -> None:
    assert made.lows.shape == made.highs.shape == (rows, attributes)
    assert made.low.shape == made.high.shape == (attributes,)
    assert {each.dtype for each in (made.low, made.high, made.lows, made.highs)} == {np.dtype(np.int64)}
    assert (made.lows <= made.highs).all()


def is_nested(made: CoverCase) -> np.ndarray:
    """Which rows contain the new box."""
    return ((made.lows <= made.low) & (made.highs >= made.high)).all(axis=1)


def does_meet(made: CoverCase) -> np.ndarray:
    return ((made.lows <= made.high) & (made.highs >= made.low)).all(axis=1)


@given(seeds, sizes)
def test_in_1a_one_row_contains_the_new_box(seed, size):
    made = pairwise_cover(random(seed), *size)
    check_shape(made, *size)
    assert np.array_equal(is_nested(made), made.is_cover)
    assert made.is_cover.sum() == 1


@given(seeds, sizes, st.sampled_from(FORMS))
def test_in_1b_a_fifth_covers_every_point_and_no_row_does_alone(seed, size, form):
    made = redundant_cover(random(seed), *size, form)
    check_shape(made, *size)
    assert made.is_cover.sum() == max(2, round(0.2 * size[0]))
    assert not is_nested(made).any()
    assert holders(made, points_of(made, seed))[:, made.is_cover].any(axis=1).all()


@given(seeds, sizes)
def test_in_2a_no_row_meets_the_new_box(seed, size):
    made = disjoint(random(seed), *size)
    check_shape(made, *size)
    assert not does_meet(made).any()


@given(seeds, sizes, st.sampled_from(FORMS))
def test_in_2b_a_range_of_the_first_attribute_stays_free(seed, size, form):
    made = non_cover(random(seed), *size, form)
    check_shape(made, *size)
    assert free_width(made) >= int(0.005 * WIDTH) - 1
    assert ((made.lows[:, 0] <= HIGH) & (made.highs[:, 0] >= LOW)).all()


@given(seeds, sizes, st.sampled_from(GAP_FORMS), st.sampled_from([0.005, 0.01, 0.045, 0.3]))
def test_in_2c_just_the_gap_is_free(seed, size, form, gap):
    made = extreme_non_cover(random(seed), *size, gap, form)
    check_shape(made, *size)
    points = points_of(made, seed)
    is_free = ~holders(made, points).any(axis=1)
    assert free_width(made) == round(gap * WIDTH)
    assert np.array_equal(is_free, is_in_gap(made, points[:, 0]))


def free_width(made: CoverCase) -> int:
    """The longest range of the first attribute that no row reaches."""
    order = np.argsort(made.lows[:, 0])
    reached = np.maximum.accumulate(np.maximum(made.highs[order, 0], LOW - 1))
    starts = np.append(np.maximum(made.lows[order, 0], LOW), HIGH + 1)
    return int(np.max(starts - np.concatenate([[LOW - 1], reached.clip(max=HIGH)]) - 1))


def is_in_gap(made: CoverCase, values: np.ndarray) -> np.ndarray:
    lows, highs = made.lows[:, 0], made.highs[:, 0]
    return ~((lows <= values[:, None]) & (values[:, None] <= highs)).any(axis=1)


def test_rows_of_the_three_forms_differ_in_the_ends_they_have_inside():
    both = {}
    for form in FORMS:
        made = redundant_cover(random(1), 200, 10, form)
        rest = ~made.is_cover
        both[form] = ((made.lows > LOW) & (made.highs < HIGH))[rest].mean()
    assert both["anchored"] == 0
    assert 0.1 < both["wide"] < 0.3
    assert both["two-sided"] > 0.7


@given(seeds, st.integers(1, 50), st.integers(1, 20))
def test_comparison_gives_boxes_in_the_domain_with_some_side(seed, count, attributes):
    lows, highs = comparison(random(seed), count, attributes)
    assert lows.shape == highs.shape == (count, attributes)
    assert lows.dtype == highs.dtype == np.int64
    assert (lows >= 0).all()
    assert (lows <= highs).all()
    assert (highs <= COMPARISON_TOP).all()


def test_comparison_constrains_popular_attributes_more():
    lows, highs = comparison(random(3), 2_000, 10)
    shares = ((lows > 0) | (highs < COMPARISON_TOP)).mean(axis=0)
    assert shares[0] > 0.95
    assert (np.diff(shares) < 0.02).all()
    assert shares[-1] < 0.2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rng: redundant_cover(rng, 1, 3), "at least 2 rows"),
        (lambda rng: pairwise_cover(rng, 0, 3), "at least 1 rows"),
        (lambda rng: disjoint(rng, 5, 0), "at least 1 attribute"),
        (lambda rng: redundant_cover(rng, 5, 3, "narrow"), "one of anchored, two-sided, wide"),
        (lambda rng: extreme_non_cover(rng, 5, 3, 0.0), "a share above 0"),
        (lambda rng: extreme_non_cover(rng, 5, 3, float("nan")), "a share above 0"),
        (lambda rng: extreme_non_cover(rng, 5, 3, 0.1, "wide"), "one of slabs, tiling"),
    ],
)
def test_what_makes_no_scenario_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make(random(0))


@pytest.mark.parametrize("name", ["pairwise_cover", "redundant_cover", "disjoint", "non_cover"])
def test_the_same_seed_gives_the_same_rows(name):
    first, second = (getattr(ouksel2006, name)(random(7), 20, 4) for _ in range(2))
    assert np.array_equal(first.lows, second.lows)
    assert np.array_equal(first.highs, second.highs)
