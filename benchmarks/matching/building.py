"""Loading: a million boxes from columns, and ready filters one by one."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.matching.session import Session
from benchmarks.ours import engine_of, ids_of
from thatch.workloads import generate

__all__ = ["building_rows"]


def building_rows(session: Session) -> list[Row]:
    """Seconds to build, and inserts a second with the merges that they cause."""
    return [_from_columns(session), _one_by_one(session)]


def _from_columns(session: Session) -> Row:
    sizes = session.sizes
    workload, ids = generate("W1", sizes.count, 0, sizes.seed), ids_of(sizes.count)
    best = float("inf")
    for _ in range(min(3, sizes.rounds)):
        note(f"building W1 from {sizes.count:,} rows of columns")
        started = time.perf_counter()
        engine = engine_of(workload, ids)
        best = min(best, time.perf_counter() - started)
        assert len(engine) == sizes.count
        del engine
    return Row(
        what="W1 build from columns", subscriptions=sizes.count, ours=best, unit="s", goal=at_most(6, 3)
    )


def _one_by_one(session: Session) -> Row:
    """The rate over all inserts, and that of the slowest tenth of them in a row."""
    sizes = session.sizes
    note(f"parsing {sizes.inserts:,} filters of W1")
    workload = generate("W1", sizes.inserts, 1, sizes.seed)
    named = [(f"s{row}", filter) for row, filter in enumerate(workload.filters())]
    note("subscribing them one by one")
    engine = thatch.Engine()
    subscribe = engine.subscribe
    slowest = 0.0
    started = time.perf_counter()
    for first, last in pairwise(np.linspace(0, len(named), 11).astype(int).tolist()):
        began = time.perf_counter()
        for name, filter in named[first:last]:
            subscribe(name, filter)
        slowest = max(slowest, (time.perf_counter() - began) / (last - first))
    engine.match(workload.events()[0])
    taken = time.perf_counter() - started
    return Row(
        what="W1 inserts one by one",
        subscriptions=sizes.inserts,
        ours=sizes.inserts / taken,
        unit="/s",
        goal=at_least(50_000, 200_000),
        details={"slowest tenth": 1 / slowest},
    )
