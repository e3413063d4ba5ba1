"""Engines whose subscriptions never stay: sizes that stay flat, compacting and counts."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack

import pyarrow as pa
import pytest

import thatch
from tests.engine.test_churn import tiny_sizes
from thatch.engine import state
from thatch.matching import growing
from thatch.matching.segments import index as segments
from thatch.matching.segments import merging
from thatch.model.filters import Filter


@pytest.fixture
def small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "CAPACITY", 32)
    monkeypatch.setattr(merging, "_TIER", 32)
    monkeypatch.setattr(state, "_MANY_NAMES", 256)


class Churn:
    """Some two hundred subscriptions with ever-new ids, attributes, texts and numbers."""

    LIVE = 200

    def __init__(self, background: bool) -> None:
        self.engine = thatch.Engine(background=background)
        self.engine.tally(on=False)  # segments from the beginning
        self.rng = random.Random(1)
        self.held: dict[str, Filter] = {}
        self.turn = 0

    def step(self) -> None:
        self.turn += 1
        turn = self.turn
        bound = self.rng.random() * 1e6
        source = self.rng.choice([
            f"new{turn} > {bound!r}",
            f"x <= {bound!r} and y != 'word{turn}'",
            f"y like 'w%{turn % 10}' and x > {bound!r}",
            f"x > {bound!r} or new{turn} = 'only {turn}'",
        ])  # fmt: skip
        if len(self.held) >= self.LIVE and self.rng.random() < 0.5:
            name = self.rng.choice(list(self.held))  # replaced, it keeps its place
        else:
            name = f"subscription {turn}"
        self.engine.subscribe(name, source)
        self.held[name] = thatch.parse(source)
        if len(self.held) > self.LIVE:
            oldest = next(iter(self.held))
            self.engine.unsubscribe(oldest)
            del self.held[oldest]

    def check(self) -> None:
        recent = f"new{self.rng.randrange(max(1, self.turn - 100), self.turn + 1)}"
        event = {
            "x": self.rng.random() * 1e6,
            "y": f"word{self.rng.randrange(self.turn)}",
            recent: self.rng.random() * 1e6,
        }
        expected = [name for name, filter in self.held.items() if filter.matches(event)]
        assert self.engine.match(event) == expected

    def settle(self) -> None:
        with self.engine._state.writing:
            self.engine._state.merger.wait()


def sizes(engine: thatch.Engine) -> dict[str, int]:
    stats = engine.stats()
    total = sum(size for part, size in stats.items() if part.startswith("bytes_"))
    slots = engine._state.ids.slots
    return {"bytes": total, "attributes": stats["attributes"], "slots": slots, "boxes": stats["boxes"]}


@pytest.mark.slow
@pytest.mark.parametrize("background", [True, False])
@pytest.mark.usefixtures("small_sizes")
def test_sizes_stay_flat_and_answers_right_while_all_subscriptions_change(background: bool) -> None:
    churn = Churn(background)
    most: list[dict[str, int]] = []
    for _ in range(3):
        seen: list[dict[str, int]] = []
        for _ in range(1_200):
            churn.step()
            if churn.turn % 50 == 0:
                churn.check()
                churn.settle()  # how far a merge has come depends on the machine
                seen.append(sizes(churn.engine))
        most.append({part: max(each[part] for each in seen) for part in seen[0]})
    for part, first in most[0].items():
        assert most[2][part] <= 1.5 * first, part
    assert most[2]["attributes"] < 4 * 256 + 8 * Churn.LIVE


@pytest.mark.slow
@pytest.mark.usefixtures("small_sizes")
def test_churn_leaves_no_objects_behind() -> None:
    churn = Churn(background=False)

    def memory_after(turns: int) -> int:
        for _ in range(turns):
            churn.step()
        churn.engine.compact()
        churn.check()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    memory_after(300)  # from here on everything is traced that takes the place of something
    tracemalloc.start()
    try:
        middle = memory_after(300)
        end = memory_after(500)
    finally:
        tracemalloc.stop()
    assert end - middle < 125_000 + middle // 6


@pytest.mark.slow
@pytest.mark.parametrize("few", [1, 256])
def test_places_are_given_anew_when_most_are_gone(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "FEW", few)
    engine = thatch.Engine(background=False)
    for number in range(9_000):
        engine.subscribe(f"s{number}", f"x = {number % 10}")
        if number >= 20:
            engine.unsubscribe(f"s{number - 20}")
        assert engine._state.ids.slots <= 4 * 1_024 + 256
    assert engine.match({"x": 7}) == ["s8987", "s8997"]


@pytest.mark.usefixtures("small_sizes")
def test_many_small_bulk_additions_leave_few_segments() -> None:
    engine = thatch.Engine(background=False)
    engine.tally(on=False)  # segments from the beginning
    for number in range(200):
        engine.subscribe_many(pa.table({"subscription": [f"s{number}"], "filter": [f"x >= {number}"]}))
    assert engine.match({"x": 150}) == [f"s{number}" for number in range(151)]
    assert engine.stats()["segments"] <= 40


# --- compact and tally -----------------------------------------------------------------------------------------------


@pytest.fixture
def segmented() -> Iterator[thatch.Engine]:
    with ExitStack() as patches:
        for patch in tiny_sizes(1):
            patches.enter_context(patch)
        engine = thatch.Engine(background=False)
        for number in range(10):
            engine.subscribe(f"s{number}", f"x >= {number} and exists(a{number % 3})")
        yield engine


def test_compact_leaves_one_segment_without_the_dead_and_nothing_unused(segmented: thatch.Engine) -> None:
    for number in range(0, 10, 3):
        segmented.unsubscribe(f"s{number}")
    segmented.subscribe("s1", "x >= 0")
    segmented.compact()
    stats = segmented.stats()
    assert (stats["segments"], stats["dead"], stats["waiting"], stats["subscriptions"]) == (1, 0, 0, 6)
    assert stats["attributes"] == 3  # x, a1 and a2; nobody asks for a0 any more
    assert segmented.match({"x": 9, "a1": 0, "a2": 0}) == ["s1", "s2", "s4", "s5", "s7", "s8"]
    segmented.subscribe("s0", "x >= 0")
    assert segmented.match({"x": 0}) == ["s1", "s0"]


def tallies(engine: thatch.Engine) -> dict[str, tuple[int, int]]:
    rows = engine.tallies().to_pylist()
    return {row["subscription"]: (row["candidates"], row["matches"]) for row in rows}


def test_tallies_count_candidates_and_matches_until_they_are_switched_off(segmented: thatch.Engine) -> None:
    segmented.match({"x": 9, "a0": 1})
    assert set(tallies(segmented).values()) == {(0, 0)}
    segmented.tally()
    for x in range(10):
        segmented.match({"x": x, "a0": 1})
        segmented.count({"x": [x], "a0": 1})
    counted = tallies(segmented)
    assert list(counted) == list(segmented)
    for number in range(10):
        candidates, matches = counted[f"s{number}"]
        assert matches == (2 * (10 - number) if number % 3 == 0 else 0)
        assert candidates >= matches
    segmented.tally(on=False)
    segmented.match({"x": 9, "a0": 1})
    assert set(tallies(segmented).values()) == {(0, 0)}


def test_tallies_stay_with_their_subscription_when_places_are_numbered_anew(segmented: thatch.Engine) -> None:
    segmented.tally()
    segmented.match({"x": 3, "a0": 1})
    before = tallies(segmented)
    segmented.unsubscribe("s0")
    segmented.compact()
    del before["s0"]
    assert tallies(segmented) == before
    assert before["s3"][1] == 1


def test_subscribers_and_expiries_stay_with_their_subscription_when_places_are_numbered_anew() -> None:
    engine = thatch.Engine(background=False)
    engine.subscribe("gone", "x = 1", subscriber="zoe", expires=5)
    engine.subscribe("a", "x = 1", subscriber="ann", expires=10)
    engine.subscribe("b", "x = 1")
    engine.subscribe("c", "x = 1", subscriber="bob")
    engine.unsubscribe("gone")
    engine.compact()
    assert engine.match({"x": 1}, by="subscriber", now=9) == ["ann", "b", "bob"]
    assert engine.match({"x": 1}, now=10) == ["b", "c"]
    rows = engine.subscriptions().to_pylist()
    assert [row["subscriber"] for row in rows] == ["ann", None, "bob"]
    assert engine.expire(10) == ["a"]


def test_tallies_count_the_events_of_a_batch(segmented: thatch.Engine) -> None:
    segmented.tally()
    segmented.match_batch(pa.table({"x": [3, 9], "a0": [1, 1]}))
    assert {name: matches for name, (_, matches) in tallies(segmented).items() if matches} == {
        "s0": 2, "s3": 2, "s6": 1, "s9": 1,
    }  # fmt: skip
