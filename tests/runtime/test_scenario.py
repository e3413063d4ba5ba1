"""Whole runs: subscribers and publishers at random brokers, and what they cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from thatch import parse
from thatch.broker.settings import Routing
from thatch.errors import ParameterError
from thatch.model.topology import Topology
from thatch.reduction.forwarding.policies import Exact, Flooding, NegativeSpace, Pairwise
from thatch.runtime.simulated import Faults
from thatch.runtime.simulated.scenario import Interest, Scenario, play

WAYS = ("advertisements", "subscriptions", "events")


def a_scenario(brokers: int = 7, subscriptions: int = 60, events: int = 40) -> Scenario:
    rng = np.random.default_rng(3)
    interests = []
    for number in range(subscriptions):
        low, width = rng.integers(0, 50), rng.integers(1, 20)
        filter = parse(f"x between {low} and {low + width} and y >= {rng.integers(0, 5)}")
        interests.append(Interest(f"s{number}", f"c{number % 20}", filter))
    made = [{"x": int(rng.integers(0, 70)), "y": int(rng.integers(0, 5))} for _ in range(events)]
    return Scenario(topology=Topology.tree(brokers), interests=interests, events=made, publishers=2, stages=5)


def reached(scenario: Scenario) -> set[tuple[int, str]]:
    """Which client wants which event, by the definition."""
    return {
        (number, each.subscriber)
        for number, event in enumerate(scenario.events)
        for each in scenario.interests
        if each.filter.matches(event)
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "policy", [Flooding(), Pairwise(), Exact(), NegativeSpace()], ids=lambda p: type(p).__name__
)
def test_every_safe_policy_delivers_all_that_is_wanted_in_every_way(way, policy):
    scenario = replace(a_scenario(), routing=Routing(way=way, policy=policy))
    played = play(scenario)
    assert (played.missed, played.refused) == (0, 0)
    assert len(played.records.deliveries) == len(reached(scenario)) == played.records.wanted > 0
    assert way == "events" or played.records.superfluous == 0


@pytest.mark.slow
def test_finer_policies_send_less_and_coarser_ways_send_more():
    def run(way, policy):
        return play(replace(a_scenario(), routing=Routing(way=way, policy=policy))).records

    flooding, pairwise, exact = (run("subscriptions", each) for each in (Flooding(), Pairwise(), Exact()))
    guided, events = run("advertisements", Exact()), run("events", Exact())
    counts = [each.by_kind()["subscribe"][0] for each in (flooding, pairwise, exact, guided)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 60 * 6
    assert counts[0] > counts[2]
    assert "subscribe" not in events.by_kind()
    assert events.publications_sent == 40 * 6
    assert flooding.publications_sent == exact.publications_sent == exact.needed


def test_faults_change_what_it_costs_and_nothing_else():
    scenario = a_scenario()
    calm, rough = play(scenario), play(replace(scenario, faults=Faults(loss=0.2, duplication=0.1)))
    assert rough.missed == 0
    assert len(rough.records.deliveries) == len(calm.records.deliveries)
    assert rough.records.lost > 0
    assert max(each.delay for each in rough.records.deliveries) > max(
        each.delay for each in calm.records.deliveries
    )


def test_growth_is_told_in_stages():
    told: list[int] = []
    played = play(a_scenario(), told.append)
    assert [stage.subscriptions for stage in played.growth] == [12, 24, 36, 48, 60]
    assert all(a.messages <= b.messages for a, b in zip(played.growth, played.growth[1:], strict=False))
    assert sum(told) == 100
    assert played.growth[-1].largest_table <= 60


def test_nothing_to_do_is_done():
    played = play(replace(a_scenario(), interests=(), events=()))
    assert (played.growth, played.missed, played.records.published) == ((), 0, 0)


def test_what_is_refused_is_counted():
    scenario = a_scenario()
    doubled = (*scenario.interests, Interest("s0", "c1", parse("x > 0")), Interest("", "c1", parse("x > 0")))
    assert play(replace(scenario, interests=doubled)).refused >= 1


@pytest.mark.parametrize("wrong", [{"publishers": 0}, {"stages": 0}, {"rate": 0.0}])
def test_numbers_are_checked(wrong):
    with pytest.raises(ParameterError):
        replace(a_scenario(), **wrong)
