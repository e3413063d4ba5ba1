"""Why limits cannot be kept, and the least that must give."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.placement.instances import drawn
from tests.placement.subscribers import homes, sites
from tests.placement.test_flow import most_served
from thatch import parse
from thatch.placement import (
    PlacementOptions,
    PlacementProblem,
    Status,
    SubscriptionList,
    find_shortage,
    least_relaxations,
    place,
    solve,
)


def is_possible(problem: PlacementProblem, limits, factor: float) -> bool:
    """Whether everybody can be served, by a definition that shares no code with the flow."""
    near = problem.leaf_distances(problem.locations) <= limits[:, None] * (1 + 1e-9)
    room = np.floor(factor * problem.shares * problem.subscribers + 1e-9).astype(int)
    return most_served(np.ones(problem.subscribers, int), near, room) == problem.subscribers


def least(values, is_enough) -> float:
    return min(value for value in values if is_enough(value))


@examples(25)
@given(st.integers(0, 10_000), st.integers(4, 14), st.integers(2, 4), st.sampled_from([0.0, 0.1, 0.5]))
def test_the_least_that_must_give_is_that_of_an_independent_search(seed, subscribers, leaves, delay):
    problem = drawn(seed, subscribers=subscribers, leaves=leaves, max_delay=delay, beta=1.01, beta_max=1.3)
    shortage = find_shortage(problem)
    assert (shortage is None) == is_possible(problem, problem.limits, problem.beta_max)
    if shortage is None:
        assert solve(problem, "balance").status is not Status.INFEASIBLE
        return
    assert shortage.subscribers > shortage.room
    served = {problem.tree.names.index(each) for each in shortage.brokers}
    others = [leaf not in served for leaf in problem.tree.leaves.tolist()]
    near = problem.leaf_distances(problem.locations) <= problem.limits[:, None] * (1 + 1e-9)
    assert (~near[:, others]).all(axis=1).sum() >= shortage.subscribers
    found = {each.parameter: each for each in least_relaxations(problem)}
    loads = [load / share / subscribers for share in problem.shares for load in range(1, subscribers + 1)]
    exact = least(loads, lambda factor: is_possible(problem, problem.limits, factor))
    assert found["beta_max"].too_little < exact <= found["beta_max"].enough * (1 + 1e-9)
    assert found["beta_max"].enough <= exact * 1.002
    ratios = problem.leaf_distances(problem.locations) / problem.limits[:, None]
    if not is_possible(problem, np.full(subscribers, 1e9), problem.beta_max):
        assert set(found) == {"beta_max"}
        return
    exact = least(
        ratios.ravel().tolist(), lambda times: is_possible(problem, problem.limits * times, problem.beta_max)
    )
    relaxed = found["max_delay"]
    assert relaxed.given == pytest.approx(delay)
    assert 1 + relaxed.too_little <= exact * (1 + delay) * (1 + 1e-9)
    assert exact * (1 + delay) <= (1 + relaxed.enough) * (1 + 1e-9) <= exact * (1 + delay) * 1.002


def crowd(count: int = 3_000):
    rows = [(f"s{number}", parse(f"price = {number % 7}")) for number in range(count)]
    return SubscriptionList(rows), homes([f"s{number}" for number in range(count)], np.full(count, 3.0))


def test_a_crowd_at_one_broker_is_named_with_the_room_there_is_and_what_would_be_enough():
    subscriptions, places = crowd()
    near = PlacementOptions(algorithm="gr_star", max_delay=0.1, latency="last_hop")
    certificate = place(subscriptions, sites(), places, near).certificate
    assert certificate.status is Status.INFEASIBLE
    assert certificate.reasons[:2] == (
        "'b3' serves 3,000 subscribers, 1,650 more than it may (1,350)",
        (
            "3,000 subscribers can reach only 'b3' within their limits, and it has room for 1,350: "
            "1,650 too many, whatever the placement"
        ),
    )
    assert certificate.reasons[2].startswith(
        "possible with beta_max of 4 instead of 1.8 (proved impossible at 3.999"
    )
    assert certificate.reasons[3].startswith(
        "possible with limits that are longer by 4 (proved impossible at 3.99"
    )
    assert len(certificate.reasons) == 4
    for each in certificate.relaxations[:1]:  # by the command's own parameter
        more = replace(near, algorithm="balance", beta_max=each.enough)
        assert place(subscriptions, sites(), places, more).statistics["status"] != "infeasible"
        less = replace(near, algorithm="balance", beta_max=each.too_little)
        assert place(subscriptions, sites(), places, less).statistics["status"] == "infeasible"


def test_paths_that_are_too_long_are_named_by_broker_with_the_worst_of_them():
    rows = [(name, parse("price < 5")) for name in "abcd"]
    places = homes("abcd", [-3.0, -3.0, -3.0, 3.0])
    options = PlacementOptions(algorithm="closest", max_delay=0.1, latency="last_hop", beta_max=1.6)
    certificate = place(SubscriptionList(rows), sites(), places, options).certificate
    late = [each for each in certificate.broken if each.limit == "latency"]
    assert sum(each.subscribers for each in late) == 2
    assert {each.broker for each in late} == {"b1", "b2"}
    assert str(late[0]).startswith("the paths through 'b1' are too long for 1 subscriber, by most for '")
    assert late[0].excess == pytest.approx(2.0)


def test_a_placement_that_exists_but_was_not_found_is_said_to_exist():
    rows = [(name, parse("price < 5")) for name in "ab"]
    places = homes("ab", [0.0, 0.0])
    options = PlacementOptions(
        algorithm="closest_without_balance", max_delay=3.0, latency="last_hop", beta=1.4, beta_max=1.5
    )
    certificate = place(SubscriptionList(rows), sites(leaves=2), places, options).certificate
    assert certificate.is_possible
    assert certificate.shortage is None
    assert (
        certificate.reasons[-1]
        == "a placement within all limits exists: the algorithms balance and best find one"
    )


def test_without_scipy_an_infeasible_plan_still_names_the_limits_it_breaks(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse.csgraph", None)
    subscriptions, places = crowd(40)
    near = PlacementOptions(algorithm="gr_star", max_delay=0.1, latency="last_hop")
    certificate = place(subscriptions, sites(), places, near).certificate
    assert certificate.is_possible is None
    assert certificate.reasons == ("'b3' serves 40 subscribers, 22 more than it may (18)",)
