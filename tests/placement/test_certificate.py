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
