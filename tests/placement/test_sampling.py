"""Samples by hash: the same in whatever parts, as likely as weights say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.placement.slp import sampling
from thatch.placement.slp.sampling import draw_by_weight, draw_from_strata, hash_numbers, quotas


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.integers(0, 2**63 - 1),
)
def test_of_each_stratum_those_with_the_smallest_hashes_are_drawn(strata, wanted, key):
    drawn = draw_from_strata(np.array(strata), np.array(wanted), key)
    hashes = hash_numbers(np.arange(len(strata)), key)
    expected = []
    for stratum, most in enumerate(wanted):
        mine = [number for number, each in enumerate(strata) if each == stratum]
        expected += sorted(mine, key=lambda number: hashes[number])[:most]
    assert drawn.tolist() == sorted(expected)


@pytest.mark.parametrize("part", [1, 7, 64])
def test_a_sample_does_not_depend_on_the_parts_it_is_drawn_in(monkeypatch, part):
    rng = np.random.default_rng(1)
    strata, weights = rng.integers(0, 5, 500), rng.random(500) + 0.1
    wanted = np.array([3, 0, 10, 500, 1])
    whole = draw_from_strata(strata, wanted, 7), draw_by_weight(weights, 60, 7)
    monkeypatch.setattr(sampling, "_PIECE", part)
    backwards = lambda shared, work, items: [work(shared, each) for each in reversed(items)][::-1]  # noqa: E731
    parts = draw_from_strata(strata, wanted, 7, backwards), draw_by_weight(weights, 60, 7, backwards)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_key_gives_another_sample_and_each_is_drawn_as_often_as_its_weight_says():
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    seen = np.zeros(4)
    for key in range(4_000):
        seen[draw_by_weight(weights, 1, key)] += 1
    assert seen / 4_000 == pytest.approx(weights / 10, abs=0.03)
    hashes = hash_numbers(np.arange(4_000), 5)
    assert hashes.min() >= 0
    assert hashes.max() < 1
    assert np.histogram(hashes, 8, (0, 1))[0] / 4_000 == pytest.approx(np.full(8, 1 / 8), abs=0.03)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(1, 60), st.floats(0, 0.999))
def test_quotas_are_in_proportion_up_to_one(mass, size, start):
    mass = np.array(mass)
    if mass.sum():
        found = quotas(mass, size, start)
        assert found.sum() == size
        assert (np.abs(found - size * mass / mass.sum()) < 1 + 1e-9).all()
