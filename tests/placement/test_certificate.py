from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.instances import drawn
from thatch.placement import Delays, Status, solve, verify


@pytest.fixture(scope="module")
def placement():
    return solve(drawn(3, several=True, inner=2), "gr_star")


def _with_filter(placement, node, boxes):
    filters = list(placement.filters)
    filters[node] = boxes
    return replace(placement, filters=tuple(filters))


def test_an_answer_is_certified(placement):
    certificate = verify(placement)
    assert certificate.is_valid
    assert certificate.status is placement.status
    assert certificate.bandwidth == pytest.approx(placement.bandwidth)


def test_an_interest_outside_the_filter_of_its_leaf_is_found(placement):
    leaf = int(placement.assignment[0])
    smaller = placement.filters[leaf].copy()
    smaller[:, 0] += 0.05
    faults = verify(_with_filter(placement, leaf, smaller)).faults
    assert any("interests lie outside the filter of" in fault for fault in faults)


def test_a_child_outside_its_parent_is_found(placement):
    smaller = placement.filters[1].copy()
    smaller[:, 0] += 0.05
    assert any(
        "lie outside the filter of node 1" in each
        for each in verify(_with_filter(placement, 1, smaller)).faults
    )


def test_a_filter_with_too_many_boxes_is_found(placement):
    more = np.repeat(placement.filters[1], 3, axis=0)
    assert "has 6 boxes, more than 2" in verify(_with_filter(placement, 1, more)).faults[0]


def test_a_filter_of_one_box_too_many_is_found(placement):
    leaf = int(placement.assignment[0])
    most = int(placement.problem.complexities[leaf])
    more = np.repeat(placement.filters[leaf][:1], most + 1, axis=0)
    fault = f"has {most + 1} boxes, more than {most}"
    assert fault in verify(_with_filter(placement, leaf, more)).faults[0]
    exactly = np.resize(placement.filters[leaf], (most, placement.filters[leaf].shape[1]))
    assert verify(_with_filter(placement, leaf, exactly)).is_valid


def test_a_filter_of_the_publisher_is_found(placement):
    assert verify(_with_filter(placement, 0, placement.filters[1])).faults == ("the publisher has a filter",)


def test_a_box_turned_inside_out_is_found(placement):
    turned = placement.filters[1][:, [2, 3, 0, 1]]
    assert "low end above a high end" in verify(_with_filter(placement, 1, turned)).faults[0]


def test_a_box_that_is_not_finite_is_found(placement):
    assert (
        "not an array of boxes" in verify(_with_filter(placement, 1, placement.filters[1] * np.nan)).faults[0]
    )


def test_a_wrong_bandwidth_is_found(placement):
    doctored = replace(placement, bandwidth=placement.bandwidth * 0.99)
    assert "bandwidth is" in verify(doctored).faults[0]


def test_wrong_loads_are_found(placement):
    doctored = replace(placement, loads=placement.loads + 1, load_factor=1.0)
    assert [each.split(" ")[0] for each in verify(doctored).faults] == ["loads", "the"]


def test_figures_that_are_off_by_a_millionth_are_found(placement):
    for share in (1 - 1e-6, 1 + 1e-6):
        assert "bandwidth is" in verify(replace(placement, bandwidth=placement.bandwidth * share)).faults[0]
        doctored = replace(placement, load_factor=placement.load_factor * share)
        assert "the load factor is" in verify(doctored).faults[0]


def test_limits_that_are_broken_by_very_little_are_found(placement):
    problem, leaf = placement.problem, int(placement.assignment[0])
    ends = placement.filters[leaf].shape[1]
    for end in range(ends):
        smaller = placement.filters[leaf].copy()
        smaller[:, end] += 1e-7 if end < ends // 2 else -1e-7
        assert "lie outside the filter of" in verify(_with_filter(placement, leaf, smaller)).faults[0]
    nearer = replace(problem, limits=problem.distances(placement.served_by) * (1 - 1e-6))
    late = verify(replace(placement, problem=nearer))
    assert late.status is Status.INFEASIBLE
    assert late.faults[0] == f"{problem.subscribers} paths are too long, not 0"
    worst = int((placement.loads / problem.shares).argmax())
    below = (placement.loads[worst] - 0.5) / (problem.shares[worst] * problem.subscribers)
    fuller = verify(replace(placement, problem=replace(problem, beta=below - 0.01, beta_max=below)))
    assert fuller.status is Status.INFEASIBLE


def test_a_load_reported_for_another_leaf_is_found(placement):
    moved = placement.loads.copy()
    most, least = int(moved.argmax()), int(moved.argmin())
    moved[[most, least]] = moved[[least, most]]  # the sum and the largest are the same
    assert verify(replace(placement, loads=moved)).faults == ("loads do not match the assignment",)


def test_leaves_that_serve_nobody_are_checked_too():
    problem = drawn(3, subscribers=4, leaves=8, inner=2, max_delay=9.0, beta=3.0, beta_max=9.0)
    placement = solve(problem, "gr_star")
    assert (placement.loads == 0).any()
    assert verify(placement).is_valid
    assert not verify(replace(placement, loads=placement.loads[placement.loads > 0])).is_valid
    unused = int(problem.tree.leaves[placement.loads.argmin()])
    everything = np.array([[0.0, 0.0, 1.0, 1.0]])
    more = _with_filter(placement, unused, everything)
    faults = verify(replace(more, bandwidth=placement.bandwidth + 1)).faults
    assert any(f"boxes of {problem.tree.names[unused]} lie outside" in fault for fault in faults)


@pytest.mark.parametrize("status", [Status.FEASIBLE, Status.OVER_BETA])
def test_loads_above_what_is_allowed_cannot_be_called_anything_else(status):
    problem = replace(drawn(3, subscribers=60, leaves=4, max_delay=9.0), beta=1.2, beta_max=1.3)
    placement = solve(problem, "closest_without_balance")
    assert placement.load_factor > problem.beta_max
    assert placement.status is Status.INFEASIBLE
    certificate = verify(replace(placement, status=status))
    assert not certificate.is_valid
    assert certificate.faults == (f"the status is infeasible, not {status.value}",)


def test_hidden_delays_are_found():
    placement = solve(drawn(3, inner=2), "gr_without_latency")
    assert placement.status is Status.INFEASIBLE
    doctored = replace(placement, delays=Delays(0.0, 0.0, 0), status=Status.FEASIBLE)
    assert len(verify(doctored).faults) == 2


def test_a_subscriber_at_an_inner_broker_is_found(placement):
    assignment = placement.assignment.copy()
    assignment[0] = 1
    assert verify(replace(placement, assignment=assignment)).faults == (
        "a subscriber is assigned to a node that is not a leaf",
    )


def test_a_missing_subscriber_or_filter_is_found(placement):
    assert "subscribers, but" in verify(replace(placement, assignment=placement.assignment[1:])).faults[0]
    assert "nodes, but" in verify(replace(placement, filters=placement.filters[1:])).faults[0]
