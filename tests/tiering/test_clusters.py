"""Clusters: what their members have in common, how much they share, who has the lowest priority."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thatch import Filter, parse
from thatch.model.profile import Profile
from thatch.model.selectivity import Selectivity
from thatch.tiering import clusters
from thatch.tiering.access import AccessKeys
from thatch.tiering.clusters import Clusters, TierCluster, predicates_of

TEXTS = ["x = 1 and y < 3", "x = 1 and y < 4", "x = 1", "y < 3 or z = 'a'", "z like '%b%c%' and y < 3"]


def commonality(filters: list[Filter]) -> tuple[int, int]:
    """How many unique predicates filters have, and how many in all (commonality, section 5.2)."""
    conjunctions = [conjunction for each in filters for conjunction in each.conjunctions]
    every = [each for one in conjunctions for each in (*one.constraints, *one.residuals)]
    return len(set(every)), len(every)


@examples(50)
@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.booleans()), min_size=1, max_size=12))
def test_counts_are_those_of_the_definition_whoever_comes_and_goes(changes):
    cluster, members = TierCluster(0, "k"), []
    for text, comes in changes:
        filter = parse(text)
        if comes:
            members.append(filter)
            cluster.learn(predicates_of(filter))
        elif filter in members:
            members.remove(filter)
            cluster.unlearn(predicates_of(filter))
        nodes, total = commonality(members)
        assert (cluster.nodes, cluster.predicates) == (nodes, total)
        assert cluster.record().ratio == (nodes / total if total else 1)
        assert cluster.record().weighted == pytest.approx(nodes * cluster.record().ratio)


def test_the_ratio_is_one_without_sharing_and_small_with_much():
    apart, alike = TierCluster(0, "apart"), TierCluster(1, "alike")
    for number in range(10):
        apart.learn(predicates_of(parse(f"x = {number} and y < {number}")))
        alike.learn(predicates_of(parse("x = 1 and y < 5")))
    counted = [(each.ratio, each.nodes, each.weighted) for each in (apart.record(), alike.record())]
    assert counted == [(1, 20, 20), (0.1, 2, pytest.approx(0.2))]


def test_large_clusters_that_share_little_have_the_lowest_priority():
    every = Clusters()
    for key, size, is_shared in (("small", 3, False), ("large", 30, False), ("shared", 30, True)):
        cluster = every.home(key)
        for number in range(size):
            every.count(cluster, 1)
            cluster.learn(predicates_of(parse(f"x = {0 if is_shared else number}")))
    assert [each.key for each in every.by_priority(is_cold=False)] == ["large", "small", "shared"]
    assert every.members == 63


def test_a_moved_cluster_keeps_its_counts_and_takes_new_members_as_unshared():
    cluster = TierCluster(0, "k")
    for _ in range(4):
        cluster.learn(predicates_of(parse("x = 1 and y < 5")))
    held = cluster.nbytes()
    cluster.go(is_cold=True)
    assert (cluster.nodes, cluster.predicates) == (2, 8)
    assert cluster.nbytes() < held
    cluster.learn(predicates_of(parse("x = 1")))
    assert (cluster.nodes, cluster.predicates) == (3, 9)
    assert TierCluster.of(cluster.record()).record() == cluster.record()


def test_a_full_cluster_is_followed_by_another_and_a_cold_key_stays_cold_for_new_members(monkeypatch):
    monkeypatch.setattr(clusters, "LARGEST", 2)
    every = Clusters()

    def joined() -> tuple[int, bool]:
        home = every.home("k")
        every.count(home, 1)
        return home.number, home.is_cold

    assert [joined() for _ in range(3)] == [(0, False), (0, False), (1, False)]
    every.go(every[0], is_cold=True)
    assert [joined() for _ in range(3)] == [(2, True), (2, True), (3, True)]
    every.go(every[2], is_cold=False)
    assert joined() == (3, True)
    every.go(every[3], is_cold=False)
    every.count(every[0], -2)
    assert joined()[1] is False


def test_small_cold_clusters_become_part_of_wider_ones_and_new_members_follow():
    every = Clusters()
    for key in ("x = 1", "x = 2", "y, z"):
        cluster = every.home(key)
        every.count(cluster, 3)
        cluster.learn(predicates_of(parse("x = 1 and y < 5")))
        every.go(cluster, is_cold=True)
    some = every.smallest(9, depth=2)
    assert [each.key for each in some] == ["x = 1", "x = 2"]
    into = {every.fold(each) for each in some}
    assert [(each.key, each.members, each.predicates, each.is_cold) for each in into] == [
        ("x = any", 6, 4, True)
    ]
    assert (len(every), every.cold, every.members) == (2, 2, 9)
    assert every.home("x = 3") in into
    assert every.home("y, z").is_cold
    assert not every.home("w").is_cold
    for each in every.smallest(9, depth=1):
        assert every.fold(each).key == "any"
    assert every.home("v = 1").key == "any"


# --- what members have in common ---------------------------------------------------------------------------------------


def test_the_key_is_an_equality_once_two_hold_it_else_the_attributes():
    keys = AccessKeys(100)
    assert keys.key(parse("x = 1 and y < 3")) == "x, y"
    assert keys.key(parse("x = 1 and z < 3")) == "x = 1"
    assert keys.key(parse("x = 2 and z < 3")) == "x, z"
    assert keys.key(parse("x = 1 and z > 3 or x = 1 and y = 4")) == "x = 1"
    assert keys.key(parse("x = 1 or y = 4")) == "x, y"
    assert keys.key(parse("x is missing")) == keys.key(parse("x is missing")) == "x"


def test_the_rarest_of_several_equalities_is_taken_or_what_events_tell():
    sales = Selectivity(Profile.of([{"side": "sell", "symbol": "IBM"}]))
    for selectivity, expected in ((None, "symbol = 'IBM'"), (sales, "side = 'buy'")):
        keys = AccessKeys(100, selectivity)
        for symbol in ("A", "B", "C", "IBM", "IBM"):
            last = keys.key(parse(f"side = 'buy' and symbol = '{symbol}'"))
        assert last == expected


def test_values_that_never_come_again_take_no_memory():
    keys = AccessKeys(64)
    for number in range(2_000):
        keys.key(parse("common = 1 and x < 3"))
        assert keys.key(parse(f"x = {number}")) == "x"
    assert keys.nbytes() <= 64 * 104
    assert keys.key(parse("common = 1 and y < 3")) == "common = 1"
