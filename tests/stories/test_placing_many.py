"""Fifty thousand subscribers on a hundred brokers, with every limit checked again in plain Python."""

from __future__ import annotations

from collections import Counter
from math import dist

import numpy as np
import pytest

from thatch.placement import BrokerTree, PlacementProblem, solve

pytestmark = pytest.mark.slow

SUBSCRIBERS, INNER, LEAVES = 50_000, 5, 95


@pytest.fixture(scope="module")
def problem() -> PlacementProblem:
    """Homes around a hundred brokers of two levels; interests around a few popular ones."""
    rng = np.random.default_rng(50_000)
    nodes = 1 + INNER + LEAVES
    parents = np.concatenate([[-1], np.zeros(INNER, int), 1 + np.arange(LEAVES) % INNER])
    tree = BrokerTree.of(parents, rng.random((nodes, 2)))
    popular = rng.random((40, 2)) * 0.8
    lows = np.round(popular[rng.integers(0, 40, SUBSCRIBERS)] + rng.random((SUBSCRIBERS, 2)) * 0.1, 2)
    highs = lows + np.round(rng.random((SUBSCRIBERS, 2)) * 0.05, 2)
    return PlacementProblem.of(
        tree, rng.random((SUBSCRIBERS, 2)), lows, highs, complexity=3, beta=1.5, beta_max=1.8, max_delay=0.5
    )


def test_gr_star_keeps_every_limit(problem):
    placement = solve(problem, "gr_star", seed=1)
    tree = problem.tree
    parents, places = tree.parents.tolist(), tree.locations.tolist()
    filters = [list(map(tuple, each.tolist())) for each in placement.filters]
    assignment = placement.assignment.tolist()
    leaves = [node for node in range(len(parents)) if node not in set(parents)]

    assert all(len(each) <= 3 for node, each in enumerate(filters) if parents[node] >= 0)
    for node, parent in enumerate(parents):
        if parent > 0:  # the publisher sends everything that it is asked for
            assert all(any(inside(box, other) for other in filters[parent]) for box in filters[node])

    boxes = problem.interests.boxes.tolist()
    wanted = [tuple(boxes[number]) for number in problem.interest_of.tolist()]
    for node, box in set(zip(assignment, wanted, strict=True)):
        assert any(inside(box, other) for other in filters[node])

    loads = Counter(assignment)
    assert set(loads) <= set(leaves)
    assert sum(loads.values()) == SUBSCRIBERS
    largest = max(loads.values()) * len(leaves) / SUBSCRIBERS
    assert largest == pytest.approx(placement.load_factor)

    from_root = {node: length(node, parents, places) for node in leaves}
    late = 0
    for home, node in zip(problem.locations.tolist(), assignment, strict=True):
        shortest = min(from_root[leaf] + dist(home, places[leaf]) for leaf in leaves)
        late += from_root[node] + dist(home, places[node]) > 1.5 * shortest * (1 + 1e-9)
    assert late == placement.delays.broken

    expected = "feasible" if largest <= 1.5 else "over_beta" if largest <= 1.8 else "infeasible"
    assert placement.status.name.lower() == ("infeasible" if late else expected)


def inside(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether a box, lows before highs, lies inside another."""
    half = len(box) // 2
    return all(a >= b for a, b in zip(box[:half], other[:half], strict=True)) and all(
        a <= b for a, b in zip(box[half:], other[half:], strict=True)
    )


def length(node: int, parents: list[int], places: list[list[float]]) -> float:
    """The length of the path from the publisher to a broker."""
    if parents[node] < 0:
        return 0.0
    return length(parents[node], parents, places) + dist(places[node], places[parents[node]])
