"""Engines whose subscriptions never stay: merges in any order between changes, sizes that stay flat, and counts."""

from __future__ import annotations

import gc
import pickle
import random
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import thatch
from tests.strategies import SMALL_NUMBERS, events, expressions
from thatch.engine import merger, state
from thatch.engine.texts import table as texts
from thatch.matching import growing, reference
from thatch.matching.necessary import NecessaryIndex
from thatch.matching.segments import index as segments
from thatch.matching.segments import merging
from thatch.matching.segments.merging import MergeJob
from thatch.matching.segments.segment import Segment
from thatch.matching.segments.view import View
from thatch.model.events import read_event
from thatch.model.expressions import Expression
from thatch.model.filters import Filter

Held = dict[str, tuple[Expression, str | None, int | None]]  # expression, subscriber, expiry

IDS = st.sampled_from([f"s{number}" for number in range(8)])
SUBSCRIBERS = st.none() | st.sampled_from(["ann", "bob"])
MOMENTS = st.none() | st.integers(0, 5)


def tiny_sizes(few: int) -> list[Any]:
    """Segments from the first few subscriptions on, full deltas and merges at every second or third."""
    return [
        mock.patch.object(growing, "FEW", few),
        mock.patch.object(segments, "CAPACITY", 2),
        mock.patch.object(segments, "_FIRST", 1),
        mock.patch.object(merging, "FAN_OUT", 2),
        mock.patch.object(merging, "_TIER", 2),
        mock.patch.object(texts, "RECENT", 3),
    ]


def wanted(held: Held, event: dict[str, Any], now: int | None = None) -> list[str]:
    """The slow answer."""
    return [
        name
        for name, (expression, _, expires) in held.items()
        if (now is None or expires is None or expires > now) and reference.matches(expression, event)
    ]


class SteppedMerges(RuleBasedStateMachine):
    """An engine that no thread merges: the three steps of a merge are rules, so that anything may happen in between.

    Readers are simulated too: a view that was taken once must for ever answer as of the moment when it was taken.
    """

    FEW = 1

    def __init__(self) -> None:
        super().__init__()
        self.patches = ExitStack()
        for patch in (*tiny_sizes(self.FEW), mock.patch.object(merger.BackgroundMerger, "poke")):
            self.patches.enter_context(patch)
        self.folder = Path(self.patches.enter_context(tempfile.TemporaryDirectory()))
        self.engine = thatch.Engine()
        self.held: Held = {}
        self.probes: list[dict[str, Any]] = [{}, {"x": 1, "y": "a"}]
        self.job: MergeJob | None = None
        self.built: list[Segment] | None = None
        self.views: list[tuple[View, Any, Held]] = []

    def teardown(self) -> None:
        self.patches.close()

    @property
    def index(self) -> Any:
        """The segments, None while there are few subscriptions."""
        index = self.engine._state.index.current
        return None if isinstance(index, NecessaryIndex) else index

    # --- changes -------------------------------------------------------------------------------------------------

    @rule(name=IDS, expression=expressions, subscriber=SUBSCRIBERS, expires=MOMENTS)
    def subscribe(
        self, name: str, expression: Expression, subscriber: str | None, expires: int | None
    ) -> None:
        try:
            self.engine.subscribe(name, expression, subscriber=subscriber, expires=expires)
        except thatch.FilterError:
            return
        self.held[name] = (expression, subscriber, expires)

    @rule(name=IDS, value=st.sampled_from(SMALL_NUMBERS))
    def replace_with_a_plain_box(self, name: str, value: float) -> None:
        self.subscribe(name, thatch.attr("x") >= value, None, None)

    @rule(rows=st.lists(st.tuples(IDS, expressions), max_size=5))
    def subscribe_many(self, rows: list[tuple[str, Expression]]) -> None:
        texts_of, names = [], []
        for name, expression in dict(rows).items():
            try:
                texts_of.append(str(Filter.of(expression)))
            except thatch.FilterError:
                continue
            names.append(name)
            self.held[name] = (expression, None, None)
        columns = {"subscription": pa.array(names, pa.string()), "filter": pa.array(texts_of, pa.string())}
        assert self.engine.subscribe_many(pa.table(columns)).num_rows == 0

    @rule(name=IDS)
    def unsubscribe(self, name: str) -> None:
        try:
            self.engine.unsubscribe(name)
        except thatch.errors.UnknownSubscriptionError:
            assert name not in self.held
        else:
            del self.held[name]

    @rule(now=st.integers(0, 5))
    def expire(self, now: int) -> None:
        gone = [name for name, (_, _, expires) in self.held.items() if expires is not None and expires <= now]
        assert self.engine.expire(now) == gone
        for name in gone:
            del self.held[name]

    # --- merges --------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.job is None and self.index is not None)
    @rule()
    def start_a_merge(self) -> None:
        self.job = self.index.next_job()
        assert self.job is not None or not self.index.has_work

    @precondition(lambda self: self.job is None and self.index is not None and len(self.held) > 0)
    @rule()
    def start_to_merge_everything(self) -> None:
        self.job = self.index.whole_job()
        self.engine._state._publish()

    @precondition(lambda self: self.job is not None and self.built is None)
    @rule()
    def build(self) -> None:
        assert self.job is not None
        assert self.index.next_job() is None, "one job at a time"
        self.built = self.job.build()

    @precondition(lambda self: self.built is not None)
    @rule()
    def finish_the_merge(self) -> None:
        self.index.finish(self.job, self.built)
        self.engine._state._publish()
        self.job = self.built = None

    @precondition(lambda self: self.job is not None)
    @rule(is_forked=st.booleans())
    def give_the_merge_up(self, is_forked: bool) -> None:
        if is_forked:
            self.engine._state.renew_locks()
        else:
            self.index.abandon()
        self.job = self.built = None

    @precondition(lambda self: self.job is None)
    @rule()
    def compact(self) -> None:
        self.engine.compact()
        stats = self.engine.stats()
        assert stats.get("dead", 0) == 0
        assert self.engine._state.ids.slots == len(self.held)

    @rule(name=IDS, value=st.sampled_from(SMALL_NUMBERS))
    def subscribe_when_many_attributes_are_gone(self, name: str, value: float) -> None:
        with mock.patch.object(state, "_MANY_NAMES", -(10**9)):
            self.subscribe(name, thatch.attr("y") <= value, "ann", None)

    # --- at rest -------------------------------------------------------------------------------------------------

    @rule(mode=st.sampled_from(["r", "a"]))
    def save_and_open(self, mode: Any) -> None:
        self.engine.save(self.folder / "engine")
        self._take(thatch.Engine.open(self.folder / "engine", mode=mode), is_kept=mode == "a")

    @rule(is_kept=st.booleans())
    def pickle(self, is_kept: bool) -> None:
        self._take(pickle.loads(pickle.dumps(self.engine)), is_kept=is_kept)

    def _take(self, other: thatch.Engine, *, is_kept: bool) -> None:
        assert other.subscriptions().equals(self.engine.subscriptions())
        for event in self.probes:
            assert other.match(event) == wanted(self.held, event)
        if is_kept:
            self.engine, self.job, self.built = other, None, None

    # --- questions -----------------------------------------------------------------------------------------------

    @rule()
    def begin_to_read(self) -> None:
        view, ids = self.engine._state.published
        self.views = [*self.views[-2:], (view, ids, dict(self.held))]

    @rule(event=events, now=MOMENTS)
    def match(self, event: dict[str, Any], now: int | None) -> None:
        try:
            list(reference.flat_events(event))
        except thatch.EventError:
            assume(False)
        self.probes = [*self.probes[-2:], event]
        names = wanted(self.held, event, now)
        assert self.engine.match(event, now=now) == names
        assert self.engine.count(event, now=now) == len(names)
        assert self.engine.any(event, now=now) == bool(names)
        who = [self.held[name][1] or name for name in names]
        assert self.engine.match(event, now=now, by="subscriber") == list(dict.fromkeys(who))

    @rule(
        rows=st.lists(st.tuples(*[st.none() | st.sampled_from(SMALL_NUMBERS)] * 2), max_size=3), now=MOMENTS
    )
    def match_batch(self, rows: list[tuple[float | None, float | None]], now: int | None) -> None:
        columns = {
            name: pa.array([row[place] for row in rows], pa.float64()) for place, name in enumerate("xy")
        }
        found = self.engine.match_batch(pa.table(columns), ordered=True, now=now).to_pylist()
        expected = []
        for number, row in enumerate(rows):
            event = {name: value for name, value in zip("xy", row, strict=True) if value is not None}
            expected += [{"event": number, "subscription": name} for name in wanted(self.held, event, now)]
        assert found == expected

    @invariant()
    def answers_are_those_of_the_definition(self) -> None:
        for event in self.probes:
            assert self.engine.match(event) == wanted(self.held, event)

    @invariant()
    def a_view_answers_as_of_its_moment(self) -> None:
        for view, ids, held in self.views:
            for event in self.probes:
                assert ids.names(view.match(read_event(event))) == wanted(held, event)

    @invariant()
    def holds_the_same_subscriptions_in_the_same_order(self) -> None:
        assert list(self.engine) == list(self.held)


class SteppedMergesOfGrowingEngines(SteppedMerges):
    """The same from plain Python on."""

    FEW = 4


HISTORIES = settings(max_examples=max(settings().max_examples // 5, 15), stateful_step_count=25)
SteppedMerges.TestCase.settings = HISTORIES
SteppedMergesOfGrowingEngines.TestCase.settings = HISTORIES

TestSteppedMerges = SteppedMerges.TestCase
TestSteppedMergesOfGrowingEngines = SteppedMergesOfGrowingEngines.TestCase


# --- churn -----------------------------------------------------------------------------------------------------------


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

    tracemalloc.start()
    try:
        memory_after(400)
        middle = memory_after(400)
        end = memory_after(800)
    finally:
        tracemalloc.stop()
    assert end - middle < 200_000 + middle // 4


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


def test_tallies_count_the_events_of_a_batch(segmented: thatch.Engine) -> None:
    segmented.tally()
    segmented.match_batch(pa.table({"x": [3, 9], "a0": [1, 1]}))
    assert {name: matches for name, (_, matches) in tallies(segmented).items() if matches} == {
        "s0": 2, "s3": 2, "s6": 1, "s9": 1,
    }  # fmt: skip
