"""The engine's contract, call by call."""

from __future__ import annotations

import gc
import pickle
import threading
import time
from datetime import UTC, datetime
from math import inf

import numpy as np
import pyarrow as pa
import pytest

import thatch
from thatch.engine import reader
from thatch.errors import TableError

IBM = {"symbol": "IBM", "price": 120}


@pytest.fixture
def engine() -> thatch.Engine:
    made = thatch.Engine()
    made.subscribe("cheap-ibm", "symbol = 'IBM' and price < 150", subscriber="desk-7")
    made.subscribe("dear-any", "price > 100", subscriber="desk-9")
    made.subscribe("any-ibm", "symbol = 'IBM'", subscriber="desk-7")
    made.subscribe("msft", "symbol = 'MSFT'")
    return made


def test_match_gives_ids_in_subscription_order(engine: thatch.Engine) -> None:
    assert engine.match(IBM) == ["cheap-ibm", "dear-any", "any-ibm"]
    assert engine.match({"symbol": "XYZ"}) == []


def test_match_by_subscriber_names_each_once_in_order_of_first_match(engine: thatch.Engine) -> None:
    assert engine.match(IBM, by="subscriber") == ["desk-7", "desk-9"]
    assert engine.match({"symbol": "MSFT"}, by="subscriber") == ["msft"]


def test_limit_cuts_the_answer(engine: thatch.Engine) -> None:
    assert engine.match(IBM, limit=2) == ["cheap-ibm", "dear-any"]
    assert engine.match(IBM, limit=0) == []
    assert engine.match(IBM, by="subscriber", limit=1) == ["desk-7"]


def test_any_and_count(engine: thatch.Engine) -> None:
    assert engine.any(IBM)
    assert not engine.any({"symbol": "XYZ"})
    assert engine.count(IBM) == 3


def test_a_known_id_is_replaced_and_keeps_its_position(engine: thatch.Engine) -> None:
    engine.subscribe("cheap-ibm", "price >= 0")
    assert engine.match({"price": 101}) == ["cheap-ibm", "dear-any"]
    assert len(engine) == 4


def test_unsubscribe_forgets_and_a_new_subscription_goes_last(engine: thatch.Engine) -> None:
    engine.unsubscribe("cheap-ibm")
    assert "cheap-ibm" not in engine
    engine.subscribe("cheap-ibm", "price < 150")
    assert engine.match(IBM) == ["dear-any", "any-ibm", "cheap-ibm"]


def test_expiry_is_by_the_moment_given() -> None:
    engine = thatch.Engine()
    engine.subscribe("a", "x = 1", expires=100)
    engine.subscribe("b", "x = 1", expires=datetime(1970, 1, 1, 0, 3, tzinfo=UTC))
    engine.subscribe("c", "x = 1")
    assert engine.match({"x": 1}) == ["c"]
    assert engine.match({"x": 1}, now=99.5) == ["a", "b", "c"]
    assert engine.match({"x": 1}, now=100) == ["b", "c"]
    assert engine.count({"x": 1}, now=datetime(1970, 1, 1, 0, 3, tzinfo=UTC)) == 1
    assert engine.any({"x": 1}, now=1e9)
    assert engine.expire(100) == ["a"]
    assert engine.expire(100) == []
    assert list(engine) == ["b", "c"]


def test_filters_come_in_three_languages() -> None:
    engine = thatch.Engine()
    engine.subscribe("text", "detail.price > 100")
    engine.subscribe("pattern", {"detail": {"price": [{"numeric": [">", 100]}]}})
    engine.subscribe("json", '{"detail": {"price": [{"numeric": [">", 100]}]}}')
    engine.subscribe("python", thatch.attr("detail.price") > 100)
    engine.subscribe("filter", thatch.parse("detail.price > 100"))
    assert engine.match({"detail": {"price": 101}}) == ["text", "pattern", "json", "python", "filter"]
    assert len({engine.filter(name) for name in engine}) == 1


def test_subscribe_many_takes_what_it_can_and_tells_the_rest(engine: thatch.Engine) -> None:
    table = pa.table(
        {
            "subscription": ["new", "bad", "new", "cheap-ibm", None, "never", "empty"],
            "filter": ["x = 1", "x ==", "x = 2", "x = 3", "x = 4", "x = 1 and x = 2", None],
            "subscriber": ["s", None, None, None, None, None, None],
        }
    )
    rejects = engine.subscribe_many(table)
    assert rejects.column("row").to_pylist() == [1, 2, 4, 5, 6]
    assert rejects.column("subscription").to_pylist() == ["bad", "new", None, "never", "empty"]
    assert "No event can match" in rejects.column("reason")[3].as_py()
    assert engine.match({"x": 1}, by="subscriber") == ["s"]
    assert engine.match({"x": 3}) == ["cheap-ibm"]
    assert list(engine) == ["cheap-ibm", "dear-any", "any-ibm", "msft", "new"]


@pytest.mark.parametrize("is_enabled", [True, False])
def test_reading_a_table_leaves_the_collector_of_garbage_as_it_was(
    engine: thatch.Engine, is_enabled: bool
) -> None:
    (gc.enable if is_enabled else gc.disable)()
    try:
        engine.subscribe_many(pa.table({"subscription": ["new"], "filter": ["x = 1"]}))
        assert gc.isenabled() == is_enabled
        with pytest.raises(TableError):
            engine.subscribe_many(pa.table({"nothing": ["new"]}))
        assert gc.isenabled() == is_enabled
    finally:
        gc.enable()


@pytest.mark.parametrize("background", [True, False])
def test_stats_tell_how_long_changes_and_merges_took(background: bool) -> None:
    engine, start = thatch.Engine(background=background), time.perf_counter()
    for number in range(400):
        engine.subscribe(f"s{number}", f"name like '%n{number}%'")
    engine.compact()
    took = 1_000 * (time.perf_counter() - start)
    assert 0 < engine.stats()["build_ms"] <= (2 if background else 1) * took + 1


def test_stats_count_subscriptions_candidates_and_misfits() -> None:
    engine = thatch.Engine(thatch.Schema({"qty": thatch.Integer(0, 10)}))
    engine.subscribe("a", "qty > 5")
    assert engine.match({"qty": 11}) == []
    assert engine.match({"qty": "7"}) == []
    assert engine.match({"qty": 7.0}) == ["a"]
    stats = engine.stats()
    assert stats["subscriptions"] == 1
    assert stats["misfits"] == 2
    assert stats["events"] == 3
    assert stats["matches"] == 1


def test_explain_tells_which_condition_failed(engine: thatch.Engine) -> None:
    explanation = engine.explain("cheap-ibm", {"symbol": "IBM", "price": 180})
    assert not explanation
    assert str(explanation).splitlines() == [
        "does not match",
        "├ no  price < 150     saw 180",
        "└ yes symbol = 'IBM'  saw 'IBM'",
    ]


def test_pickling_keeps_order_and_answers(engine: thatch.Engine) -> None:
    copy = pickle.loads(pickle.dumps(engine))
    assert copy.subscriptions().equals(engine.subscriptions())
    assert copy.match(IBM) == engine.match(IBM)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda e: e.subscribe(5, "x = 1"), thatch.SubscriptionError),
        (lambda e: e.subscribe("\ud800", "x = 1"), thatch.SubscriptionError),
        (lambda e: e.subscribe("a", "x = 1", subscriber=5), thatch.SubscriptionError),
        (lambda e: e.subscribe("a", "x = 1", expires="soon"), thatch.SubscriptionError),
        (lambda e: e.subscribe("a", "x = 1", expires=float("nan")), thatch.SubscriptionError),
        (lambda e: e.subscribe("a", "x = "), thatch.errors.FilterSyntaxError),
        (lambda e: e.subscribe("a", {"x": 1}), thatch.errors.PatternError),
        (lambda e: e.subscribe("a", 5), thatch.FilterError),
        (lambda e: e.subscribe("cheap-ibm", "x = 1 and x = 2"), thatch.errors.NeverMatchesError),
        (
            lambda e: e.subscribe("a", thatch.parse("x = '1'", thatch.Schema({"x": thatch.Text()}))),
            thatch.errors.SchemaError,
        ),
        (lambda e: e.unsubscribe("nobody"), thatch.errors.UnknownSubscriptionError),
        (lambda e: e.unsubscribe(["nobody"]), KeyError),
        (lambda e: e.explain("nobody", {}), thatch.errors.UnknownSubscriptionError),
        (lambda e: e.match([1]), thatch.EventError),
        (lambda e: e.match({"x": b"1"}), thatch.EventError),
        (lambda e: e.match({"x": 1}, by="color"), thatch.SubscriptionError),
        (lambda e: e.match({"x": 1}, limit=-1), thatch.SubscriptionError),
        (lambda e: e.match({"x": 1}, now="today"), thatch.SubscriptionError),
        (lambda e: e.expire("now"), thatch.SubscriptionError),
        (lambda e: e.subscribe_many("table"), thatch.TableError),
        (lambda e: e.subscribe_many(pa.table({"id": ["a"]})), thatch.TableError),
        (lambda e: e.subscribe_many(pa.table({"subscription": [1], "filter": ["x = 1"]})), thatch.TableError),
        (lambda e: e.match_batch({"x": [1]}), thatch.TableError),
        (lambda e: e.save(), thatch.errors.IndexFileError),
    ],
)
def test_a_refused_call_says_why_and_changes_nothing(engine: thatch.Engine, call, error) -> None:
    before = engine.subscriptions()
    with pytest.raises(error) as caught:
        call(engine)
    assert isinstance(caught.value, thatch.ThatchError)
    assert str(caught.value).startswith(("Expected ", "No "))
    assert engine.subscriptions().equals(before)


@pytest.mark.parametrize(
    "event",
    [
        {"price": 10**400},
        {"other": 2**63},
        {"price": 1, "other": b"x"},
        {5: 1},
        {"price": 1, 5: 1},
        {"\ud800": 1},
        {"price": 1, "\ud800": "x"},
        {"price": "\ud800"},
        {"other": "\ud800"},
        {"price": {"x": {1, 2}}},
        {"price": [1, object()]},
        {"a": {"b": 1}, "a.b": 2},
    ],
    ids=range(12),
)
def test_a_large_engine_refuses_the_events_a_small_one_refuses(event) -> None:
    small, large = thatch.Engine(), thatch.Engine()
    small.subscribe("s", "price > 1")
    for number in range(400):
        large.subscribe(str(number), f"price > {number} and lot = {number}")
    for engine in (small, large):
        for _ in range(2):  # a name once seen is known the second time
            with pytest.raises(thatch.EventError):
                engine.match(event)
            with pytest.raises(thatch.EventError):
                engine.any(event)


def test_churn_leaves_order_and_answers_right_and_slots_few(engine: thatch.Engine) -> None:
    for number in range(6_000):
        engine.subscribe(f"t{number}", f"price > {number % 7} and lot = {number % 50}")
        if number >= 20:
            engine.unsubscribe(f"t{number - 20}")
    assert engine._state.ids.slots < 5_000
    assert list(engine)[:5] == ["cheap-ibm", "dear-any", "any-ibm", "msft", "t5980"]
    assert len(engine) == 24
    assert engine.match({"price": 10, "lot": 31}) == ["t5981"]
    assert engine.match(IBM) == ["cheap-ibm", "dear-any", "any-ibm"]


def test_threads_may_match_while_others_subscribe(engine: thatch.Engine) -> None:
    failures: list[BaseException] = []

    def change(name: str) -> None:
        try:
            for number in range(200):
                engine.subscribe(name, f"price > {number}")
                engine.unsubscribe(name)
        except BaseException as error:  # noqa: BLE001 - a thread's error must reach the test
            failures.append(error)

    threads = [threading.Thread(target=change, args=(f"t{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert set(engine.match(IBM)) >= {"cheap-ibm", "dear-any", "any-ibm"}
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(engine) == ["cheap-ibm", "dear-any", "any-ibm", "msft"]


@pytest.mark.parametrize("count", [10, 300])
def test_any_and_count_are_answered_as_match_is_without_reading_a_plain_event(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading an event into a record takes longer than matching it."""
    engine = thatch.Engine(background=False)
    for number in range(count):
        engine.subscribe(f"s{number}", f"x > {number}")
    monkeypatch.setattr(reader, "read_event", None)
    for x, found in ((5, 5), (0, 0), (count, count)):
        assert len(engine.match({"x": x})) == engine.count({"x": x}) == found
        assert engine.any({"x": x}) == (found > 0)


def test_any_stops_at_the_first_match() -> None:
    engine = thatch.Engine(background=False)
    for number in range(50):
        engine.subscribe(f"s{number}", "x > 0")
    assert engine.any({"x": 1})
    assert engine.stats()["candidates"] == 1


@pytest.mark.parametrize("bad", ["", "a\0b"])
def test_empty_ids_and_ids_with_nul_are_refused_however_they_come(bad):
    engine = thatch.Engine()
    match = "not empty and has no NUL"
    with pytest.raises(thatch.errors.SubscriptionError, match=match):
        engine.subscribe(bad, "x = 1")
    with pytest.raises(thatch.errors.SubscriptionError, match=match):
        engine.subscribe("a", "x = 1", subscriber=bad)
    rejects = engine.subscribe_many(pa.table({"subscription": [bad, "good"], "filter": ["x = 1", "x = 1"]}))
    assert [match in reason for reason in rejects.column("reason").to_pylist()] == [True]
    assert list(engine) == ["good"]
    for ids in (
        [bad],
        pa.array([bad]),
        pa.array([bad]).dictionary_encode(),
        pa.chunked_array([["b"], [bad]]),
    ):
        with pytest.raises(thatch.errors.SubscriptionError, match=match):
            thatch.Engine.from_columns(ids, ["x"], np.zeros((len(ids), 1)), np.ones((len(ids), 1)))


@pytest.mark.parametrize(
    "moment", [10**400, -(10**5_000), float("nan"), "soon", True], ids=thatch.errors.shown
)
def test_moments_that_are_none_are_refused_in_our_words(moment):
    engine = thatch.Engine()
    with pytest.raises(thatch.errors.SubscriptionError, match="seconds since 1970"):
        engine.subscribe("a", "x = 1", expires=moment)
    with pytest.raises(thatch.errors.SubscriptionError, match="seconds since 1970"):
        engine.match({"x": 1}, now=moment)
    assert len(engine) == 0


@pytest.mark.parametrize("line", [thatch.Number(0, inf), thatch.Enum(1, inf, "infinity")])
def test_an_engine_whose_schema_has_infinite_values_is_saved_and_pickled(tmp_path, line):
    engine = thatch.Engine(thatch.Schema({"x": line}))
    engine.subscribe("a", "x > 0.5")
    engine.save(tmp_path / "saved")
    for again in (thatch.Engine.open(tmp_path / "saved"), pickle.loads(pickle.dumps(engine))):
        assert again.schema == engine.schema
        assert again.match({"x": inf}) == ["a"]
