"""Expiry: judged by the clock, or by the moment that is asked about, the same in every call."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import thatch
from thatch.matching import growing
from thatch.tiering import PlainColdTier

EVENT = {"x": 1}
TABLE = pa.table({"x": [1]})


class Clock:
    """A clock that tests set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["few", "segments"])
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Clock:
    if request.param == "segments":
        monkeypatch.setattr(growing, "FEW", 1)
    return Clock()


def filled(clock: Clock | None) -> thatch.Engine:
    engine = thatch.Engine(clock=clock, background=False)
    engine.subscribe("a", "x = 1", subscriber="ann", expires=10)
    engine.subscribe("b", "x > 0", subscriber="bob")
    engine.subscribe("c", "x < 2", subscriber="ann", expires=20)
    return engine


def every_answer(engine: thatch.Engine, now: float | None = None) -> list[list[str]]:
    """The ids that match, by every call that gives them or their number."""
    ids = engine.ids().to_pylist()
    pieces = [
        slot for piece in engine.match_pieces(TABLE, now=now) for slot in piece.column("slot").to_pylist()
    ]
    batch = engine.match_batch(TABLE, now=now).column("subscription").to_pylist()
    counts = engine.count_batch(TABLE, now=now)
    answers = [
        engine.match(EVENT, now=now),
        sorted(batch),
        sorted(ids[slot] for slot in pieces),
        [name for name, count in zip(ids, counts, strict=True) if count],
        [name for name in engine if engine.explain(name, EVENT, now=now)],
    ]
    assert engine.count(EVENT, now=now) == len(answers[0])
    assert engine.any(EVENT, now=now) == bool(answers[0])
    subscribers = {"a": "ann", "b": "bob", "c": "ann"}
    assert set(engine.match(EVENT, by="subscriber", now=now)) == {subscribers[name] for name in answers[0]}
    return answers


@pytest.mark.parametrize(
    ("now", "matched"), [(9.9, ["a", "b", "c"]), (10.0, ["b", "c"]), (19.0, ["b", "c"]), (20.0, ["b"])]
)
def test_every_call_judges_expiry_by_the_clock_or_by_now(
    clock: Clock, now: float, matched: list[str]
) -> None:
    engine = filled(clock)
    clock.now = 15
    assert every_answer(engine, now) == [matched] * 5
    clock.now = now
    assert every_answer(engine) == [matched] * 5


def test_what_has_expired_matches_nothing_without_anyone_saying_so() -> None:
    engine = filled(None)
    engine.subscribe("d", "x = 1", expires=datetime.now(UTC) + timedelta(days=1))
    assert engine.match(EVENT) == ["b", "d"]
    assert engine.match(EVENT, now=-float("inf")) == ["a", "b", "c", "d"]
    assert engine.expire() == ["a", "c"]
    assert engine.match(EVENT, now=-float("inf")) == ["b", "d"]


def test_a_clock_survives_renumbering_replacing_and_a_file(clock: Clock, tmp_path: Path) -> None:
    engine = filled(clock)
    engine.subscribe("b", "x > 0", expires=15)
    engine.compact()
    clock.now = 15
    assert engine.match(EVENT) == ["c"]
    engine.save(tmp_path / "saved.thatch")
    assert thatch.Engine.open(tmp_path / "saved.thatch", clock=clock).match(EVENT) == ["c"]
    assert thatch.Engine.open(tmp_path / "saved.thatch").match(EVENT) == []
    assert thatch.Engine.from_table(engine.subscriptions(), clock=clock).match(EVENT) == ["c"]
    assert engine.expire() == ["a", "b"]
    clock.now = 21
    assert engine.match(EVENT) == []


def test_nobody_looks_at_the_clock_while_nothing_expires() -> None:
    def clock() -> float:
        raise AssertionError

    engine = thatch.Engine(clock=clock)
    engine.subscribe("a", "x = 1")
    assert engine.match(EVENT) == ["a"]
    assert engine.any(EVENT)
    assert engine.count(EVENT) == 1
    engine.subscribe("b", "x = 1", expires=10)
    with pytest.raises(AssertionError):
        engine.match(EVENT)


def test_an_explanation_says_that_a_subscription_has_expired(clock: Clock) -> None:
    engine = filled(clock)
    clock.now = 10
    assert str(engine.explain("a", EVENT)).startswith("does not match, because it has expired")
    assert not engine.explain("a", EVENT)
    assert engine.explain("a", EVENT, now=9)


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        (datetime(2026, 1, 1), "a datetime with a time zone"),
        (10**400, "seconds since 1970"),
        (float("nan"), "seconds since 1970"),
        (True, "seconds since 1970"),
        ("2026-01-01", "seconds since 1970"),
    ],
)
def test_moments_that_could_mean_anything_are_refused(moment: Any, told: str) -> None:
    engine = thatch.Engine()
    with pytest.raises(thatch.SubscriptionError, match=told):
        engine.subscribe("a", "x = 1", expires=moment)
    with pytest.raises(thatch.SubscriptionError, match=told):
        engine.match(EVENT, now=moment)
    assert len(engine) == 0


def test_a_clock_that_is_none_is_refused() -> None:
    with pytest.raises(thatch.SubscriptionError, match="a function that returns seconds"):
        thatch.Engine(clock=5)  # type: ignore[arg-type]


def test_timestamps_of_a_table_are_in_utc_if_they_name_no_zone() -> None:
    moments = [datetime(2026, 1, 1), None]
    columns = {"subscription": ["a", "b"], "filter": ["x = 1"] * 2}
    for kind in (pa.timestamp("s"), pa.timestamp("ns", "UTC")):
        engine = thatch.Engine.from_table(pa.table({**columns, "expires": pa.array(moments, kind)}))
        assert engine.match(EVENT, now=datetime(2025, 12, 31, 23, 59, tzinfo=UTC)) == ["a", "b"]
        assert engine.match(EVENT, now=datetime(2026, 1, 1, tzinfo=UTC)) == ["b"]


def test_both_tiers_judge_by_one_clock() -> None:
    clock = Clock()
    engine = thatch.TieredEngine(PlainColdTier(), budget=8_000_000, clock=clock)
    engine.subscribe("a", "x = 1", expires=10)
    engine.subscribe("b", "x = 1")
    assert engine.match(EVENT) == ["a", "b"]
    clock.now = 10
    assert engine.match(EVENT) == ["b"]
    assert engine.count(EVENT) == engine.match_batch(TABLE).num_rows == 1
    assert not engine.explain("a", EVENT)
    assert engine.match(EVENT, now=9) == ["a", "b"]
    assert engine.expire() == ["a"]
    assert time.time() > 20
