"""From subscriptions, homes and a broker tree to a plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.placement.instances import drawn
from tests.placement.subscribers import homes, log, people, sites
from thatch import parse
from thatch.errors import ParameterError
from thatch.model.profile import Profile
from thatch.model.topology import Link, Topology
from thatch.placement import (
    BrokerTree,
    Homes,
    PlacementOptions,
    PlacementPlan,
    SubscriptionList,
    place,
    verify,
)
from thatch.placement.filters import refit
from thatch.placement.sites import latency_locations, tree_parents
from thatch.placement.solving import solve


def check_that_events_arrive(plan: PlacementPlan, rows, events) -> None:
    """Whatever a subscription wants passes every broker on the way."""
    for who, filter in rows:
        node = plan.tree.names.index(plan.broker_of(who))
        while node != plan.tree.root:
            asked = plan.filters[node]
            assert asked is not None
            assert all(asked.matches(event) for event in events if filter.matches(event))
            node = int(plan.tree.parents[node])


@examples(15)
@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(0, 2), st.booleans())
def test_what_subscribers_want_reaches_them_through_every_filter(seed, subscribers, inner, has_profile):
    rows, places = people(seed, subscribers)
    events = log(seed)
    profile = Profile.of(events) if has_profile else None
    wanted = PlacementOptions(algorithm="gr_star", beta=2.0, beta_max=9.0, max_delay=5.0)
    plan = place(SubscriptionList(rows), sites(inner), places, wanted, profile=profile)
    assert plan.certificate.is_valid
    assert plan.loads.sum() == subscribers
    check_that_events_arrive(plan, rows, events)


def test_bandwidth_is_the_share_of_events_that_filters_let_through():
    rows = [(f"s{number}", parse(f"price < {10 * (1 + number % 2)}")) for number in range(8)]
    events = [{"price": number} for number in range(100)]
    plan = place(
        SubscriptionList(rows),
        sites(leaves=1),
        homes([f"s{number}" for number in range(8)], np.zeros(8)),
        PlacementOptions(algorithm="gr_star"),
        profile=Profile.of(events),
    )
    assert str(plan.filters[1]) == "price < 20"
    assert plan.statistics["bandwidth"] == pytest.approx(0.2, abs=0.01)
    assert plan.statistics["rigorous_bound"] == pytest.approx(0.2, abs=0.01)
    assert [each["algorithm"] for each in plan.yardsticks] == ["closest_without_balance", "closest"]


def test_a_subscriber_with_several_filters_is_served_all_of_them_by_one_broker():
    rows = [("a", parse("price < 5")), ("b", parse("price > 90")), ("a", parse("symbol = 'T'"))]
    plan = place(
        SubscriptionList(rows),
        sites(),
        homes("ab", [0.0, 0.0]),
        PlacementOptions(algorithm="gr_star", max_delay=9.0),
    )
    assert plan.subscribers == ("a", "b")
    asked = plan.filters[plan.tree.names.index(plan.broker_of("a"))]
    assert asked.covers(parse("price < 5"))
    assert asked.covers(parse("symbol = 'T'"))
    with pytest.raises(KeyError):
        plan.broker_of("c")


def test_limits_of_single_subscribers_count_beside_the_delay_of_all():
    rows = [(name, parse("price < 5")) for name in "abcd"]
    places = homes("abcd", [2.5, 2.5, 2.5, 2.5], np.array([3.6, np.nan, np.nan, np.nan]))
    wanted = PlacementOptions(algorithm="gr_star", max_delay=0.0, latency="last_hop", beta=4.5, beta_max=5.0)
    plan = place(SubscriptionList(rows), sites(), places, wanted)
    assert plan.distances.tolist() == pytest.approx([0.5] * 4)
    assert plan.delays.max() == 0.0


def test_limits_that_no_leaf_can_meet_are_named_with_how_much_is_missing():
    rows = [(f"s{number}", parse("price < 5")) for number in range(8)]
    places = homes([f"s{number}" for number in range(8)], np.full(8, 2.5), np.full(8, 0.25))
    with pytest.raises(ParameterError, match=r"'s0' \(by 2\.25\), 's1' .* and 3 more - at limits"):
        place(SubscriptionList(rows), sites(), places)


def test_subscribers_without_a_location_are_named():
    rows = [(name, parse("price < 5")) for name in "abcdefgh"]
    with pytest.raises(
        ParameterError, match=r"No location for subscriber 'b', 'c', 'd', 'e', 'f' and 2 more - at"
    ):
        place(SubscriptionList(rows), sites(), homes("a", [0.0]))


def test_no_subscriptions_are_refused():
    with pytest.raises(ParameterError, match="There are no subscribers to place"):
        place(SubscriptionList([]), sites(), homes("a", [0.0]))


def test_very_many_subscribers_at_one_point_get_the_best_answer_with_its_status():
    rows = [(f"s{number}", parse(f"price = {number % 7}")) for number in range(3_000)]
    places = homes([f"s{number}" for number in range(3_000)], np.full(3_000, 3.0))
    near = PlacementOptions(algorithm="gr_star", max_delay=0.1, latency="last_hop")
    plan = place(SubscriptionList(rows), sites(), places, near)
    assert plan.statistics["status"] == "infeasible"  # one broker is near, and would have all of them
    assert plan.statistics["broken_limits"] == 0
    assert plan.loads.tolist() == [0, 0, 0, 3_000]
    roomy = place(
        SubscriptionList(rows), sites(), places, PlacementOptions(algorithm="gr_star", max_delay=3.0)
    )
    assert roomy.statistics["status"] == "feasible"


def test_the_best_so_far_is_reported_beside_its_bounds_until_time_is_over():
    rows, places = people(5, 40)
    heard: list[str] = []
    ticks = iter(range(10**6))
    wanted = PlacementOptions(algorithm="best", max_delay=3.0, limit=4.0)
    plan = place(
        SubscriptionList(rows), sites(), places, wanted, now=lambda: next(ticks), on_progress=heard.append
    )
    best = [each for each in heard if " by gr_star" in each]
    assert best
    assert all("at the very least" in each for each in best)
    assert not any("slp" in each for each in heard)
    assert plan.statistics["status"] == "feasible"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"algorithm": "magic"}, "one of best, gr"),
        ({"beta": 1.8, "beta_max": 1.8}, "1 < beta < beta_max"),
        ({"beta": float("nan")}, "1 < beta < beta_max"),
        ({"max_delay": -0.1}, "a delay from 0"),
        ({"latency": "air"}, '"path" or "last_hop"'),
        ({"limit": 5.0}, 'seconds from 0, with the algorithm "best"'),
        ({"limit": -1.0, "algorithm": "best"}, "seconds from 0"),
    ],
)
def test_invalid_options_are_refused_before_anything_is_read(wrong, message):
    with pytest.raises(ParameterError, match=message):
        PlacementOptions(**wrong)


@examples(10)
@given(st.integers(0, 10_000), st.booleans())
def test_filters_fitted_anew_are_valid_and_never_larger(seed, has_levels):
    problem = drawn(seed, inner=2 if has_levels else 0, several=True, complexity=2)
    placement = solve(problem, "gr", seed=seed)
    again = refit(placement)
    assert again.bandwidth <= placement.bandwidth
    assert (again.assignment == placement.assignment).all()
    assert verify(again).is_valid


def test_candidates_are_found_once_for_each_problem():
    problem = drawn(3)
    sets = problem.candidate_sets()
    assert problem.candidate_sets() is sets
    nearer = replace(problem, limits=problem.shortest).candidate_sets()
    assert nearer.matrix[nearer.of].sum() == problem.subscribers
    assert sets.matrix[sets.of].sum() > problem.subscribers


def test_links_with_latencies_stand_for_locations():
    links = (Link(one="a", other="b", latency=3.0), Link(one="b", other="c", latency=4.0))
    topology = Topology(("a", "b", "c"), links)
    points = latency_locations(topology)
    tree = BrokerTree.of(np.array(tree_parents(topology, "a")), points, topology.brokers)
    assert tree.distances.tolist() == pytest.approx([0.0, 3.0, 7.0])
    assert np.linalg.norm(points[0] - points[2]) == pytest.approx(5.0)
    at = Homes.at_brokers({"x": "c", "y": "a"}, tree)
    assert at.points.tolist() == points[[2, 0]].tolist()
    with pytest.raises(ParameterError, match="a broker of the tree"):
        Homes.at_brokers({"x": "z"}, tree)
