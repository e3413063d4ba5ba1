"""One point of a curve, and how it is measured."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.contest import Contestant, latencies, race
from benchmarks.ours import engine_of, ids_of
from thatch.workloads import Workload

__all__ = ["Point", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The figures at one value of the varied quantity."""

    curve: str
    value: float
    subscriptions: int
    matches: float  # per event
    microseconds: float  # per event, best round
    p99: float
    hot_bytes: float  # per subscription
    build_seconds: float


def measure(curve: str, value: float, workload: Workload, *, rounds: int, floor: float) -> Point:
    """Build an engine, then match one event per call."""
    count = len(workload.subscriptions)
    ids, events = ids_of(count), workload.events()
    started = time.perf_counter()
    engine = engine_of(workload, ids)
    built = time.perf_counter() - started
    matches = float(np.mean([len(engine.match(event)) for event in events]))
    taken = race([Contestant(name="match", call=engine.match, items=events)], rounds=rounds, floor=floor)
    return Point(
        curve=curve,
        value=value,
        subscriptions=count,
        matches=matches,
        microseconds=taken["match"],
        p99=float(np.percentile(latencies(engine.match, events, 4), 99)),
        hot_bytes=engine.stats().get("bytes_hot", 0) / count,
        build_seconds=built,
    )
