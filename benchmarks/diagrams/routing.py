"""Routing publications: full passes and walks from the terminal beside a compiled scan, and beside the segment engine."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np

import thatch
from benchmarks.console import note
from benchmarks.diagrams.bench import MICRO, MILLI, Bench, timed_in_turn
from benchmarks.diagrams.workload import NAMES, Subscriptions
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.peers.scans import NAIVE, naive
from thatch.matching.diagrams import DiagramIndex
from thatch.matching.diagrams.chains import FullPass
from thatch.matching.diagrams.index import Way
from thatch.matching.diagrams.ordering import order_from_filters
from thatch.model.events import read_event
from thatch.reduction.diagrams import find_covers
from thatch.workloads import generate

__all__ = ["routing_rows", "segment_rows"]

_WAYS: tuple[Way, ...] = ("full pass", "top-down", "fan-out")
_PAPER = {"A": 0.28, "B": 0.46}  # time after covering to time before, table 2
_WORKLOADS = ("W1", "W2-3D", "W3", "W4A", "W4B")


def routing_rows(bench: Bench) -> list[Row]:
    """Milliseconds for a publication that is read: the truth of all predicates, then of all chains."""
    rows = []
    for name in ("A", "B", "A, independent"):
        some = bench.drawn(name, bench.size(200_000))
        kept = {f"set {name}": np.arange(len(some))}
        kept[f"set {name}, covering"] = np.flatnonzero(find_covers(some.boxes) < 0)
        passes = []
        for title, chosen in kept.items():
            note(f"routing, {len(chosen):,} subscriptions, {title}")
            taken = _routed(bench, some, chosen)
            passes.append(taken["pass alone"])
            rows += _rows_of(title, taken, len(chosen))
        rows.append(
            Row(
                what=f"pass alone after covering to before, set {name}",
                subscriptions=len(some),
                ours=passes[1] / passes[0],
                unit="",
                goal=at_most(0.31) if name == "A" else None,
                details={"in the paper": _PAPER[name]} if name in _PAPER else {},
            )
        )
    return rows


def _rows_of(title: str, taken: dict[str, float], count: int) -> list[Row]:
    limit = {"set A": 0.3, "set A, covering": 0.1}.get(title)
    ours = taken["full pass"] * MILLI
    told = {name: taken[name] * MILLI for name in ("pass alone", "truth")}
    told |= {f"any, {way}": taken[way] * MILLI for way in ("top-down", "fan-out")}
    full = Row(
        what=f"full pass, {title}",
        subscriptions=count,
        matches=taken["matches"],
        ours=ours,
        unit="ms",
        goal=None if limit is None else at_most(limit),
        details={**told, "diagrams": taken["diagrams"]},
    )
    beside = Row(
        what=f"full pass, {title}",
        subscriptions=count,
        ours=ours,
        unit="ms",
        peer=NAIVE,
        theirs=taken["scan"] * MILLI,
        ratio=taken["scan"] / taken["full pass"],
        goal=at_least(15) if title == "set A" else None,
    )
    return [full, beside]


def _routed(bench: Bench, some: Subscriptions, chosen: Any) -> dict[str, float]:
    """Seconds a publication by way."""
    filters = some.filters(chosen)
    indexes = {way: _filled(DiagramIndex(NAMES, way), filters) for way in _WAYS}
    publications = some.publications(np.random.default_rng(bench.seed + 1), 20 if bench.is_quick else 200)
    records = [read_event(dict(zip(NAMES, row, strict=True))) for row in publications.tolist()]
    scan = naive(some.intervals(chosen), publications.astype(np.float64))
    few = scan.items[: max(10, len(records) // 5)]
    index = indexes["fan-out"]
    full = _full_pass(index)
    truths = [index.predicates.true_variables(record) for record in records]
    taken, answers = timed_in_turn(
        {
            "full pass": lambda: [full(index.predicates.true_variables(record)) for record in records],
            "pass alone": lambda: [full(truth) for truth in truths],
            "truth": lambda: [index.predicates.true_variables(record) for record in records],
            "top-down": lambda: [indexes["top-down"].any(record) for record in records],
            "fan-out": lambda: [index.any(record) for record in records],
            "scan": lambda: [scan.call(item) for item in few],
        },
        bench.rounds,
    )
    for way, each in indexes.items():
        counts = [len(each.match(record)) for record in records[: len(few)]]
        assert counts == answers["scan"], f"{way} and the scan differ"
    return {
        **{name: each / len(few if name == "scan" else records) for name, each in taken.items()},
        "matches": float(np.mean(answers["scan"])),
        "diagrams": index.stats()["diagrams"],
    }


def _full_pass(index: DiagramIndex) -> Callable[[Any], int]:
    """A pass over the chains of an index, as the index does it: true variables in, how many outputs are true."""
    columns, evaluate = index.chains.columns, FullPass()
    truth, nodes = np.zeros(index.predicates.size, np.uint8), len(columns.variable)
    value, found = np.zeros(nodes, np.uint8), np.zeros(nodes, np.int32)
    return lambda true: evaluate(columns, true, truth, value, found)


def _filled(index: DiagramIndex, filters: list[thatch.Filter]) -> DiagramIndex:
    gc.disable()  # it would look at all filters again and again
    try:
        for slot, each in enumerate(filters):
            index.add(slot, each)
    finally:
        gc.enable()
    return index


def segment_rows(bench: Bench) -> list[Row]:
    """W1 to W4 and the paper's sets, an event a call, both as a user calls them: a dict in, subscriptions out."""
    rows = []
    for name in (*_WORKLOADS, "set A", "set B"):
        note(f"diagrams beside segments, {name}")
        filters, events = _loaded(bench, name)
        index = _filled(DiagramIndex(order_from_filters(filters)), filters)
        engine = thatch.Engine(filters[0].schema, background=False)
        for slot, each in enumerate(filters):
            engine.subscribe(str(slot), each)
        taken, answers = timed_in_turn(
            {
                "diagrams": lambda i=index, e=events: [i.match(read_event(each)) for each in e],
                "segments": lambda g=engine, e=events: [g.match(each) for each in e],
            },
            bench.rounds,
        )
        for found, ids in zip(answers["diagrams"], answers["segments"], strict=True):
            assert found == list(map(int, ids)), "the two ways differ"
        stats = index.stats()
        rows.append(
            Row(
                what=f"diagrams, {name}",
                subscriptions=len(filters),
                matches=float(np.mean([len(each) for each in answers["diagrams"]])),
                ours=taken["diagrams"] / len(events) * MICRO,
                unit="µs",
                peer="segments",
                theirs=taken["segments"] / len(events) * MICRO,
                ratio=taken["segments"] / taken["diagrams"],
                details={
                    "predicates": stats["predicates"],
                    "nodes": stats["nodes"],
                    "diagrams": stats["diagrams"],
                },
            )
        )
    return rows


def _loaded(bench: Bench, name: str) -> tuple[list[thatch.Filter], list[Any]]:
    """The filters and events of a workload."""
    count = bench.size(50_000)
    if name in _WORKLOADS:
        workload = generate(name, count, 100, bench.seed)
        return workload.filters(), workload.events()
    some = bench.drawn(name.removeprefix("set "), count)
    publications = some.publications(np.random.default_rng(bench.seed + 1), 100).tolist()
    return some.filters(np.arange(count)), [dict(zip(NAMES, each, strict=True)) for each in publications]
