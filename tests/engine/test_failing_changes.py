"""Changes that raise at any line, whatever raises: afterwards everything is as it was before."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

import thatch
from thatch.engine import merger
from thatch.engine.texts import table as text_table
from thatch.matching import growing
from thatch.matching.segments import index as segments
from thatch.matching.segments import merging

SOURCE = Path(thatch.__file__).parent
POINTS = int(os.environ.get("THATCH_FAILURES", "12"))  # lines of a change at which something is raised
PLACES = tuple(str(SOURCE / name) for name in ("engine", "matching"))
EVENTS = [{"x": 3, "tag": "ab", "y": 1}, {"x": 7, "tag": "xab", "y": 2}, {"x": 3}, {"z99": 1}, {}]
FILTERS = [
    "x = {n}",
    "x > {n} and y < 3",
    "tag like '%ab' and z{n} is missing",
    "x in (1, {n}) or tag = 't{n}'",
    "tag like '%ab%' or lower(tag) = 't{n}'",
]


class BrokenError(BaseException):
    """What is raised in the middle, as Ctrl-C is."""


@contextmanager
def raising_at(step: int) -> Iterator[list[str]]:
    """Raise when the engine or its index come to their step-th line; the list says where that was."""
    left = step
    where: list[str] = []

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(PLACES) or frame.f_code.co_name in (
            "undo",
            "repair",
            "revert",
        ):
            return None
        if event == "line" and not where and not _is_with(frame):
            left -= 1
            if left < 0:
                where.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}")
                raise BrokenError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield where
    finally:
        sys.settrace(before)


def _is_with(frame: FrameType) -> bool:
    """Whether this line begins or ends a `with` block: between its end and the release of its lock nothing comes."""
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with ")


def seen(engine: thatch.Engine) -> Any:
    """All that can be seen of an engine."""
    return (
        engine.subscriptions().to_pylist(),
        len(engine),
        list(engine),
        ["s2" in engine, "new" in engine],
        [engine.match(event, by="payload", now=0) for event in EVENTS],
        [engine.match(event, by="subscriber", now=20) for event in EVENTS],
        [engine.count(event, now=0) for event in EVENTS],
        engine.match_batch(pa.Table.from_pylist(EVENTS[:2]), now=0, ordered=True).to_pylist(),
    )


def filled(count: int, *, background: bool = False) -> thatch.Engine:
    engine = thatch.Engine(background=background)
    for number in range(count):
        engine.subscribe(
            f"s{number}",
            FILTERS[number % len(FILTERS)].format(n=number),
            subscriber=None if number % 3 else f"who{number % 5}",
            expires=10 + number if number % 4 == 1 else None,
        )
    engine.subscribe("s3", "x = 3", payload=[1], tags=["old"])
    engine.disable("s4")
    return engine


@pytest.fixture(autouse=True)
def tiny_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, size in [
        (growing, "FEW", 12), (segments, "CAPACITY", 8), (merging, "FAN_OUT", 2), (merging, "_TIER", 8),
        (text_table, "RECENT", 5),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, size)


NEW = pa.table(
    {
        "subscription": ["new", "s1", "newer"],
        "filter": ["x = 3", "q = 1", "y > 0"],
        "subscriber": [None, "c", "d"],
        "expires": [None, 50, 60],
    }
)
CHANGES: dict[str, Callable[[thatch.Engine], object]] = {
    "subscribe": lambda engine: engine.subscribe(
        "new", "x = 3 and lower(fresh) = 'a'", subscriber="n", expires=99
    ),
    "subscribe a large one": lambda engine: engine.subscribe(
        "new", thatch.parse(" or ".join(f"x = 3 and w = {n}" for n in range(300)))
    ),
    "replace": lambda engine: engine.subscribe("s2", "x = 3 and tag like 'a_'", subscriber="n", expires=30),
    "subscribe many": lambda engine: engine.subscribe_many(NEW),
    "subscribe with a payload": lambda engine: engine.subscribe("new", "x = 3", payload={"a": 1}, tags=["t"]),
    "replace a disabled one": lambda engine: engine.subscribe("s4", "x = 3", tags=["t"]),
    "disable": lambda engine: engine.disable("s2"),
    "enable": lambda engine: engine.enable("s4"),
    "unsubscribe": lambda engine: engine.unsubscribe("s1"),
    "unsubscribe a new one": lambda engine: engine.unsubscribe(list(engine)[-1]),
    "expire": lambda engine: engine.expire(16),
    "compact": thatch.Engine.compact,
    "tally": thatch.Engine.tally,
}


def lines_of(work: Callable[[], object]) -> int:
    """How many lines of the engine and its index some work comes to."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line" and not _is_with(frame)
        return trace if frame.f_code.co_filename.startswith(PLACES) else None

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


def steps_of(lines: int) -> range:
    """Some of the lines, from the first to the last."""
    return range(lines % 7, lines, max(1, lines // POINTS))


def check_lines(engine: thatch.Engine, change: Callable[[thatch.Engine], object], lines: int) -> None:
    """Raise at lines that a change comes to, one after the other; then make it."""
    before = seen(engine)
    for step in steps_of(lines):
        with raising_at(step) as where, suppress(BrokenError):
            change(engine)
        if seen(engine) != before:  # it was made, and only the way back to the caller was interrupted
            published = engine._state.published
            assert engine._state._before is None or engine._state._before[0] is not published, where
            return
        if not where:  # it came to fewer lines than the first time
            return
    change(engine)


@pytest.mark.parametrize(
    "count",
    [
        5,
        pytest.param(11, marks=pytest.mark.slow),  # the next one moves them to segments
        14,
        pytest.param(41, marks=pytest.mark.slow),  # in several segments
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "subscribe a large one" else name
        for name in CHANGES
    ],
)
def test_a_change_that_raises_at_any_line_has_changed_nothing(name, count):
    engine, whole = filled(count), filled(count)
    lines = lines_of(lambda: CHANGES[name](whole))
    check_lines(engine, CHANGES[name], lines)
    assert seen(engine) == seen(whole)
    for each in (engine, whole):  # and both can go on
        each.subscribe("next", "x = 3")
        each.unsubscribe("s3")
        each.compact()
    assert seen(engine) == seen(whole)


def test_a_merge_in_the_background_that_raises_at_any_line_has_changed_nothing(monkeypatch):
    monkeypatch.setattr(merger.BackgroundMerger, "poke", lambda _: None)
    engine = filled(41, background=True)
    state, before = engine._state, seen(engine)
    other = filled(41, background=True)
    for step in steps_of(lines_of(other._state.merger._step)):
        with raising_at(step), suppress(BrokenError):
            state.merger._step()
        assert seen(engine) == before, step
    while state.merger._step():
        pass
    assert not state.index.current.has_work
    assert seen(engine) == before


def test_nobody_waits_for_a_thread_whose_start_was_interrupted(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(merger.BackgroundMerger, "poke", lambda _: None)
        engine = filled(41, background=True)
    merging, before = engine._state.merger, seen(engine)
    for step in range(20):
        with raising_at(step) as where, suppress(BrokenError):
            merging.poke()
        if not where:
            break
        assert merging._thread is None, where
    engine.compact()
    assert seen(engine) == before


def test_what_is_removed_while_a_merge_is_under_way_stays_if_the_removal_raises(monkeypatch):
    monkeypatch.setattr(merger.BackgroundMerger, "poke", lambda _: None)
    engine = filled(41, background=True)
    before = seen(engine)
    index = engine._state.index.current
    job = index.next_job()
    monkeypatch.setattr(type(engine._state.ids), "remove", _broken)
    with pytest.raises(BrokenError):
        engine.unsubscribe("s2")
    monkeypatch.undo()
    index.finish(job, job.build())
    engine._state._publish()
    assert seen(engine) == before


def _broken(*_: object) -> None:
    raise BrokenError


def test_an_interrupted_fold_of_ids_is_undone():
    for step in range(200):
        engine = filled(11)
        with raising_at(step) as where, suppress(BrokenError):
            engine._state.ids.texts.fold()
        engine._state.ids.texts.settle()
        engine.unsubscribe("s10")
        engine.subscribe("s10", "x = 3")
        engine.unsubscribe("s4")
        engine._state.ids.texts.fold()
        assert list(engine) == [f"s{number}" for number in range(11) if number != 4]
        assert "s4" not in engine
        if not where:
            return
    pytest.fail("it never ends")


def test_a_kernel_that_cannot_be_compiled_leaves_the_engine_as_it_was(monkeypatch):
    engine = filled(11)
    engine.enable("s4")  # the next one moves them to segments
    before = seen(engine)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("cannot compile")

    with monkeypatch.context() as patched:
        patched.setattr(segments.SegmentIndex, "extend", fails)
        with pytest.raises(RuntimeError, match="cannot compile"):
            engine.subscribe("new", "x = 1")
        assert seen(engine) == before
    engine.subscribe("new", "x = 1")
    assert len(engine) == len(engine.subscriptions()) == 12
