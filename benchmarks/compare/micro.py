"""A short set of figures, run by path in a process of its own for each commit; prints them as JSON.

It uses only what every commit has: `thatch.parse`, `thatch.workloads`, and the oldest calls of engines, forwarding sets
and networks. All figures are microseconds of processor time, so that what else the machine does counts little: less is
better. Questions to an engine are timed on their thread alone: merges go on in another.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

import thatch
from thatch.workloads import generate

_COUNT = 20_000
_EVENTS = 256
_PASSES = 5


def _parse() -> float:
    texts = generate("W1", 2_000, 0, 1).filter_texts()
    return _best(thatch.parse, texts)


def _load() -> float:
    table = _table("W1")
    started = time.process_time()
    thatch.Engine().subscribe_many(table)
    return (time.process_time() - started) / _COUNT * 1e6


def _subscribe() -> float:
    engine = thatch.Engine()
    filters = list(enumerate(generate("W1", 5_000, 0, 1).filters()))
    started = time.process_time()
    for row, filter in filters:
        engine.subscribe(f"s{row}", filter)
    return (time.process_time() - started) / len(filters) * 1e6


def _ask(question: str, name: str) -> Callable[[], float]:
    def measured() -> float:
        engine = _engine(name)
        return _best(getattr(engine, question), generate(name, 0, _EVENTS, 1).events())

    return measured


def _forward() -> float:
    filters = list(enumerate(generate("W2-3D", 2_000, 0, 1).filters()))
    link = thatch.ForwardingSet()  # by the exact policy
    started = time.process_time()
    for row, filter in filters:
        link.add(f"s{row}", filter)
    return (time.process_time() - started) / len(filters) * 1e6


def _publish() -> float:
    workload = generate("W1", 500, _EVENTS, 1)
    with thatch.BlockingNetwork(thatch.Topology.line(3)) as net:
        feed, desk = net.connect("b1", "feed"), net.connect("b3", "desk")
        feed.advertise("true")
        kept = [desk.subscribe(filter) for filter in workload.filters()]
        found = _best(
            feed.publish, workload.events(), time.process_time
        )  # brokers have a thread of their own
        del kept
    return found


def _batch() -> float:
    engine = _engine("W2-3D")
    events = pa.Table.from_pylist(generate("W2-3D", 0, _EVENTS, 1).events())
    return _best(engine.match_batch, [events]) / _EVENTS


FIGURES: dict[str, Callable[[], float]] = {
    "parse W1": _parse,
    "load W1": _load,
    "subscribe W1": _subscribe,
    "match W1": _ask("match", "W1"),
    "match W2-3D": _ask("match", "W2-3D"),
    "match W3": _ask("match", "W3"),
    "match W5": _ask("match", "W5"),
    "any W1": _ask("any", "W1"),
    "count W1": _ask("count", "W1"),
    "match_batch W2-3D": _batch,
    "forward W2-3D": _forward,
    "publish W1": _publish,
}


def _table(name: str) -> pa.Table:
    ids = [f"s{row}" for row in range(_COUNT)]
    return pa.table({"subscription": ids, "filter": generate(name, _COUNT, 0, 1).filter_texts()})


def _engine(name: str) -> thatch.Engine:
    engine = thatch.Engine()
    engine.subscribe_many(_table(name))
    return engine


def _best(
    call: Callable[[Any], Any], items: Sequence[Any], clock: Callable[[], float] = time.thread_time
) -> float:
    best = float("inf")
    for _ in range(_PASSES):
        started = clock()
        for item in items:
            call(item)
        best = min(best, clock() - started)
    return best / len(items) * 1e6


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: FIGURES[name]() for name in sys.argv[1:] or FIGURES}))
