"""Matching while subscriptions come and go: the slow end of single calls beside that of an idle engine.

(a) one thread: a subscribe, an unsubscribe, four matches, and again; only matches are timed. (b) another thread
subscribes and unsubscribes with a short pause after each pair, this one matches. New filters are ready; who leaves is
drawn at random from those that were there first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt

import thatch
from benchmarks.console import note
from benchmarks.contest import latencies
from benchmarks.matching.rows import Row, at_most
from benchmarks.matching.session import Session
from benchmarks.ours import Prepared
from benchmarks.peers.scans import numpy_scan
from thatch.workloads import generate

__all__ = ["churn_rows"]

_MATCHES = 4  # after each pair of changes
_PAUSE = 0.0002  # seconds, of the thread that changes the set
_IDLE_CALLS = 5_000  # of a round before the changes
_AT_MOST = 30.0  # seconds of either form
_GOAL = at_most(5, 2)


@dataclass(slots=True)
class _Changes:
    """Subscriptions to come and to go, in pairs."""

    engine: thatch.Engine
    coming: Iterator[tuple[str, thatch.Filter]]
    going: Iterator[str]
    done: int = 0
    present: dict[str, thatch.Filter] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def change(self) -> bool:
        """One comes and one goes; False when nobody is left to."""
        pair = next(self.coming, None), next(self.going, None)
        if pair[0] is None or pair[1] is None:
            return False
        (name, filter), leaving = pair[0], pair[1]
        self.engine.subscribe(name, filter)
        self.engine.unsubscribe(leaving)
        self.present[name] = filter
        self.gone.add(leaving)
        self.done += 1
        return True


def churn_rows(session: Session) -> list[Row]:
    """Both forms, each on an engine of its own."""
    prepared = session.prepare("W1", session.sizes.count)
    rows = [_row(session, "W1 churn, one thread", prepared, _in_turn)]
    prepared = session.prepare("W1", session.sizes.count)
    return [*rows, _row(session, "W1 churn, another thread", prepared, _beside)]


def _row(session: Session, what: str, prepared: Prepared, form: Any) -> Row:
    sizes = session.sizes
    changes = _changes(session, prepared.engine)
    note(f"{what}: idle first")
    idle = _idle(prepared, sizes.rounds)
    note(f"{what}: up to {sizes.changes:,} changes")
    started = time.perf_counter()
    busy = form(prepared, changes)
    rate = changes.done / (time.perf_counter() - started)
    _check(prepared, changes)
    ours, theirs = float(np.percentile(busy, 99)), float(np.percentile(idle, 99))
    return Row(
        what=what,
        subscriptions=prepared.count,
        ours=ours,
        unit="µs",
        peer="idle p99",
        theirs=theirs,
        ratio=ours / theirs,
        goal=_GOAL,
        details={
            "p50": float(np.percentile(busy, 50)),
            "idle p50": float(np.percentile(idle, 50)),
            "p99.9": float(np.percentile(busy, 99.9)),
            "changes/s": rate,
            "changes": changes.done,
            "matches timed": len(busy),
        },
    )


def _idle(prepared: Prepared, rounds: int) -> npt.NDArray[np.float64]:
    """The calls of the round with the lowest p99: a busy moment of the machine must not flatter the comparison."""
    passes = max(4, _IDLE_CALLS // len(prepared.events))
    each = [latencies(prepared.engine.match, prepared.events, passes) for _ in range(rounds)]
    return min(each, key=lambda taken: float(np.percentile(taken, 99)))


def _changes(session: Session, engine: thatch.Engine) -> _Changes:
    sizes = session.sizes
    filters = generate("W1", sizes.changes, 0, sizes.seed + 1).filters()
    leaving = np.random.default_rng(sizes.seed).permutation(sizes.count)[: sizes.changes]
    coming = ((f"n{row}", filter) for row, filter in enumerate(filters))
    return _Changes(engine, coming, (f"s{row}" for row in leaving.tolist()))


def _in_turn(prepared: Prepared, changes: _Changes) -> npt.NDArray[np.float64]:
    clock, match, events = time.perf_counter_ns, prepared.engine.match, cycle(prepared.events)
    taken: list[int] = []
    ends = time.perf_counter() + _AT_MOST
    while changes.change() and time.perf_counter() < ends:
        for _ in range(_MATCHES):
            event = next(events)
            started = clock()
            match(event)
            taken.append(clock() - started)
    return np.array(taken) / 1e3


def _beside(prepared: Prepared, changes: _Changes) -> npt.NDArray[np.float64]:
    is_over = threading.Event()

    def keep_changing() -> None:
        try:
            while not is_over.is_set() and changes.change():
                time.sleep(_PAUSE)
        finally:
            is_over.set()

    clock, match, events = time.perf_counter_ns, prepared.engine.match, cycle(prepared.events)
    taken: list[int] = []
    thread = threading.Thread(target=keep_changing)
    ends = time.perf_counter() + _AT_MOST
    thread.start()
    try:
        while not is_over.is_set() and time.perf_counter() < ends:
            event = next(events)
            started = clock()
            match(event)
            taken.append(clock() - started)
    finally:
        is_over.set()
        thread.join()
    return np.array(taken) / 1e3


def _check(prepared: Prepared, changes: _Changes) -> None:
    """After all changes the answers must be those of a scan."""
    scan = numpy_scan(prepared.boxes, prepared.points[:2])
    for event, point in zip(prepared.events, scan.items, strict=False):
        first = {f"s{row}" for row in scan.call(point)} - changes.gone
        later = {name for name, filter in changes.present.items() if filter.matches(event)}
        assert set(prepared.engine.match(event)) == first | later, "after churn the answers are wrong"
