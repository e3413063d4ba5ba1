"""What is asked of both tiers: the same answers as an engine in memory gives, wherever subscriptions are."""

from __future__ import annotations

import json
from threading import Thread

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.strategies import events, expressions
from tests.tiering.tiers import SMALL, TightTier
from thatch import Engine
from thatch.errors import FilterError, TableError, UnknownSubscriptionError
from thatch.model.events import read_event
from thatch.stores import SqliteStore
from thatch.tiering import PlainColdTier, TieredEngine

NAMES = st.sampled_from([f"s{number}" for number in range(12)])
CHANGES = st.lists(
    st.tuples(
        NAMES, st.none() | expressions, st.sampled_from([None, "desk", "ops"]), st.sampled_from([None, 5.0])
    ),
    min_size=12,
    max_size=24,
)


def engine_of(cold=None) -> TieredEngine:
    return TieredEngine(cold or PlainColdTier(), budget=SMALL, fast=TightTier())


def pairs(table: pa.Table) -> list[tuple[int, str]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.slow
@examples(20)
@given(changes=CHANGES, some=st.lists(events, min_size=1, max_size=4))
def test_both_tiers_answer_as_one_engine_does(changes, some):
    one, two = Engine(background=False), engine_of()
    for name, expression, subscriber, expires in changes:
        try:
            if expression is None:
                one.unsubscribe(name)
            else:
                one.subscribe(name, expression, subscriber=subscriber, expires=expires)
        except (FilterError, UnknownSubscriptionError) as error:
            with pytest.raises(type(error)):
                two.unsubscribe(name) if expression is None else two.subscribe(name, expression)
            continue
        if expression is None:
            two.unsubscribe(name)
        else:
            two.subscribe(name, expression, subscriber=subscriber, expires=expires)
    kept = []
    for event in some:
        try:
            read_event(event)
            kept.append(json.dumps(event))
        except (ValueError, TypeError):
            continue
        assert sorted(two.match(event)) == sorted(one.match(event))
        for now in (4.0, 5.0):
            assert sorted(two.match(event, now=now)) == sorted(one.match(event, now=now))
            assert sorted(two.match(event, by="subscriber", now=now)) == sorted(
                one.match(event, by="subscriber", now=now)
            )
            assert (two.any(event, now=now), two.count(event, now=now)) == (
                one.any(event, now=now),
                one.count(event, now=now),
            )
    assert sorted(two) == sorted(one)
    listed = {row["subscription"]: row for row in one.subscriptions().to_pylist()}
    assert {row["subscription"]: row for row in two.subscriptions().to_pylist()} == listed
    assert two.subscriptions().schema == one.subscriptions().schema
    table = pa.table({"event": pa.array(kept, pa.string())})
    for now in (None, 5.0):
        expected = one.match_batch(table, json="event", now=now)
        assert sorted(pairs(two.match_batch(table, json="event", now=now))) == sorted(pairs(expected))
        assert two.match_batch(table, json="event").schema == expected.schema


def test_subscriptions_are_listed_in_order_and_a_replaced_one_keeps_its_place(tmp_path):
    for cold in (PlainColdTier(), SqliteStore(tmp_path / "store.db", waits=False)):
        with TieredEngine(cold, budget=80_000_000) as engine:
            for name, text, subscriber in (
                ("a", "x=1", "desk"),
                ("b", "x  < 5", None),
                ("c", "y = 'c'", "desk"),
            ):
                engine.subscribe(name, text, subscriber=subscriber, expires=9.5 if name == "c" else None)
            for cluster in list(engine._clusters):
                engine._migration._move(cluster)
            engine.subscribe("b", "x >= 1 and z is missing", subscriber="ops")
            assert engine.subscriptions().to_pylist() == [
                {"subscription": "a", "subscriber": "desk", "filter": "x = 1", "expires": None},
                {
                    "subscription": "b",
                    "subscriber": "ops",
                    "filter": "x >= 1 and z is missing",
                    "expires": None,
                },
                {"subscription": "c", "subscriber": "desk", "filter": "y = 'c'", "expires": 9.5},
            ]
            assert engine.subscribers().to_pylist() == ["desk", "ops", "desk"]
            rows = pa.table({"x": [1, 9, None], "y": ["c", None, "c"]})
            assert pairs(engine.match_batch(rows, ordered=True, now=9)) == [
                (0, "a"), (0, "b"), (0, "c"), (1, "b"), (2, "c"),
            ]  # fmt: skip
            assert sorted(pairs(engine.match_batch(rows, now=9.5))) == [(0, "a"), (0, "b"), (1, "b")]


def test_a_row_that_is_no_event_is_named():
    engine = engine_of()
    with pytest.raises(TableError, match=r"row 1"):
        engine.match_batch(pa.table({"event": ['{"x": 1}', '{"x": "\\ud800"}']}), json="event")


def test_what_is_no_text_is_no_subscription(tmp_path):
    with TieredEngine(SqliteStore(tmp_path / "store.db"), budget=80_000_000) as engine:
        for odd in ("half \ud800", None, 5, "never"):
            assert odd not in engine
            for ask in (engine.filter, engine.unsubscribe):
                with pytest.raises(UnknownSubscriptionError):
                    ask(odd)


def test_an_engine_closes_its_database_at_the_end_of_a_block(tmp_path):
    with TieredEngine(SqliteStore(tmp_path / "store.db"), budget=80_000_000) as engine:
        engine.subscribe("a", "x = 1")
    with TieredEngine(SqliteStore(tmp_path / "store.db"), budget=80_000_000) as engine:
        assert engine.match({"x": 1}) == ["a"]


def test_any_thread_may_change_and_ask(tmp_path):
    wrong: list[BaseException] = []
    with TieredEngine(SqliteStore(tmp_path / "store.db", waits=False), budget=80_000_000) as engine:

        def work(who: int) -> None:
            try:
                for number in range(12):
                    engine.subscribe(f"{who}-{number}", f"x >= {number} and who{number % 3} is missing")
                    assert f"{who}-{number}" in engine.match({"x": 50})
                    assert engine.match_batch(pa.table({"x": [50]})).num_rows
                    assert engine.subscriptions().num_rows
                    assert engine.stats()["subscriptions"]
                    engine.clusters()
                    if number % 4 == 0:
                        for cluster in engine.clusters():
                            with engine._cold.lock():
                                if (
                                    cluster.number in engine._clusters
                                    and not engine._clusters[cluster.number].is_cold
                                ):
                                    engine._migration._move(engine._clusters[cluster.number])
                        engine.unsubscribe(f"{who}-{number}")
            except Exception as error:  # noqa: BLE001 - whatever it is
                wrong.append(error)

        workers = [Thread(target=work, args=(who,)) for who in range(3)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        assert wrong == []
        assert sorted(engine) == sorted(f"{who}-{n}" for who in range(3) for n in range(12) if n % 4)
        assert sorted(engine.match({"x": 50})) == sorted(engine)
