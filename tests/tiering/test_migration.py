"""Moving clusters between the tiers: what the database refuses stays in memory and blocks nobody; folds that fail."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

from tests.tiering.tiers import SMALL, Frail, TightTier
from thatch.errors import StoreError
from thatch.tiering import PlainColdTier, TieredEngine, migration

EVENT = {"x": 50, "y": 60, "odd": 1, "kind": list("abcdefghij")}


class Picky(PlainColdTier):
    """A database that cannot store the boxes of some subscriptions."""

    is_picky = True

    def put(self, many, clusters):
        self._look_at([each for each, home in many if home.is_cold])
        super().put(many, clusters)

    def move(self, record, members):
        if record.is_cold:
            self._look_at(members)
        super().move(record, members)

    def _look_at(self, some):
        if self.is_picky and any("odd" in each.text for each in some):
            raise StoreError("what can be indexed", "odd")


def engine_of(cold) -> TieredEngine:
    return TieredEngine(cold, budget=SMALL, fast=TightTier())


def flooded(engine: TieredEngine) -> list[str]:
    """Five subscriptions that the database refuses, then twenty that it takes; the ids of all."""
    for number in range(5):
        engine.subscribe(f"odd{number}", f"odd < {10 + number} and x < {100 + number} and y > {number}")
    for number in range(20):
        engine.subscribe(f"s{number}", f"x >= {number} and y < {100 + number}")
    return [*(f"odd{number}" for number in range(5)), *(f"s{number}" for number in range(20))]


def test_a_cluster_that_the_database_refuses_stays_in_memory_and_the_others_go_on():
    cold = Picky()
    engine = engine_of(cold)
    with pytest.warns(
        UserWarning, match="5 subscriptions stay in memory: .* refuses their cluster, 'odd, x, y'"
    ):
        everyone = flooded(engine)
    assert sorted(engine.match(EVENT)) == sorted(everyone)
    assert {each for each in everyone if each.startswith("odd")} <= set(engine.answer(EVENT).fast)
    stats = engine.stats()
    assert stats["refused_clusters"] == 1
    assert stats["moves_out"] >= 1
    assert stats["bytes"] <= SMALL.high_mark
    assert sorted(engine_of(cold).match(EVENT)) == sorted(everyone)


def test_a_refused_cluster_is_tried_again_once_tiers_were_balanced():
    cold = Picky()
    engine = engine_of(cold)
    with pytest.warns(UserWarning, match="refuses"):
        everyone = flooded(engine)
    cold.is_picky = False
    engine.rebalance()
    assert engine.stats()["refused_clusters"] == 0
    for number in range(7):
        engine.subscribe(f"t{number}", f"lonely{number} >= 0")
    assert any(home.is_cold for _, home in cold.find(["odd0"]).values())
    assert sorted(engine.match(EVENT)) == sorted(everyone)


def test_a_refused_cluster_without_members_is_no_longer_counted():
    engine = engine_of(Picky())
    with pytest.warns(UserWarning, match="refuses"):
        flooded(engine)
    for number in range(5):
        engine.unsubscribe(f"odd{number}")
    assert engine.stats()["refused_clusters"] == 0


def test_rows_of_a_table_that_the_database_refuses_are_refused_alone():
    engine = engine_of(Picky())
    for number in range(4):
        engine.subscribe(f"s{number}", f"x >= {number} and y < 100")
    for cluster in list(engine._clusters):
        engine._migration._move(cluster)
    texts = [
        f"x = 'odd' or y >= {number}" if number % 5 == 2 else f"x >= {number} and y < 99"
        for number in range(10)
    ]
    rejects = engine.subscribe_many(pa.table({"subscription": [f"t{n}" for n in range(10)], "filter": texts}))
    assert rejects["row"].to_pylist() == [2, 7]
    assert "indexed" in rejects["reason"][0].as_py()
    assert sorted(engine) == sorted([f"s{n}" for n in range(4)] + [f"t{n}" for n in range(10) if n % 5 != 2])


def test_a_database_that_is_away_refuses_nothing():
    cold = Frail(PlainColdTier())
    engine = engine_of(cold)
    flooded(engine)
    cluster = next(iter(engine._clusters))
    cold.fuse = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(StoreError):
            engine._migration._move(cluster)
    assert engine.stats()["refused_clusters"] == 0


def test_a_database_that_takes_no_changes_at_all_refuses_no_cluster():
    class Locked(PlainColdTier):
        is_locked = False

        def move(self, record, members):
            self.remove([])
            super().move(record, members)

        def remove(self, identities):
            if self.is_locked:
                raise StoreError("a lock", "none")
            super().remove(identities)

    cold = Locked()
    engine = engine_of(cold)
    engine.subscribe("a", "x >= 0")
    cold.is_locked = True
    with pytest.raises(StoreError, match="lock"):
        engine._migration._move(next(iter(engine._clusters)))
    assert engine.stats()["refused_clusters"] == 0


def test_those_that_share_most_come_back_first_and_only_below_the_low_mark():
    engine = engine_of(PlainColdTier())
    for number in range(4):
        engine.subscribe(f"shared{number}", "kind = 'a' and x >= 0 and y < 100")
        engine.subscribe(f"apart{number}", f"z = 1 and x >= {number} and y < {100 + number}")
    for cluster in list(engine._clusters):
        engine._migration._move(cluster)
    assert engine.stats()["fast"] == 0
    engine.rebalance()
    assert engine.nbytes() <= SMALL.low_mark
    fast = engine.answer({"kind": "a", "z": 1, "x": 50, "y": 60}).fast
    assert {"shared1", "shared2", "shared3"} <= set(fast)  # the first of each kind is a cluster of its own
    assert "apart1" not in fast


@pytest.mark.parametrize("is_done", [False, True])
def test_clusters_whose_folding_failed_are_read_again(monkeypatch, is_done):
    monkeypatch.setattr(migration, "_SHARE", 1_000)  # there is room for one cold cluster
    cold = Frail(PlainColdTier())
    folding = cold.cold.fold
    failures = []

    def fold(folds):
        if is_done or not folds:
            folding(folds)
        if folds:
            failures.append(folds)
            raise StoreError("a database", "none", "fold")

    cold.cold.fold = fold
    engine = engine_of(cold)
    known = []
    while not failures:
        number = len(known)
        known.append(f"s{number}")
        try:
            engine.subscribe(known[-1], f"x >= 0 and kind{number % 5} = 1 and y < {100 + number}")
        except StoreError:
            known.pop()
    cold.cold.fold = folding
    assert set(engine.match({"x": 1, "y": 0} | {f"kind{number}": 1 for number in range(5)})) == set(known)
    counted = {each.number: each.members for each in cold.cold.clusters() if each.members}
    assert {each.number: each.members for each in engine.clusters()} == counted
    for each in known:
        engine.unsubscribe(each)
    assert len(engine) == 0
