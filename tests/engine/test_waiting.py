"""Nobody waits for a merge but who has to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

import thatch
from tests.engine.test_threads import (
    EVENT,
    GLANCE,
    PATIENCE,
    Work,
    read_everything,
    settle,
    table_of,
    tiny_sizes,  # noqa: F401 - a fixture
)
from thatch.engine import merger
from thatch.engine.merger import BackgroundMerger
from thatch.matching.segments.merging import MergeJob


class Gate:
    """Merges in the background that stop before or after they have built, until the gate opens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_reached, self.opened = Event(), Event()
        self.is_built_first = False
        build = MergeJob.build

        def build_at_the_gate(job: MergeJob) -> Any:
            if threading.current_thread().name != "thatch-merge" and not self.holds_all:
                return build(job)
            built = build(job) if self.is_built_first else None
            self.is_reached.set()
            assert self.opened.wait(PATIENCE)
            return build(job) if built is None else built

        self.holds_all = False
        monkeypatch.setattr(MergeJob, "build", build_at_the_gate)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate(monkeypatch)
    yield gate
    gate.opened.set()


def merging_engine(gate: Gate) -> thatch.Engine:
    engine = thatch.Engine()
    for number in range(20):
        engine.subscribe(f"{number:02}", "x = 5")
    assert gate.is_reached.wait(PATIENCE)
    return engine


def changed(engine: thatch.Engine) -> list[str]:
    """Deaths, replacements and additions in what is being merged, and beside it; what x = 5 gives afterwards."""
    engine.unsubscribe("00")
    engine.subscribe("01", "x = 6")
    for turn in range(7):
        engine.subscribe("02", f"x = 5 and y != {turn}")
    engine.subscribe("03", "x = 6")
    engine.unsubscribe("03")
    engine.subscribe("03", "x = 5")
    engine.unsubscribe("19")
    engine.subscribe_many(table_of({"04": "x = 6", "40": "x = 5"}))
    return ["02", *(f"{number:02}" for number in range(5, 19)), "03", "40"]


@pytest.mark.parametrize("is_built_first", [False, True])
def test_reading_and_changing_go_on_during_a_merge_and_the_merge_knows(
    gate: Gate, is_built_first: bool
) -> None:
    gate.is_built_first = is_built_first
    engine = merging_engine(gate)
    assert Work(lambda: engine.match(EVENT)).answer() == [f"{number:02}" for number in range(20)]
    expected = Work(lambda: changed(engine)).answer()
    event = {"x": 5, "y": 9}
    for _ in range(2):  # while the merge is under way, and when it is done
        assert Work(lambda: engine.match(event)).answer() == expected
        assert Work(lambda: engine.count({"x": [5], "y": 9})).answer() == len(expected)
        assert Work(lambda: engine.match({"x": 6})).answer() == ["01", "04"]
        gate.opened.set()
        settle(engine)
    Work(engine.compact).answer()
    assert engine.match(event) == expected


def test_readers_do_not_wait_for_compact_either(gate: Gate) -> None:
    gate.opened.set()
    engine = merging_engine(gate)
    settle(engine)
    gate.is_reached.clear()
    gate.opened.clear()
    gate.holds_all = True
    compacting = Work(engine.compact)
    assert gate.is_reached.wait(PATIENCE)
    Work(lambda: read_everything(engine)).answer()
    gate.opened.set()
    compacting.answer()
    read_everything(engine)


def test_only_who_adds_waits_when_too_much_waits_to_be_merged(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merger, "_MOST_WAITING", 2)
    engine = merging_engine(gate)

    def add() -> None:
        for number in range(20, 80):
            engine.subscribe(f"{number}", "x = 5")

    adding = Work(add)
    adding.join(GLANCE)
    assert adding.is_alive()
    Work(lambda: read_everything(engine)).answer()
    Work(lambda: engine.unsubscribe("01")).answer()
    assert engine._state.index.current.backlog <= 4
    gate.opened.set()
    adding.answer()
    settle(engine)
    assert engine.match(EVENT) == ["00", *(f"{number:02}" for number in range(2, 80))]


def test_a_merge_that_begins_as_the_last_thread_ends_is_waited_for(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = thatch.Engine()
    step, ended = BackgroundMerger._step, Event()

    def step_and_begin_another(merging: BackgroundMerger) -> bool:
        has_more = step(merging)
        if not has_more and not ended.is_set():
            ended.set()
            gate.opened.clear()
            gate.is_reached.clear()
            for number in range(20, 40):
                engine.subscribe(f"{number}", "x = 5")
            assert gate.is_reached.wait(PATIENCE)
        return has_more

    monkeypatch.setattr(BackgroundMerger, "_step", step_and_begin_another)
    gate.opened.set()
    for number in range(20):
        engine.subscribe(f"{number:02}", "x = 5")
    assert ended.wait(PATIENCE)
    assert gate.is_reached.wait(PATIENCE)
    compacting = Work(engine.compact)
    compacting.join(GLANCE)
    gate.opened.set()
    compacting.answer()
    assert sorted(engine.match(EVENT)) == [f"{number:02}" for number in range(40)]
