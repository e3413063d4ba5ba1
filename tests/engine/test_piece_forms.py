"""Pieces as lists, and of few subscriptions with many events."""

from __future__ import annotations

import pyarrow as pa
import pytest

import thatch


def test_few_subscriptions_and_many_events_are_matched_as_one_by_one():
    engine = thatch.Engine(thatch.Schema({"n": thatch.Integer(0, 100)}))
    engine.subscribe("low", "n < 50")
    engine.subscribe("text", "t like '%7%' or n = 3", expires=10.0)
    table = pa.table({"n": [number % 120 for number in range(5_000)], "t": [str(n) for n in range(5_000)]})
    wanted = [sorted(engine.match(event, now=5.0)) for event in table.to_pylist()]
    found = engine.match_batch(table, now=5.0)
    pairs = sorted(zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True))
    assert pairs == [(row, name) for row, names in enumerate(wanted) for name in names]
    assert engine.count_batch(table, now=20.0).tolist() == [sum("low" in names for names in wanted), 0]
    assert "segments" not in engine.stats()


@pytest.mark.parametrize("now", [None, 5.0])
def test_slots_come_as_lists_an_event_too(now):
    engine = thatch.Engine()
    for number in range(600):
        engine.subscribe(f"s{number}", f"x > {number}", expires=1.0 if number % 3 == 0 else None)
    table = pa.table({"x": [700.0, -1.0, 5.0, 300.5] * 50})
    lists = [row for piece in engine.match_pieces(table, now=now, grouped=True) for row in piece.to_pylist()]
    pairs = sorted((row["event"], slot) for row in lists for slot in row["slots"])
    flat = [row for piece in engine.match_pieces(table, now=now) for row in piece.to_pylist()]
    assert pairs == sorted((row["event"], row["slot"]) for row in flat)
    assert all(row["slots"] for row in lists)
