from __future__ import annotations

import numpy as np
import pytest

from thatch.errors import ParameterError
from thatch.model.profile import Profile
from thatch.placement import BrokerTree, PlacementProblem, solve
from thatch.placement.boxes import union_volume
from thatch.placement.density import histogram, map_to_shares


def test_volume_becomes_the_share_of_events():
    rng = np.random.default_rng(1)
    events = rng.exponential(1.0, (4_000, 2))
    histograms = []
    for axis in range(2):
        counts, edges = np.histogram(events[:, axis], bins=60)
        histograms.append((edges, counts))
    boxes = np.array([[0.0, 0.0, 1.0, 0.5], [0.5, 0.2, 2.0, 3.0]])
    mapped = np.hstack([map_to_shares(boxes[:, :2], histograms), map_to_shares(boxes[:, 2:], histograms)])
    inside = np.zeros(len(events), bool)
    for box in boxes:
        inside |= ((events >= box[:2]) & (events <= box[2:])).all(axis=1)
    assert union_volume(mapped) == pytest.approx(inside.mean(), abs=0.03)


@pytest.mark.parametrize(
    "distribution",
    [([0, 1], [1, 2]), ([1, 0], [1]), ([0, 1], [-1]), ([0, 1], [0]), ([0], []), ([0, np.nan], [1])],
)
def test_invalid_histograms_are_refused(distribution):
    with pytest.raises(ParameterError, match="rising edges"):
        map_to_shares([[0.5]], [distribution])


def test_every_axis_needs_a_distribution():
    with pytest.raises(ParameterError, match="a column for each of 1 distributions"):
        map_to_shares([[0.5, 0.5]], [([0, 1], [1])])


def test_the_histogram_of_a_profile_gives_shares_of_events():
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.exponential(1.0, 3_000), np.full(1_000, 5.0)])
    profile = Profile.of([{"price": float(each)} for each in values])
    ends = map_to_shares([[1.0], [4.9], [5.1]], [histogram(profile, "price")]).ravel()
    assert ends.tolist() == pytest.approx([(values < each).mean() for each in (1.0, 4.9, 5.1)], abs=0.01)
    constant = histogram(Profile.of([{"price": 5}]), "price")
    assert map_to_shares([[4.0], [6.0]], [constant]).ravel().tolist() == [0.0, 1.0]
    with pytest.raises(ParameterError, match="a numeric attribute of the profile"):
        histogram(profile, "volume")


def test_bandwidth_is_in_shares_of_events_where_a_problem_has_a_density():
    tree = BrokerTree.star([0.0], [[1.0]])
    density = [([0, 10, 20], [3, 1])]
    problem = PlacementProblem.of(tree, [[1.0]], [[0.0]], [[10.0]], density=density, domain=([0.0], [20.0]))
    assert solve(problem, "gr_star").bandwidth == pytest.approx(0.75)
