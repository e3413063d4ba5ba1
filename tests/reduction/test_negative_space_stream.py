"""Streams of subscriptions count what subscribing one by one does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.reduction.test_negative_space import OPTIONS, box, boxes, domain
from thatch.reduction.boxes import Boxes
from thatch.reduction.negative_space import ApproximateSpace, ExactSpace, stream


@pytest.mark.slow
@examples(60)
@given(st.data(), OPTIONS, st.booleans())
def test_a_stream_counts_what_subscribing_one_by_one_does(data, options, exact):
    n_axes = data.draw(st.integers(1, 3))
    given = data.draw(st.lists(box(n_axes), min_size=1, max_size=25))
    lows, highs = (np.array([[side[end] for side in each] for each in given]) for end in (0, 1))
    named = {name: options[name] for name in ("k", "metric", "literal", "dynamic", "pairwise")}
    space = ExactSpace(domain(n_axes)) if exact else ApproximateSpace(**named, domain=domain(n_axes))
    counted = []
    for row, each in enumerate(given):
        space.add(row, boxes(each))
        counted.append((space.stats()["boxes"], len(space.passive)))
    marks = np.arange(1, len(given) + 1)
    growth = stream(lows, highs, domain(n_axes), marks, **({} if exact else named))
    assert list(zip(growth.boxes.tolist(), growth.subsumed.tolist(), strict=True)) == counted
    assert (growth.covered <= growth.subsumed).all()


def test_a_stream_stops_where_there_are_too_many_boxes():
    corner = np.arange(1, 40, 2)
    lows = np.stack([corner, corner], axis=1)
    growth = stream(lows, lows, domain(2, 100), [1, 5, 20], most_boxes=10)
    assert growth.boxes.tolist()[0] == 4
    assert growth.boxes.tolist()[-1] == -1


def test_a_stream_that_outgrows_its_first_room_keeps_its_boxes():
    rng = np.random.default_rng(5)
    lows = rng.integers(0, 900, (600, 3))
    highs = lows + rng.integers(0, 100, (600, 3))
    for options in ({}, {"k": 20}):
        space = (
            ApproximateSpace(**options, pairwise=False, domain=domain(3, 1000))
            if options
            else ExactSpace(domain(3, 1000))
        )
        for row in range(600):
            space.add(row, Boxes.of(lows[row : row + 1], highs[row : row + 1]))
        growth = stream(lows, highs, domain(3, 1000), [600], **options)
        assert growth.boxes.tolist() == [space.stats()["boxes"]]
        assert growth.subsumed.tolist() == [len(space.passive)]
        assert growth.boxes[0] > 2048
