"""Experiments on networks of brokers, in quick size: what must hold in each of them, and the shapes that they show."""

from __future__ import annotations

import pytest

from thatch.errors import ParameterError
from thatch.experiments.overlay.hops import HOPS
from thatch.experiments.overlay.losses import LOSSES
from thatch.experiments.overlay.network import MESSAGES, PUBLICATIONS, TABLES
from thatch.experiments.overlay.setting import SHAPES, WAYS, routing_of, topology_of
from thatch.experiments.running import run_trial
from thatch.experiments.trials import random_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("papers")]


def test_flooding_sends_every_subscription_once_over_every_link(ran):
    results = ran(MESSAGES)
    for brokers in (2, 8):
        flooded = results.values("messages", policy="flooding", brokers=brokers)
        assert set(flooded.tolist()) == {150 * (brokers - 1)}
    assert set(results.values("messages", policy="events").tolist()) == {0}


def test_groups_need_fewer_messages_than_pairs_and_pairs_fewer_than_flooding(ran):
    results = ran(MESSAGES)
    for shape in SHAPES[:2]:
        sent = [
            results.total("messages", shape=shape, policy=policy)
            for policy in ("exact", "pairwise", "flooding")
        ]
        assert sent == sorted(sent)
        assert sent[0] < 0.9 * sent[2]


def test_tables_shrink_as_messages_do(ran):
    results = ran(TABLES)
    tables = [results.mean("mean_table", policy=policy, brokers=8) for policy in ("exact", "pairwise")]
    assert tables[0] < tables[1] < 150 == results.mean("mean_table", policy="flooding")
    assert results.mean("mean_table", policy="events", brokers=8) == pytest.approx(150 / 8)


def test_no_exact_policy_loses_a_delivery_or_sends_an_event_needlessly(ran):
    results = ran(PUBLICATIONS)
    for policy in ("flooding", "pairwise", "exact"):
        assert results.total("lost", policy=policy) == results.total("superfluous", policy=policy) == 0
    assert results.total("lost", policy="events") == 0


def test_merging_loses_nothing_and_needs_smaller_tables_than_covering(ran):
    results = ran(TABLES)
    assert results.total("lost", policy="merging") == 0
    for shape in SHAPES[:2]:
        tables = [
            results.mean("mean_table", shape=shape, policy=policy, brokers=8)
            for policy in ("merging", "exact")
        ]
        assert tables[0] < 0.9 * tables[1]
    in_vain = results.total("superfluous", policy="merging")
    assert in_vain <= 0.05 * 20 * sum(
        results.values("brokers", policy="merging")
    )  # events times links times budget


def test_events_that_are_flooded_pass_every_link_and_others_only_those_that_they_must(ran):
    results = ran(PUBLICATIONS)
    assert set(results.values("publications", policy="events", brokers=8).tolist()) == {20 * 7}
    for shape in SHAPES[:2]:
        told = {
            policy: results.total("publications", shape=shape, policy=policy)
            for policy in ("flooding", "pairwise", "exact")
        }
        assert len(set(told.values())) == 1
        assert told["exact"] < results.total("publications", shape=shape, policy="events")


def test_what_begins_at_one_end_is_left_out_at_the_first_hop_and_nowhere_else(ran):
    results = ran(HOPS)
    for policy in ("pairwise", "exact"):
        shares = results.values("share", shape="line", source="one end", policy=policy)
        assert len(set(shares.tolist())) == 1
        assert shares[0] < 1


def test_what_begins_everywhere_is_left_out_at_later_hops_too(ran):
    results = ran(HOPS)
    for shape in ("line", "tree"):
        where = {"shape": shape, "source": "everywhere", "policy": "exact"}
        last = max(results.choices("hop", **where))
        assert results.mean("share", hop=last, **where) < results.mean("share", hop=1, **where) < 1


def test_shares_are_of_every_subscription_over_every_link(ran):
    results = ran(HOPS)
    for shape in ("line", "tree"):
        for source in ("everywhere", "one end"):
            assert results.total("flooded", shape=shape, source=source, policy="exact") == 150 * 7


def test_an_exact_chain_loses_nothing_and_a_probabilistic_one_not_more_than_the_bound(ran):
    results = ran(LOSSES)
    assert results.total("lost", policy="exact") == 0
    assert set(results.values("reached", policy="exact").tolist()) == {1.0}
    for brokers in (2, 6):
        where = {"policy": "probabilistic", "brokers": brokers}
        possible = results.total("possible", **where)
        bound = results.mean("bound", **where)
        noise = 3 * (bound * (1 - bound) / possible) ** 0.5
        assert 0 < bound < 1
        assert results.mean("lost_share", **where) <= bound + noise
    assert results.total("lost", policy="probabilistic") > 0


@pytest.mark.parametrize(
    "experiment", [MESSAGES, HOPS, TABLES, PUBLICATIONS, LOSSES], ids=lambda each: each.name
)
def test_a_trial_is_the_same_again(experiment):
    trial = next(iter(experiment.quick))
    first, second = (run_trial(experiment.simulation, trial) for _ in range(2))
    assert [_told(row) for row in first] == [_told(row) for row in second]
    assert "error" not in first[0]


def _told(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != "seconds"}


@pytest.mark.parametrize(
    "experiment", [MESSAGES, HOPS, TABLES, PUBLICATIONS, LOSSES], ids=lambda each: each.name
)
def test_every_line_of_a_comparison_has_a_figure(ran, experiment):
    lines = list(experiment.compare(ran(experiment)))
    assert lines
    assert any(line.ours is not None for line in lines)
    assert not any("NOT SO" in line.why for line in lines)


def test_shapes_have_as_many_brokers_as_are_asked_for():
    for shape in SHAPES:
        topology = topology_of(shape, 7, random_of(0))
        assert len(topology.brokers) == len(topology.links) + 1 == 7


def test_a_shape_or_a_policy_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="one of line, tree, random tree"):
        topology_of("ring", 3, random_of(0))
    with pytest.raises(ParameterError, match=", ".join(WAYS)):
        routing_of("guess")
