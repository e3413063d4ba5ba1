from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from tests.placement.instances import drawn, problems
from thatch.errors import BoxError, ParameterError
from thatch.placement import BrokerTree, PlacementProblem
from thatch.placement.arrays import distinct_rows

STAR = BrokerTree.star([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
POINTS = [[1.0, 1.0], [2.0, 0.0]]
LOWS, HIGHS = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]


def test_a_tree_knows_its_ways():
    tree = BrokerTree.of([-1, 0, 1, 1], [[0.0], [1.0], [3.0], [0.5]])
    assert tree.leaves.tolist() == [2, 3]
    assert tree.distances.tolist() == [0, 1, 3, 1.5]
    assert tree.path_nodes.tolist() == [2, 1, 3, 1]
    assert tree.brokers.tolist() == [1, 2, 3]
    assert not tree.is_one_level
    assert STAR.is_one_level


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([-1, -1, 0], "one root, the publisher .parent -1., got 2: node 0, node 1"),
        ([1, 0], "one root, the publisher .parent -1., got 0: none"),
        ([-1, 2, 1], "a tree, got a cycle, at or above node 1, node 2"),
        ([-1, 7], "below 2, got 7 - at parents\\[1\\]"),
        ([-1], "at least 2 nodes"),
        ([-1, 0.5], "a parent for each"),
    ],
)
def test_invalid_trees_are_refused(parents, message):
    with pytest.raises(ParameterError, match=message):
        BrokerTree.of(parents, np.zeros((len(parents), 2)))


def test_locations_and_names_of_nodes_are_checked():
    with pytest.raises(ParameterError, match=r"finite coordinates.*node 1"):
        BrokerTree.of([-1, 0], [[0.0], [np.nan]])
    with pytest.raises(ParameterError, match="shape"):
        BrokerTree.of([-1, 0], [[0.0]])
    with pytest.raises(ParameterError, match="numbers"):
        BrokerTree.of([-1, 0], [["a"], ["b"]])
    with pytest.raises(ParameterError, match="a name for each of 2 nodes, got 1"):
        BrokerTree.of([-1, 0], [[0.0], [1.0]], ["a"])
    with pytest.raises(ParameterError, match="each broker"):
        BrokerTree.star([0.0], [])


def test_limits_follow_from_the_largest_delay():
    problem = PlacementProblem.of(STAR, POINTS, LOWS, HIGHS, max_delay=0.5)
    assert problem.shortest == pytest.approx([2.0, 2.0])
    assert problem.limits == pytest.approx([3.0, 3.0])
    last_hop = PlacementProblem.of(STAR, POINTS, LOWS, HIGHS, max_delay=0.5, latency="last_hop")
    assert last_hop.shortest == pytest.approx([1.0, 1.0])


def test_equal_interests_are_one():
    problem = PlacementProblem.of(STAR, POINTS, LOWS, HIGHS)
    assert len(problem.interests) == 1
    several = PlacementProblem.of(STAR, POINTS, LOWS * 2, HIGHS * 2, owners=[0, 1, 1, 0])
    assert len(several.interests) == 1
    assert several.interests.of(0).tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"beta": 2.0, "beta_max": 2.0}, ParameterError, "1 < beta < beta_max, got 2.0 and 2.0"),
        ({"beta": 1.0}, ParameterError, "1 < beta"),
        ({"beta": "a"}, ParameterError, "1 < beta < beta_max, got 'a' and"),
        ({"limits": [3.0, 3.0, 3.0]}, ParameterError, "one for each of 2 subscribers"),
        ({"limits": "long"}, ParameterError, "one for each of 2 subscribers"),
        ({"shares": ["a", "b"]}, ParameterError, "the capacity of each of 2 leaves"),
        ({"domain": ("a", 1)}, BoxError, "2 axes"),
        ({"density": [([0, 1], [np.inf])] * 2}, ParameterError, "rising edges"),
        ({"density": [(["a", "b"], [1.0])] * 2}, ParameterError, "rising edges"),
        ({"complexity": 0}, ParameterError, "boxes from 1"),
        ({"complexity": [1, 2]}, ParameterError, "3 nodes"),
        ({"shares": [0.0, 0.0]}, ParameterError, "some positive"),
        ({"shares": [1.0, -1.0]}, ParameterError, "none negative"),
        ({"max_delay": -0.1}, ParameterError, "a delay from 0"),
        ({"max_delay": float("nan")}, ParameterError, "a delay from 0"),
        (
            {"limits": [3.0, 1.5]},
            ParameterError,
            r"No leaf is close enough for the limit of subscriber 1 \(by 0.5\)",
        ),
        ({"limits": float("nan")}, ParameterError, "No leaf is close enough"),
        ({"limits": 3.0, "max_delay": 0.1}, ParameterError, "Give either max_delay or limits"),
        ({"latency": "hops"}, ParameterError, "last_hop"),
        ({"domain": ([0, 0], [1, 0.5])}, BoxError, "0.0 to 0.5, got 0.0 to 1.0 - at interests, axis 1"),
        ({"domain": ([0], [1])}, BoxError, "2 axes"),
        ({"lows": [[0.0, 2.0]] * 2}, BoxError, "low ≤ high"),
        ({"lows": [[0.0, float("nan")]] * 2}, BoxError, "finite ends"),
        ({"lows": [["a", "b"]] * 2}, BoxError, "rows of numbers"),
        ({"lows": [[0.0, 0.0]]}, BoxError, "low and high ends of the same shape"),
        ({"lows": LOWS[:1], "highs": HIGHS[:1]}, BoxError, "a box for each of 2 subscribers"),
        ({"owners": [0, 0]}, BoxError, "Subscriber has no box - at subscriber 1"),
        ({"owners": [0, 2]}, BoxError, "subscribers from 0 to 1"),
        ({"owners": [0]}, BoxError, "the subscriber of each of 2 boxes"),
        ({"locations": np.zeros((0, 2))}, ParameterError, "at least 1 subscribers with 2 coordinates"),
        ({"locations": [[0.0, np.inf]] * 2}, ParameterError, "location of subscriber 0"),
        ({"locations": [["a", "b"]] * 2}, ParameterError, "numbers"),
    ],
)
def test_invalid_parts_are_refused(changes, error, message):
    parts = {"tree": STAR, "locations": POINTS, "lows": LOWS, "highs": HIGHS, **changes}
    with pytest.raises(error, match=message):
        PlacementProblem.of(**parts)


@given(problems)
def test_candidates_are_the_leaves_within_the_limit(problem):
    sets = problem.candidate_sets()
    lengths = problem.leaf_distances(problem.locations)
    expected = lengths <= problem.limits[:, None] * (1 + 1e-9)
    assert (sets.matrix[sets.of] == expected).all()
    assert expected.any(axis=1).all()
    start, leaf = sets.lists()
    assert [leaf[a:b].tolist() for a, b in pairwise(start)] == [
        np.flatnonzero(row).tolist() for row in sets.matrix
    ]


@given(problems)
def test_types_count_every_subscriber_once(problem):
    types = problem.subscriber_types()
    assert types.count.sum() == problem.subscribers
    assert (types.interest[types.of] == problem.interest_of).all()
    assert (types.candidates[types.of] == types.sets.of).all()


def test_a_load_factor_is_relative_to_shares():
    problem = drawn(1, leaves=2, subscribers=10)
    assert problem.load_factor(np.array([5, 5])) == 1
    assert problem.load_factor(np.array([10, 0])) == 2
    assert problem.capacities(1.5).tolist() == [7, 7]


def test_distinct_rows_are_numbered_as_they_come():
    first, number = distinct_rows(np.array([[2.0, -0.0], [1.0, 0.0], [2.0, 0.0]]))
    assert first.tolist() == [0, 1]
    assert number.tolist() == [0, 1, 0]
    assert distinct_rows(np.zeros((0, 3)))[0].tolist() == []
