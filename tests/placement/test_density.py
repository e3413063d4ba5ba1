from __future__ import annotations

import numpy as np
import pytest

from thatch import ParameterError
from thatch.placement.density import evened
from thatch.placement.volumes import union_volume


def test_volume_becomes_the_share_of_events():
    rng = np.random.default_rng(1)
    events = rng.exponential(1.0, (4_000, 2))
    histograms = []
    for axis in range(2):
        counts, edges = np.histogram(events[:, axis], bins=60)
        histograms.append((edges, counts))
    boxes = np.array([[0.0, 0.0, 1.0, 0.5], [0.5, 0.2, 2.0, 3.0]])
    mapped = np.hstack([evened(boxes[:, :2], histograms), evened(boxes[:, 2:], histograms)])
    inside = np.zeros(len(events), bool)
    for box in boxes:
        inside |= ((events >= box[:2]) & (events <= box[2:])).all(axis=1)
    assert union_volume(mapped) == pytest.approx(inside.mean(), abs=0.03)


@pytest.mark.parametrize(
    "distribution",
    [([0, 1], [1, 2]), ([1, 0], [1]), ([0, 1], [-1]), ([0, 1], [0]), ([0], []), ([0, np.nan], [1])],
)
def test_what_is_no_histogram_is_refused(distribution):
    with pytest.raises(ParameterError, match="rising edges"):
        evened([[0.5]], [distribution])


def test_every_axis_needs_a_distribution():
    with pytest.raises(ParameterError, match="a column for each of 1 distributions"):
        evened([[0.5, 0.5]], [([0, 1], [1])])
