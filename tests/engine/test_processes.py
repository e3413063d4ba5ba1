"""Engines and the system: files, pickles and forks take them to other processes; threads and merges may fail."""

from __future__ import annotations

import copy
import json
import multiprocessing
import operator
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from weakref import WeakSet

import pytest

import thatch
from tests.engine.test_threads import GLANCE, PATIENCE, Work, settle
from thatch.engine import forks
from thatch.matching import growing
from thatch.matching.necessary import NecessaryIndex
from thatch.matching.segments import index as segments
from thatch.matching.segments import merging

EVENTS: list[dict[str, Any]] = [
    {},
    {"x": 5},
    {"x": [3, 12], "y": "abc"},
    {"x": 25, "y": "zebra", "o": {"p": [1, 2]}},
    {"y": "ABC", "o": [{"p": 1}, {"q": "two"}]},
]
FILTERS = [
    "x >= {n}", "x < {n} and y like 'a%'", "lower(y) = 'abc'", "o.p = {n} or y > 'w{n}'", "o.q like '%w%' and o.p = 1",
]  # fmt: skip

pytestmark = pytest.mark.slow
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
no_fork_warning = pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # it has threads, and may


@pytest.fixture(autouse=True)
def tiny_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, size in [
        (growing, "FEW", 16), (segments, "CAPACITY", 8),
        (merging, "FAN_OUT", 2), (merging, "_TIER", 8),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, size)


def filled(engine: thatch.Engine, count: int, first: int = 0) -> thatch.Engine:
    for number in range(first, first + count):
        engine.subscribe(f"s{number}", FILTERS[number % len(FILTERS)].format(n=number))
    return engine


def answers(engine: thatch.Engine) -> list[list[str]]:
    return [engine.match(event) for event in EVENTS]


def is_small(engine: thatch.Engine) -> bool:
    return isinstance(engine._state.index.current, NecessaryIndex)


def in_child(work: Callable[[], None]) -> None:
    """Fork, do something in the child, and make sure that it went well; who hangs there is ended."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(20)
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- files -----------------------------------------------------------------------------------------------------------


OTHER = """
import json, sys, thatch
engine = thatch.Engine.open(sys.argv[1], mode=sys.argv[2])
events = json.loads(sys.argv[3])
for line in sys.stdin:
    print(json.dumps(eval(line)), flush=True)
"""
ANSWERS = "[engine.match(event) for event in events]"


@contextmanager
def other_process(path: Path, mode: str) -> Iterator[Callable[[str], Any]]:
    """A process that opens an engine; it does what it is told, an expression at a time, and says what that gives."""
    command = [sys.executable, "-c", OTHER, str(path), mode, json.dumps(EVENTS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def says(line: str) -> Any:
            print(line, file=process.stdin, flush=True)
            return json.loads(Work(process.stdout.readline).answer())  # type: ignore[union-attr]  # it is a pipe

        yield says
    assert process.returncode == 0


@pytest.mark.parametrize("count", [10, 60])
def test_another_process_opens_changes_and_saves_what_this_one_saved(count: int, tmp_path: Path) -> None:
    path = tmp_path / "engine"
    engine = filled(thatch.Engine(), count)
    engine.unsubscribe("s1")
    assert is_small(engine) == (count == 10)
    engine.save(path)
    with other_process(path, "a") as other:
        assert other(ANSWERS) == answers(engine)
        other("engine.unsubscribe('s2')")
        other("engine.subscribe('s3', 'x = 5', subscriber='ann', expires=7)")
        other("engine.subscribe('new', 'x = 5')")
        other("engine.save()")
    engine.unsubscribe("s2")
    engine.subscribe("s3", "x = 5", subscriber="ann", expires=7)
    engine.subscribe("new", "x = 5")
    again = thatch.Engine.open(path)
    assert answers(again) == answers(engine)
    assert again.subscriptions().equals(engine.subscriptions())


@needs_fork
@no_fork_warning
def test_who_has_a_file_open_keeps_what_it_was_while_another_process_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "engine"
    filled(thatch.Engine(), 60).save(path)
    here = thatch.Engine.open(path)

    def replace() -> None:
        writing = thatch.Engine.open(path, mode="a")
        for number in range(0, 60, 2):
            writing.unsubscribe(f"s{number}")
        writing.save()

    with other_process(path, "r") as other:
        before = other(ANSWERS)
        in_child(replace)
        assert other(ANSWERS) == before == answers(here)
    expected = [[name for name in names if int(name[1:]) % 2] for names in before]
    assert answers(thatch.Engine.open(path)) == expected


# --- pickles ---------------------------------------------------------------------------------------------------------


def with_deaths() -> thatch.Engine:
    engine = filled(thatch.Engine(), 60)
    for number in (0, 7, 30, 58, 59):
        engine.unsubscribe(f"s{number}")
    engine.subscribe("s8", "x = 5")
    return engine


def with_everything_known() -> thatch.Engine:
    engine = thatch.Engine(thatch.Schema({"x": thatch.Integer(0, 100)}))
    for number in range(40):
        who = None if number % 3 == 0 else f"subscriber {number % 3}"
        engine.subscribe(
            f"s{number}", f"x >= {number}", subscriber=who, expires=number if number % 2 else None
        )
    return engine


KINDS: dict[str, Callable[[], thatch.Engine]] = {
    "empty": thatch.Engine,
    "small": lambda: filled(thatch.Engine(), 10),
    "segmented": lambda: filled(thatch.Engine(background=False), 64),
    "with deltas": lambda: filled(thatch.Engine(), 61),
    "with deaths": with_deaths,
    "with schema, subscribers and expiry": with_everything_known,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("copies", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy, copy.copy])
def test_copies_of_engines_are_equal_and_share_nothing(
    kind: str, copies: Callable[[thatch.Engine], thatch.Engine]
) -> None:
    engine = KINDS[kind]()
    before, held = answers(engine), engine.subscriptions()
    first, second = copies(engine), copies(engine)
    for each in (first, second):
        assert answers(each) == before
        assert each.subscriptions().equals(held)
        assert each.schema == engine.schema
        assert [each.match(event, by="subscriber", now=9) for event in EVENTS] == [
            engine.match(event, by="subscriber", now=9) for event in EVENTS
        ]
    filled(first, 20, first=5)
    for name in list(first)[::2]:
        first.unsubscribe(name)
    first.compact()
    assert answers(second) == before == answers(engine)
    assert second.subscriptions().equals(held)
    filled(second, 70)
    assert engine.subscriptions().equals(held)


def test_one_pickle_loaded_twice_gives_engines_that_share_nothing(tmp_path: Path) -> None:
    with_deaths().save(tmp_path / "engine")
    opened = thatch.Engine.open(tmp_path / "engine", mode="r")
    content = pickle.dumps(opened)
    first, second = pickle.loads(content), pickle.loads(content)
    before = answers(opened)
    for name in list(first):
        first.unsubscribe(name)  # a copy of an engine that refuses changes takes them
    assert answers(first) == [[]] * len(EVENTS)
    assert answers(second) == before == answers(opened)


def test_engines_go_to_spawned_processes_and_come_back() -> None:
    engine = with_deaths()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(operator.methodcaller("match", EVENTS[2]), (engine,)).get(PATIENCE)
        returned = pool.apply_async(copy.copy, (engine,)).get(PATIENCE)
    assert found == engine.match(EVENTS[2])
    assert returned.subscriptions().equals(engine.subscriptions())
    returned.subscribe("new", "x = 5")
    assert "new" not in engine


# --- forks -----------------------------------------------------------------------------------------------------------


@needs_fork
@no_fork_warning
def test_a_child_has_the_engine_whole_while_threads_change_and_ask_in_the_parent(tmp_path: Path) -> None:
    engine = filled(thatch.Engine(), 60)
    engine.compact()
    done = Event()

    def write() -> None:
        turn = 0
        while not done.is_set() and turn < 20_000:
            turn += 1
            engine.subscribe(f"t{turn}", "x = 5")
            engine.unsubscribe(f"t{turn}")
            engine.subscribe("turn", f"x = 5 and y != {turn}", subscriber="somebody", expires=turn)

    def read() -> None:
        while not done.is_set():
            assert engine.count({"x": 5, "y": "-"}, now=-1) >= 2

    def child() -> None:
        held = list(engine)
        assert held[:60] == [f"s{number}" for number in range(60)]
        filled(engine, 60, first=100)
        settle(engine)
        engine.compact()
        assert [*held, *(f"s{number}" for number in range(100, 160))] == list(engine)
        assert engine.match({"x": 5, "y": "-"}, by="subscriber")[:1] == ["s0"]
        engine.save(tmp_path / "child", overwrite=True)
        assert answers(thatch.Engine.open(tmp_path / "child")) == answers(engine)

    works = [Work(write), Work(read)]
    try:
        for _ in range(6):
            in_child(child)
    finally:
        done.set()
    for work in works:
        work.answer()
    settle(engine)
    engine.compact()
    assert engine.match({"x": 5})[:2] == ["s0", "s5"]


@needs_fork
def test_a_child_of_a_process_that_was_loading_kernels_does_not_hang() -> None:
    code = """
import os, signal, threading, thatch
from thatch.compiled.decorators import COMPILER_LOCK
from thatch.matching import growing
engine, loading, is_over = thatch.Engine(), threading.Event(), threading.Event()
def load():  # as a merge does that needs a kernel for the first time
    with COMPILER_LOCK:
        loading.set()
        is_over.wait(0.5)
threading.Thread(target=load).start()
loading.wait()
child = os.fork()
if child == 0:
    signal.alarm(10)
    growing.FEW = 1
    engine.subscribe("s", "x >= 0")
    os._exit(0 if engine.match({"x": 1}) == ["s"] else 1)
is_over.set()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    assert subprocess.run(command, check=False, timeout=PATIENCE).returncode == 0


class LockThatWaits:
    """A lock that, once released, lets another thread get as far as it can."""

    def __init__(self, lock: Any, other_is_there: Event) -> None:
        self._lock, self._other_is_there = lock, other_is_there
        self.acquire = lock.acquire

    def release(self) -> None:
        self._lock.release()
        self._other_is_there.wait(GLANCE)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[thatch.Engine]:
    """Engines of which alone forks know."""
    monkeypatch.setattr(forks, "_states", WeakSet())
    monkeypatch.setattr(forks, "_held", [])
    return [thatch.Engine() for _ in range(20)]


def test_a_thread_that_has_forked_leaves_the_locks_of_the_next_one_alone(
    watched: list[thatch.Engine],
) -> None:
    lowest = min((engine._state for engine in watched), key=id)
    is_holding, is_enough = Event(), Event()
    lowest.writing = LockThatWaits(lowest.writing, is_holding)  # type: ignore[assignment]  # a stand-in

    def next_fork() -> None:
        forks._hold()
        is_holding.set()
        is_enough.wait(PATIENCE)
        assert all(engine._state.changing.locked() for engine in watched)
        forks._release()

    forks._hold()
    following = Work(next_fork)
    forks._release()
    is_enough.set()
    following.answer()
    assert not any(engine._state.changing.locked() for engine in watched)


def test_engines_may_be_made_while_another_thread_forks(watched: list[thatch.Engine]) -> None:
    def fork() -> None:
        for _ in range(300):
            forks._hold()
            assert all(engine._state.changing.locked() for engine in watched)
            forks._release()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        forking = Work(fork)
        for _ in range(20_000):
            thatch.Engine()
            if not forking.is_alive():
                break
    finally:
        sys.setswitchinterval(interval)
    forking.answer()
