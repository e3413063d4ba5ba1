"""Figures 3(a) to 3(c) of commonality, in quick size: the shapes that they show."""

from __future__ import annotations

import numpy as np
import pytest

from thatch.experiments.commonality import EXPERIMENTS
from thatch.experiments.commonality.expected import FIG3A, FIG3C
from thatch.experiments.commonality.matchers import cluster_filters, even_events
from thatch.experiments.commonality.measured import FIG3B
from thatch.planning import FilterSet

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]


def test_sharing_saves_most_where_selectivity_is_high_and_little_is_shared_so_far(ran):
    results = ran(FIG3A)
    for p in (0.5, 0.9, 1.0):
        costs = [results.mean("closed", p=p, shared=shared) for shared in range(0, 101, 5)]
        assert costs == sorted(costs, reverse=True)
    first = [
        results.mean("closed", p=p, shared=0) - results.mean("closed", p=p, shared=5) for p in (0.5, 0.9, 1)
    ]
    assert first == sorted(first)
    later = results.mean("closed", p=0.9, shared=50) - results.mean("closed", p=0.9, shared=55)
    assert later < first[1] / 100


def test_measured_costs_have_the_shape_of_expected_ones(ran):
    results = ran(FIG3B)
    for way in ("planned", "diagrams"):
        counted, expected = (results.values(name, way=way) for name in ("evaluations", "expected"))
        assert counted.astype(float) == pytest.approx(expected, rel=0.15)
    falling = [results.mean("evaluations", way="planned", p=1.0, shared=shared) for shared in (0, 10, 20)]
    assert falling == [30 * 20, 10 + 30 * 10, 20]


def test_all_ways_find_the_same_matches(ran):
    results = ran(FIG3B)
    for p in (0.5, 1.0):
        for shared in (0, 10, 20):
            told = {results.mean("matches", way=way, p=p, shared=shared) for way in results.choices("way")}
            assert len(told) == 1
    assert results.mean("matches", p=1.0) == 30


def test_a_link_group_has_an_apex_between_no_selectivity_and_full_selectivity(ran):
    results = ran(FIG3C)
    for size in (5, 20, 50):
        costs = results.values("closed", size=size)
        assert costs.max() > 1.2 * max(costs[0], costs[-1])
        assert (costs[0], costs[-1]) == (200, size)
    assert results.values("closed", size=1).argmax() == 0


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_every_line_of_a_comparison_has_a_figure(ran, experiment):
    lines = list(experiment.compare(ran(experiment)))
    assert all(line.ours for line in lines)
    assert not any("NOT SO" in line.ours for line in lines)


@pytest.mark.parametrize("p", [0.0, 0.4, 1.0])
def test_predicates_of_a_cluster_have_the_selectivity_that_was_asked_for_and_share_what_they_should(p):
    rng = np.random.default_rng(1)
    filters = cluster_filters(rng, members=5, size=6, shared=2, p=p)
    wanted = FilterSet({str(place): filter for place, filter in enumerate(filters)})
    assert len(wanted.predicates) == 2 + 5 * 4
    events = even_events(rng, 300, 6)
    shares = [np.mean([filter.matches(event) for event in events]) for filter in filters]
    assert shares == pytest.approx([p**6] * 5, abs=0.03)
