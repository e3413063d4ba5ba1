"""Cuts as bytes and as labels keep their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import literals, values
from thatch.model.lines import above, below, point
from thatch.pipeline.transforms.reducing.arranging import label_cuts
from thatch.pipeline.transforms.reducing.sides import encode_cut
from thatch.reduction.boxes import HIGHEST, LOWEST

CUTS = st.one_of(
    st.builds(below, literals),
    st.builds(above, literals),
    st.builds(point, values),
    st.tuples(st.integers(0, 7)),
)


@given(st.lists(CUTS, min_size=2, max_size=20))
def test_bytes_sort_as_cuts_do(cuts):
    for one in cuts:
        for other in cuts:
            assert (encode_cut(one) < encode_cut(other)) == (one < other)
            assert (encode_cut(one) == encode_cut(other)) == (one == other)


@given(st.lists(st.tuples(st.integers(0, 2), CUTS, CUTS).filter(lambda each: each[1] < each[2]), max_size=20))
def test_labels_keep_the_order_of_cuts_on_each_axis(sides):
    axes = np.array([axis for axis, _, _ in sides], np.int32)
    lows, highs = (pa.array([encode_cut(each[end]) for each in sides], pa.large_binary()) for end in (1, 2))
    low, high = label_cuts(axes, lows, highs)
    assert (low <= high).all()
    ends = [(axis, cut, label) for (axis, cut, _), label in zip(sides, low.tolist(), strict=True)]
    ends += [(axis, cut, label + 1) for (axis, _, cut), label in zip(sides, high.tolist(), strict=True)]
    for axis, cut, label in ends:
        assert (label == LOWEST) == (cut == (0,))
        assert (label == HIGHEST + 1) == (cut == (7,))
        for other_axis, other, other_label in ends:
            assert axis != other_axis or (cut < other) == (label < other_label)
