"""Payloads, tags, and subscriptions that are disabled: kept everywhere, and free for who does not use them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thatch
from thatch.matching import growing

EVENT = {"x": 1}
PAYLOAD = {"url": "https://example.org/é", "retries": [1, 2.5, None], "is_urgent": True}


@pytest.fixture(params=["few", "segments"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> thatch.Engine:
    if request.param == "segments":
        monkeypatch.setattr(growing, "FEW", 1)
    engine = thatch.Engine(thatch.Schema({"x": thatch.Integer(0, 9)}), background=False)
    engine.subscribe("a", "x = 1", subscriber="ann", payload=PAYLOAD, tags=["red", "hot", "red"])
    engine.subscribe("b", "x > 0 and name like '%c_d%' or x = 1", subscriber="bob")
    engine.subscribe("c", "x < 2", subscriber="ann", tags=("red",))
    return engine


def by_file(engine: thatch.Engine, folder: Path) -> thatch.Engine:
    engine.save(folder / "saved.thatch")
    return thatch.Engine.open(folder / "saved.thatch", mode="a")


def by_parquet(engine: thatch.Engine, folder: Path) -> thatch.Engine:
    pq.write_table(engine.subscriptions(), folder / "saved.parquet")
    return thatch.Engine.from_table(pq.read_table(folder / "saved.parquet"), schema=engine.schema)


def by_pickle(engine: thatch.Engine, _: Path) -> thatch.Engine:
    again: thatch.Engine = pickle.loads(pickle.dumps(engine))
    return again


def by_compacting(engine: thatch.Engine, _: Path) -> thatch.Engine:
    engine.subscribe("gone", "x = 2")
    engine.unsubscribe("gone")
    engine.compact()
    return engine


WAYS = [by_file, by_parquet, by_pickle, by_compacting]


def test_a_match_gives_the_payload_of_each_subscription(engine: thatch.Engine) -> None:
    assert engine.match(EVENT, by="payload") == [("a", PAYLOAD), ("b", None), ("c", None)]
    assert engine.match(EVENT, by="payload", limit=1) == [("a", PAYLOAD)]
    assert engine.match({"x": 5}, by="payload") == []


def test_who_changes_a_payload_changes_only_a_copy(engine: thatch.Engine) -> None:
    engine.match(EVENT, by="payload")[0][1]["url"] = "changed"
    assert engine.subscription("a").payload == PAYLOAD


def test_a_subscription_is_told_with_all_that_is_known(engine: thatch.Engine) -> None:
    engine.subscribe("d", "x = 2", expires=99)
    found = engine.subscription("a")
    assert (found.subscription, str(found.filter), found.subscriber, found.expires) == (
        "a",
        "x = 1",
        "ann",
        None,
    )
    assert (found.payload, found.tags, found.is_enabled) == (PAYLOAD, ("red", "hot"), True)
    assert engine.subscription("d").expires == 99
    with pytest.raises(thatch.errors.UnknownSubscriptionError):
        engine.subscription("z")


def listed(table: pa.Table) -> list[Any]:
    ids: list[Any] = table.column("subscription").to_pylist()
    return ids


def test_subscriptions_are_listed_by_subscriber_and_by_tag(engine: thatch.Engine) -> None:
    assert listed(engine.subscriptions(subscriber="ann")) == ["a", "c"]
    assert listed(engine.subscriptions(tag="red")) == ["a", "c"]
    assert listed(engine.subscriptions(tag="hot", subscriber="ann")) == ["a"]
    assert listed(engine.subscriptions(tag="hot", subscriber="bob")) == []
    assert listed(engine.subscriptions()) == ["a", "b", "c"]


def test_what_is_disabled_matches_nothing_and_is_not_lost(engine: thatch.Engine) -> None:
    before = engine.subscription("a")
    engine.disable("a")
    engine.disable("a")
    assert engine.match(EVENT) == ["b", "c"]
    assert engine.count(EVENT) == 2
    assert (len(engine), "a" in engine, engine.stats()["disabled"]) == (3, True, 1)
    assert engine.filter("a") == before.filter
    assert not engine.subscription("a").is_enabled
    assert str(engine.explain("a", EVENT)).startswith("does not match, because it is disabled")
    engine.enable("a")
    engine.enable("a")
    assert engine.subscription("a") == before
    assert engine.match(EVENT, by="payload") == [("a", PAYLOAD), ("b", None), ("c", None)]
    assert engine.stats()["disabled"] == 0


@pytest.mark.parametrize("way", WAYS)
def test_details_survive(
    engine: thatch.Engine, way: Callable[[thatch.Engine, Path], thatch.Engine], tmp_path: Path
) -> None:
    engine.disable("b")
    engine.disable("c")
    before = engine.subscriptions()
    again = way(engine, tmp_path)
    assert again.subscriptions().equals(before)
    assert again.match(EVENT, by="payload") == [("a", PAYLOAD)]
    again.enable("b")
    assert again.match(EVENT) == ["a", "b"]
    again.unsubscribe("c")
    again.unsubscribe("a")
    assert (list(again), again.match(EVENT), again.stats()["disabled"]) == (["b"], ["b"], 0)


def test_subscribing_again_replaces_everything_and_enables(engine: thatch.Engine) -> None:
    engine.disable("a")
    engine.subscribe("a", "x = 3")
    found = engine.subscription("a")
    assert (str(found.filter), found.payload, found.tags, found.is_enabled) == ("x = 3", None, (), True)
    assert engine.match({"x": 3}) == ["a"]
    assert engine.match(EVENT) == ["b", "c"]


def test_disabled_subscriptions_expire_and_are_tallied(engine: thatch.Engine) -> None:
    engine.subscribe("d", "x = 1", expires=5)
    engine.disable("d")
    engine.tally()
    engine.match(EVENT)
    assert engine.tallies().column("matches").to_pylist()[-1] == 0
    assert engine.expire(5) == ["d"]
    assert list(engine) == ["a", "b", "c"]


def test_a_table_without_details_stays_as_it_was() -> None:
    engine = thatch.Engine()
    engine.subscribe("a", "x = 1")
    assert engine.subscriptions().column_names == ["subscription", "subscriber", "filter", "expires"]
    assert engine.stats()["bytes_details"] == 0


def test_rows_with_details_that_are_none_are_refused() -> None:
    table = pa.table(
        {
            "subscription": ["a", "b", "c"],
            "filter": ["x = 1"] * 3,
            "payload": ["{", '{"a": 1}', None],
            "tags": pa.array([None, [""], ["t"]], pa.list_(pa.string())),
            "enabled": [True, True, False],
        }
    )
    engine = thatch.Engine()
    reasons = engine.subscribe_many(table).column("reason").to_pylist()
    assert ["as JSON text" in reasons[0], "a text as tag" in reasons[1], len(reasons)] == [True, True, 2]
    assert engine.subscription("c").tags == ("t",)
    assert not engine.subscription("c").is_enabled


@pytest.mark.parametrize(
    "payload",
    [{1: 2}, (1, 2), float("nan"), {"a": object()}, "\ud800", b"x"],
    ids=lambda each: type(each).__name__,
)
def test_payloads_that_json_would_change_are_refused(engine: thatch.Engine, payload: Any) -> None:
    with pytest.raises(thatch.SubscriptionError, match="a payload of JSON values"):
        engine.subscribe("a", "x = 5", payload=payload)
    assert engine.subscription("a").payload == PAYLOAD


@pytest.mark.parametrize("tags", ["red", [1], [""], 5, ["\ud800"]], ids=str)
def test_tags_that_are_no_texts_are_refused(engine: thatch.Engine, tags: Any) -> None:
    with pytest.raises(thatch.SubscriptionError, match="as tag"):
        engine.subscribe("new", "x = 5", tags=tags)
    assert "new" not in engine


def test_an_engine_that_is_read_only_enables_and_disables_nothing(
    engine: thatch.Engine, tmp_path: Path
) -> None:
    engine.save(tmp_path / "saved.thatch")
    reading = thatch.Engine.open(tmp_path / "saved.thatch")
    for change in (reading.enable, reading.disable):
        with pytest.raises(thatch.errors.ReadOnlyError):
            change("a")
