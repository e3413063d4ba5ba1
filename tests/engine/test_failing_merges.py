"""Merges that fail, and threads that cannot be had."""

from __future__ import annotations

import threading
from threading import Thread
from typing import Any

import pytest

import thatch
from tests.engine.test_processes import (
    answers,
    filled,
    tiny_sizes,  # noqa: F401 - a fixture
)
from tests.engine.test_threads import Work, settle
from thatch.engine import merger
from thatch.matching.segments.merging import MergeJob

pytestmark = pytest.mark.slow


class BrokenError(Exception):
    """What a merge raises here."""


def broken_build(job: MergeJob) -> Any:
    raise BrokenError


def test_a_merge_that_raises_leaves_everything_right_and_a_later_one_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", lambda hooked: raised.append(hooked.exc_type))
    engine, other = thatch.Engine(), filled(thatch.Engine(background=False), 60)
    with monkeypatch.context() as patched:
        patched.setattr(MergeJob, "build", broken_build)
        filled(engine, 60)
        settle(engine)
        engine.unsubscribe("s5")
        engine.subscribe("s10", "x = 5")
        settle(engine)
    assert set(raised) == {BrokenError}
    other.unsubscribe("s5")
    other.subscribe("s10", "x = 5")
    assert answers(engine) == answers(other)
    for each in (engine, other):
        each.subscribe("new", "x = 5")
        settle(each)
        assert each.stats()["waiting"] <= 8
    assert answers(engine) == answers(other)


def test_compacting_that_raises_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = filled(thatch.Engine(), 60)
    settle(engine)
    before = answers(engine)
    with monkeypatch.context() as patched:
        patched.setattr(MergeJob, "build", broken_build)
        with pytest.raises(BrokenError):
            engine.compact()
    assert answers(engine) == before
    Work(engine.compact).answer()
    assert engine.stats()["segments"] == 1
    assert answers(engine) == before


def test_an_engine_works_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoThread(Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    engine = thatch.Engine()
    with monkeypatch.context() as patched:
        patched.setattr(merger, "Thread", NoThread)
        filled(engine, 60)
        Work(engine.compact).answer()
    filled(engine, 30, first=60)
    settle(engine)
    assert answers(engine) == answers(filled(thatch.Engine(background=False), 90))
