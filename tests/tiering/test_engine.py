"""The engine of two tiers: what moves when, what is answered meanwhile, and what happens when the database is away."""

from __future__ import annotations

from threading import Event, Thread

import pyarrow as pa
import pytest

from tests.tiering.tiers import SMALL, Frail, TightTier
from thatch.errors import ParameterError, StoreError, SubscriptionError, UnknownSubscriptionError
from thatch.stores import SqliteStore
from thatch.tiering import Budget, DiagramTier, PlainColdTier, SegmentTier, TieredEngine, migration


def engine_of(cold=None, **more) -> TieredEngine:
    return TieredEngine(cold or PlainColdTier(), budget=SMALL, fast=TightTier(), **more)


def fill(engine: TieredEngine, count: int, name: str = "u", *, shared: bool = False) -> None:
    """Subscriptions of one cluster that share all, or nothing."""
    for number in range(count):
        bound = 0 if shared else number
        engine.subscribe(f"{name}{number}", f"kind = '{name}' and x >= {bound} and y < {100 + bound}")


EVENT = {"kind": ["u", "v", "w"], "x": 50, "y": 60}


# --- moving ------------------------------------------------------------------------------------------------------------


def test_within_the_budget_everything_is_in_memory():
    engine = engine_of()
    fill(engine, 8)
    answer = engine.answer(EVENT)
    assert sorted(answer.fast) == [f"u{number}" for number in range(8)]
    assert answer.slow() == []
    assert engine.stats()["moves_out"] == 0


def test_above_the_high_mark_clusters_that_share_least_move_until_the_low_mark():
    moves = []
    engine = engine_of(moved=moves.append)
    fill(engine, 4, "v", shared=True)
    fill(engine, 8, "u")
    fast = engine.answer(EVENT).fast
    assert {each[0] for each in fast} <= {"v", "u"}
    assert {"v1", "v2", "v3"} <= set(fast)
    assert moves
    assert all(each.is_cold and each.key.startswith("kind = 'u'") for each in moves)
    assert engine.nbytes() <= SMALL.high_mark
    assert sorted(engine.match(EVENT)) == sorted([f"v{n}" for n in range(4)] + [f"u{n}" for n in range(8)])


def test_new_members_of_a_moved_cluster_go_straight_to_the_database():
    cold = PlainColdTier()
    engine = engine_of(cold)
    fill(engine, 20)
    before = engine.stats()
    engine.subscribe("late", "kind = 'u' and x >= 1 and y < 200")
    assert cold.find(["late"])["late"].home.is_cold
    assert engine.stats()["fast"] == before["fast"]
    assert "late" in engine.answer(EVENT).slow()


def test_clusters_come_back_when_there_is_room_those_that_share_most_first():
    engine = engine_of()
    fill(engine, 9, "w")
    fill(engine, 3, "v", shared=True)
    fill(engine, 12, "u")
    cold = {each.key for each in engine.clusters() if each.is_cold}
    assert any("'w'" in key or "'u'" in key for key in cold)
    for number in range(12):
        engine.unsubscribe(f"u{number}")
    for number in range(7):
        engine.unsubscribe(f"w{number}")
    engine.rebalance()
    assert engine.stats()["moves_back"] > 0
    assert engine.nbytes() <= SMALL.low_mark
    assert engine.answer(EVENT).slow() == []
    assert sorted(engine.match(EVENT)) == ["v0", "v1", "v2", "w7", "w8"]


def test_between_the_marks_nothing_moves_to_and_fro():
    engine = engine_of()
    fill(engine, 30)
    for number in range(30, 40):
        moves = engine.stats()["moves_out"], engine.stats()["moves_back"]
        engine.subscribe("in and out", f"lonely{number} = 1")
        engine.unsubscribe("in and out")
        engine.rebalance()
        assert (engine.stats()["moves_out"], engine.stats()["moves_back"]) == moves


def test_an_answer_taken_before_a_cluster_came_back_has_it_all_the_same():
    engine = engine_of()
    fill(engine, 12)
    answer = engine.answer(EVENT)
    for number in range(7):
        engine.unsubscribe(f"u{number}")
    engine.rebalance()
    assert engine.stats()["moves_back"]
    assert {f"u{number}" for number in range(7, 12)} <= set(answer)
    assert len(list(answer)) == len(set(answer))


def test_an_answer_that_begins_just_before_a_cluster_is_in_memory_has_it():
    answers = []

    class Late(SegmentTier):
        def put(self, many):
            if many:
                answers.append(engine.answer(EVENT))
            super().put(many)

    engine = TieredEngine(PlainColdTier(), budget=4_000_000, fast=Late())
    fill(engine, 3)
    for cluster in list(engine._clusters):
        engine._migration._move(cluster)
    answers.clear()
    engine.rebalance()
    assert engine.stats()["moves_back"] == len(answers) == 2
    assert [sorted(each) for each in answers] == [["u0", "u1", "u2"]] * 2


def test_answers_are_exact_in_every_thread_while_clusters_go_and_come_back(tmp_path):
    engine = TieredEngine(SqliteStore(tmp_path / "store.db", waits=False), budget=80_000_000)
    fill(engine, 6)
    everyone, wrong, is_done = sorted(f"u{number}" for number in range(6)), [], Event()

    def read() -> None:
        while not is_done.is_set():
            found = sorted(engine.match(EVENT))
            if found != everyone:
                wrong.append(found)

    readers = [Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    try:
        for number in range(30):
            for cluster in list(engine._clusters):
                (engine._migration._bring_back if cluster.is_cold else engine._migration._move)(cluster)
            engine.subscribe("u0", f"x >= {number} and rare{number} is missing")  # cold or not, it is hot now
    finally:
        is_done.set()
        for each in readers:
            each.join()
    engine.close()
    assert wrong == []


@pytest.mark.slow
def test_a_flood_of_pairs_leaves_no_clusters_in_memory(tmp_path):
    budget = Budget(size=800_000, high=0.4, low=0.3)
    path = tmp_path / "store.db"

    def opened() -> TieredEngine:
        store = SqliteStore(path, waits=False)
        store.nbytes = lambda: 0  # type: ignore[method-assign]  # leave the budget to memory
        return TieredEngine(store, budget=budget, fast=DiagramTier())

    engine = opened()
    for start in range(0, 1_000, 100):
        pairs = [(f"s{n}-{which}", f"x = {n} and y < 5") for n in range(start, start + 100) for which in "ab"]
        ids, texts = zip(*pairs, strict=True)
        assert not engine.subscribe_many(pa.table({"subscription": ids, "filter": texts})).num_rows
        assert engine.nbytes() <= budget.high_mark
    for _ in range(2):
        stats = engine.stats()
        assert stats["bytes"] <= budget.low_mark
        assert stats["clusters"] < 200
        assert (
            stats["subscriptions"] == len(list(engine)) == 2_000 == sum(c.members for c in engine.clusters())
        )
        for number in (0, 3, 700, 999):
            assert sorted(engine.match({"x": number, "y": 1})) == [f"s{number}-a", f"s{number}-b"]
        engine.close()
        engine = opened()
    for each in list(engine):
        engine.unsubscribe(each)
    assert engine.stats()["clusters"] == 0
    engine.close()


# --- as an engine ------------------------------------------------------------------------------------------------------


def test_a_replaced_subscription_is_in_one_tier_only():
    engine = engine_of()
    fill(engine, 12)
    assert "u3" in engine.answer(EVENT).slow()
    engine.subscribe("u3", "fresh = 1")
    assert "u3" not in engine.match(EVENT)
    assert engine.answer({"fresh": 1}).fast == ["u3"]
    engine.subscribe("u3", "kind = 'u' and x >= 0 and y < 777")
    assert engine.match({"fresh": 1}) == []
    assert engine.match(EVENT).count("u3") == 1
    assert len(engine) == 12
    assert sorted(engine) == sorted(f"u{number}" for number in range(12))


def test_subscribers_expiry_and_questions_of_both_tiers():
    engine = engine_of(clock=lambda: 0.0)
    fill(engine, 12)
    engine.subscribe("fast", "lonely = 1", subscriber="desk", expires=5.0)
    engine.subscribe("slow", "kind = 'u' and x >= 0 and y < 99", subscriber="desk", expires=5.0)
    both = {**EVENT, "lonely": 1}
    assert engine.match(both, by="subscriber").count("desk") == 1
    assert {"fast", "slow"} <= set(engine.match(both, now=4.9))
    assert not {"fast", "slow"} & set(engine.match(both, now=5.0))
    assert engine.any({"lonely": 1})
    assert not engine.any({"lonely": 2})
    assert engine.count({"lonely": 1}) == 1
    assert "slow" in engine
    assert "never" not in engine
    assert engine.filter("slow").matches(EVENT)
    assert engine.explain("slow", EVENT)
    assert sorted(engine.expire(5.0)) == ["fast", "slow"]
    assert len(engine) == 12
    assert "12 subscriptions" in repr(engine)
    with pytest.raises(UnknownSubscriptionError):
        engine.unsubscribe("slow")
    with pytest.raises(UnknownSubscriptionError):
        engine.filter("slow")
    with pytest.raises(SubscriptionError):
        engine.match({}, by="nobody")


def test_a_table_is_taken_in_with_its_rejects():
    engine = engine_of()
    rejects = engine.subscribe_many(
        pa.table({"subscription": ["a", "b", "a"], "filter": ["x = 1", "x = = 1", "x = 2"]})
    )
    assert rejects["row"].to_pylist() == [1, 2]
    assert engine.match({"x": 1}) == ["a"]


def test_one_id_that_the_database_cannot_keep_is_refused_alone(tmp_path):
    engine = TieredEngine(SqliteStore(tmp_path / "store.db", waits=False), budget=80_000_000)
    ids = ["ok1", "z" * 700, "ok2"]
    rejects = engine.subscribe_many(pa.table({"subscription": ids, "filter": ["x = 1"] * 3}))
    assert rejects["row"].to_pylist() == [1]
    assert "600" in rejects["reason"][0].as_py()
    assert engine.match({"x": 1}) == ["ok1", "ok2"]
    with pytest.raises(SubscriptionError, match="600"):
        engine.subscribe("z" * 700, "x = 1")
    assert engine.match({"x": 1}) == ["ok1", "ok2"]
    engine.close()


def test_the_default_tier_is_the_engine_of_segments():
    engine = TieredEngine(PlainColdTier(), budget=4_000_000)
    table = pa.table(
        {"subscription": [f"s{n}" for n in range(300)], "filter": [f"x = {n % 9}" for n in range(300)]}
    )
    assert not engine.subscribe_many(table).num_rows
    assert len(engine.answer({"x": 4}).fast) == 33


# --- what is wrong -----------------------------------------------------------------------------------------------------


def test_budgets_that_hold_nothing_and_marks_out_of_order_are_refused():
    with pytest.raises(ParameterError, match="at least"):
        TieredEngine(PlainColdTier(), budget=1_000)
    for wrong in ({"size": 0}, {"size": 10**6, "high": 0.2}, {"size": 10**6, "high": 1.2}, {"size": "1 MB"}):
        with pytest.raises(ParameterError):
            Budget(**wrong)
    assert SegmentTier().nbytes() < 100_000


def test_without_the_database_the_fast_tier_answers_and_the_rest_says_so():
    cold = Frail(PlainColdTier())
    engine = engine_of(cold)
    fill(engine, 12)
    engine.subscribe("fast", "lonely = 1")
    cold.fuse = 0
    answer = engine.answer({**EVENT, "lonely": 1})
    assert "fast" in answer.fast
    with pytest.raises(StoreError):
        answer.slow()
    for change in (
        lambda: engine.match(EVENT),
        lambda: engine.subscribe("new", "lonely = 1"),
        lambda: engine.unsubscribe("fast"),
    ):
        with pytest.raises(StoreError):
            change()
    rejects = engine.subscribe_many(pa.table({"subscription": ["n"], "filter": ["lonely = 1"]}))
    assert rejects.num_rows == 1
    assert "database" in rejects["reason"][0].as_py()
    cold.mend()
    assert len(answer.slow()) + len(answer.fast) == 13
    assert engine.match({"lonely": 1}) == ["fast"]
    assert len(engine) == 13


def test_a_change_that_nobody_saw_end_is_looked_up():
    cold = Frail(PlainColdTier())
    engine = engine_of(cold)
    engine.subscribe("a", "x = 1")
    cold.fuse, cold.is_done = 1, True  # found, then put, and the answer is lost
    with pytest.raises(StoreError):
        engine.subscribe("b", "x = 1")
    answer = engine.answer({"x": 1})
    assert answer.fast == ["a"]
    with pytest.raises(StoreError):
        answer.slow()
    cold.mend()
    assert list(answer) == engine.match({"x": 1}) == ["a", "b"]
    cold.fuse, cold.is_done = 1, True
    with pytest.raises(StoreError):
        engine.unsubscribe("a")
    assert engine.answer({"x": 1}).fast == ["b"]
    cold.mend()
    assert engine.match({"x": 1}) == ["b"]
    assert len(engine) == 1


@pytest.mark.parametrize("is_done", [False, True])
def test_a_cold_one_that_becomes_a_hot_one_unseen_is_in_one_tier(is_done):
    cold = Frail(PlainColdTier())
    engine = engine_of(cold)
    fill(engine, 12)
    assert "u3" in engine.answer(EVENT).slow()
    cold.fuse, cold.is_done = 1, is_done
    with pytest.raises(StoreError):
        engine.subscribe("u3", "fresh = 1")
    assert engine.answer({**EVENT, "fresh": 1}).fast == engine.answer(EVENT).fast
    cold.mend()
    assert ("u3" in engine.match({"fresh": 1})) is is_done
    assert ("u3" in engine.match(EVENT)) is not is_done
    assert len(engine) == 12


def test_what_is_gone_is_gone_although_no_cluster_can_come_back(monkeypatch):
    monkeypatch.setattr(migration, "_FEW", 1)
    cold = Frail(PlainColdTier())
    engine = engine_of(cold)
    fill(engine, 12)
    for number in range(6):
        engine.subscribe(f"late{number}", f"lonely{number} = 1", expires=5.0)
    cold.fuse = 2  # found, then removed
    engine.unsubscribe("late0")
    cold.fuse = 3
    assert engine.expire(5.0) == [f"late{number}" for number in range(1, 6)]
    cold.mend()
    assert engine.stats()["moves_back"] == 0
    for number in range(8):
        engine.unsubscribe(f"u{number}")
    assert engine.stats()["moves_back"]
    assert sorted(engine.match(EVENT)) == ["u10", "u11", "u8", "u9"]


@pytest.mark.parametrize("is_done", [False, True])
def test_a_move_that_fails_loses_nothing_and_refuses_the_newcomer(is_done):
    cold = Frail(PlainColdTier())
    engine = engine_of(cold)
    fill(engine, 10)
    steps = 0
    while "new" not in engine:  # whichever call of the move it is
        cold.fuse, cold.is_done = 1 + steps, is_done
        steps += 1
        try:
            engine.subscribe("new", "kind = 'u' and x >= 0 and y < 500")
        except StoreError:
            cold.mend()
            assert {f"u{number}" for number in range(10)} <= set(engine.match(EVENT))
            assert len(engine.match(EVENT)) == len(set(engine.match(EVENT)))
        cold.mend()
    assert steps > 2
    assert engine.stats()["moves_out"]
    assert sorted(engine.match(EVENT)) == sorted(["new", *(f"u{number}" for number in range(10))])


def test_who_came_while_a_move_ended_unseen_is_found_after_a_restart():
    cold = Frail(PlainColdTier())
    engine = engine_of(cold)
    fill(engine, 6, "u")
    cluster = next(each for each in engine._clusters if "'u'" in each.key)
    cold.fuse, cold.is_done = 1, True
    with pytest.raises(StoreError):
        engine._migration._move(cluster)
    cold.mend()
    engine.subscribe("late", "kind = 'u' and x >= 0 and y < 500")
    everyone = ["late", *(f"u{number}" for number in range(6))]
    assert sorted(engine.match(EVENT)) == everyone
    again = engine_of(cold)
    assert sorted(again.match(EVENT)) == everyone
    assert not cold.cold.find(["u0"])["u0"].home.is_cold
    assert cold.cold.find(["late"])["late"].home.is_cold
