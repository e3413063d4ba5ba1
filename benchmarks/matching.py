"""One event as a dict to the ids that want it: the engine beside scans and indexes, in one run.

Every peer gets the same boxes and answers the same events; counts are compared before anything is timed. Times are
the best of several rounds over all events, wall clock. Thatch's include reading the dict and making the list of ids;
the scans get a ready NumPy row and give row numbers, which favours them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import rtree.index
import rule_engine
from numba import njit

import thatch
from benchmarks.parsing import as_rule
from thatch.workloads import Intervals, Matrix, Workload, generate

COUNT = 100_000
EVENTS = 256
WORKLOADS = ("W1", "W1c", "W2-3D", "W3", "W4A", "W5", "W6")
ROUNDS = 5
RULES = 1_000  # rule-engine evaluates one rule at a time; more would only take longer


@njit(nogil=True)
def naive_scan(offsets, attributes, low, high, point, out):
    """The naive compiled scan that benchmarks compare with: every box, every side, stop at the first that fails."""
    count = 0
    for box in range(len(offsets) - 1):
        passes = True
        for side in range(offsets[box], offsets[box + 1]):
            value = point[attributes[side]]
            if not (low[side] <= value <= high[side]):
                passes = False
                break
        if passes:
            out[count] = box
            count += 1
    return count


def run() -> list[dict[str, Any]]:
    """One row per workload: microseconds an event of the engine and of each peer, and the ratios."""
    return [_measured(name) for name in WORKLOADS]


def _measured(name: str) -> dict[str, Any]:
    workload = generate(name, COUNT, EVENTS, 1)
    events = workload.events()
    engine = thatch.Engine()
    started = time.perf_counter()
    rejects = engine.subscribe_many(
        pa.table({"subscription": [f"s{row}" for row in range(COUNT)], "filter": workload.filter_texts()})
    )
    assert rejects.num_rows == 0
    loaded = time.perf_counter() - started
    counts = [len(engine.match(event)) for event in events]
    stats = engine.stats()
    row: dict[str, Any] = {
        "what": f"match {name}",
        "subscriptions": COUNT,
        "matches_per_event": round(float(np.mean(counts)), 1),
        "thatch_us": _best(engine.match, events),
        "hot_bytes": round(stats["bytes_hot"] / COUNT, 1),
        "load_per_second": round(COUNT / loaded),
    }
    for peer, microseconds in _peers(name, workload, counts).items():
        row[f"{peer}_us"] = microseconds
        row[f"{peer}_ratio"] = round(microseconds / row["thatch_us"])
    return row


def _best(call: Callable[[Any], Any], items: Iterable[Any]) -> float:
    """Microseconds a call, the best of several rounds."""
    listed = list(items)
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for item in listed:
            call(item)
        best = min(best, time.perf_counter() - started)
    return round(best / len(listed) * 1e6, 2)


def _peers(name: str, workload: Workload, counts: list[int]) -> dict[str, float]:
    boxes, points = workload.subscriptions, workload.publications
    if not isinstance(boxes, Intervals) or not isinstance(points, Matrix):
        return {}  # text and thousands of attributes: no peer here takes them
    result = {}
    rows = list(points.values[:32])

    def numpy_scan(point: np.ndarray[Any, Any]) -> Any:
        value = point[boxes.attribute]
        passes = (boxes.low <= value) & (value <= boxes.high)
        return np.flatnonzero(np.logical_and.reduceat(passes, boxes.offsets[:-1]))

    out = np.empty(len(boxes.offsets), np.int64)

    def naive(point: np.ndarray[Any, Any]) -> Any:
        return naive_scan(boxes.offsets, boxes.attribute, boxes.low, boxes.high, point, out)

    assert [len(numpy_scan(point)) for point in rows] == counts[:32]
    assert [naive(point) for point in rows] == counts[:32]
    result["numpy_scan"] = _best(numpy_scan, rows)
    result["naive_compiled"] = _best(naive, rows)
    if name.startswith("W2"):
        result["rtree"] = _rtree(boxes, rows, counts)
    if name == "W1":
        result["rule_engine_at_1000"] = _rule_engine(workload)
    return result


def _rtree(boxes: Intervals, rows: list[Any], counts: list[int]) -> float:
    dimensions = rows[0].shape[0]
    low, high = boxes.low.reshape(-1, dimensions), boxes.high.reshape(-1, dimensions)
    settings = rtree.index.Property(dimension=dimensions)
    tree = rtree.index.Index(
        ((number, (*low[number], *high[number]), None) for number in range(len(low))), properties=settings
    )
    boxes_of_points = [(*point, *point) for point in rows]
    assert [len(list(tree.intersection(box))) for box in boxes_of_points] == counts[:32]
    return _best(lambda box: list(tree.intersection(box)), boxes_of_points)


def _rule_engine(workload: Workload) -> float:
    rules = [rule_engine.Rule(as_rule(text)) for text in workload.filter_texts()[:RULES]]
    context = dict.fromkeys(workload.attributes, -1.0)
    events = [{**context, **event} for event in workload.events()[:4]]
    return _best(lambda event: [rule.matches(event) for rule in rules], events)
