from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.placement.boxes import union_volume
from thatch.placement.certificate import count_volume


@st.composite
def boxes(draw: st.DrawFn) -> np.ndarray:
    axes = draw(st.integers(1, 4))
    k = draw(st.integers(0, 7 if axes < 4 else 5))
    ends = draw(st.lists(st.integers(0, 8), min_size=2 * axes * k, max_size=2 * axes * k))
    pairs = np.sort(np.array(ends, np.float64).reshape(k, axes, 2), axis=2)
    return np.hstack([pairs[:, :, 0], pairs[:, :, 1]])


@given(boxes())
def test_the_volume_of_a_union_is_that_of_the_cells_inside(given_boxes):
    assert union_volume(given_boxes) == pytest.approx(count_volume(given_boxes), abs=1e-9)


@given(boxes())
def test_the_reference_counts_points_of_the_grid(given_boxes):
    axes = given_boxes.shape[1] // 2
    middles = np.stack(np.meshgrid(*[np.arange(8) + 0.5] * axes, indexing="ij"), axis=-1).reshape(-1, axes)
    inside = np.zeros(len(middles), bool)
    for box in given_boxes:
        inside |= ((middles > box[:axes]) & (middles < box[axes:])).all(axis=1)
    assert count_volume(given_boxes) == inside.sum()


def test_no_boxes_have_no_volume():
    assert union_volume(np.zeros((0, 4))) == 0
    assert count_volume(np.zeros((0, 4))) == 0


def test_equal_and_nested_boxes_count_once():
    nested = np.array([[0.0, 0, 4, 4], [1, 1, 2, 2], [0, 0, 4, 4], [3, 3, 4, 4], [0, 0, 1, 4]])
    assert union_volume(nested) == 16
