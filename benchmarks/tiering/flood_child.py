"""A flood in a process of its own: what memory does, whether answers are right, how quick the fast tier stays.

Before the flood there are subscriptions that share their predicates. Those of the flood share none: each has a user, a
price and a volume of its own. What an event should find is known from the numbers, without any matcher.
"""

from __future__ import annotations

import ctypes
import gc
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.child import answer
from thatch.stores import EmbeddedPostgres, PostgresStore, SqliteStore
from thatch.tiering import DiagramTier, SegmentTier, TieredEngine

__all__: list[str] = []

_KINDS, _LEVELS = 200, 20
_BATCH = 1_000
_EVENTS = 400


def _measured(request: dict[str, Any]) -> dict[str, Any]:
    if request["store"] == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            return _flooded(lambda name: SqliteStore(Path(folder) / f"{name}.db", waits=False), request)
    with EmbeddedPostgres() as server:
        return _flooded(lambda name: PostgresStore(server.where, namespace=name), request)


def _flooded(opened: Callable[[str], Any], request: dict[str, Any]) -> dict[str, Any]:
    count, budget, base = request["count"], request["budget"], request["base"]
    rng = np.random.default_rng(request["seed"])
    tier = {"segments": SegmentTier, "diagrams": DiagramTier}[request["fast"]]
    _warmed(opened("warm"), tier(), rng)
    engine = TieredEngine(opened("flood"), budget=budget, fast=tier())
    started = _resident()  # what comes before the flood lives in the budget too
    _load(engine, _base(base))
    engine.rebalance()
    wrong = 0
    before, errors = _asked(engine, base, 0, rng)
    wrong += errors
    during, peak, done, spent = [], 0, 0, 0.0
    for batch in _flood(count, rng):
        begun = time.process_time()
        engine.subscribe_many(batch)
        spent += time.process_time() - begun
        done += batch.num_rows
        peak = max(peak, _resident(trimmed=False) - started)
        if done % max(count // 20, _BATCH) == 0:
            seconds, errors = _asked(engine, base, done, rng, _EVENTS // 10)
            during += seconds
            wrong += errors
    after, errors = _asked(engine, base, count, rng)
    grown = _resident() - started
    stats = engine.stats()
    engine.close()
    return {
        "before": float(np.percentile(before, 99)),
        "during": float(np.percentile(during, 99)),
        "after": float(np.percentile(after, 99)),
        "peak": peak,
        "grown": grown,
        "told": stats["bytes"],
        "wrong": wrong + errors,
        "seconds": spent,
        **{name: stats[name] for name in ("fast", "subscriptions", "moves_out")},
    }


def _warmed(store: Any, tier: Any, rng: np.random.Generator) -> None:
    """Load whatever is loaded on first use, moves included, and drop it."""
    engine = TieredEngine(store, budget=8 << 20, fast=tier)
    _load(engine, _base(2_000))
    _asked(engine, 2_000, 0, rng, 20)
    _load(engine, _flood(20_000, rng))
    _asked(engine, 2_000, 20_000, rng, 20)
    engine.close()


def _base(count: int) -> Iterator[pa.Table]:
    for start in range(0, count, _BATCH):
        numbers = range(start, min(start + _BATCH, count))
        yield pa.table(
            {
                "subscription": [f"b{n}" for n in numbers],
                "filter": [f"kind = 'k{n % _KINDS}' and level > {n // _KINDS % _LEVELS}" for n in numbers],
            }
        )


def _flood(count: int, rng: np.random.Generator) -> Iterator[pa.Table]:
    for start in range(0, count, _BATCH):
        numbers = range(start, min(start + _BATCH, count))
        noise = (rng.random(len(numbers)) / 2).tolist()
        yield pa.table(
            {
                "subscription": [f"f{n}" for n in numbers],
                "filter": [
                    f"user = 'u{n}' and price < {n % 100 + more!r} and volume > {n % 100 - more!r}"
                    for n, more in zip(numbers, noise, strict=True)
                ],
            }
        )


def _load(engine: TieredEngine, tables: Iterator[pa.Table]) -> None:
    for table in tables:
        rejects = engine.subscribe_many(table)
        assert not rejects.num_rows, rejects.slice(0, 1).to_pylist()


def _asked(
    engine: TieredEngine, base: int, flooded: int, rng: np.random.Generator, events: int = _EVENTS
) -> tuple[list[float], int]:
    """Seconds of the fast tier for each event, and how many answers were wrong."""
    seconds, wrong = [], 0
    for kind, level, user, price in rng.integers(
        0, [_KINDS, _LEVELS + 1, max(flooded, 1), 101], (events, 4)
    ).tolist():
        event = {"kind": f"k{kind}", "level": level, "user": f"u{user}", "price": price, "volume": price}
        begun = time.process_time()
        answered = engine.answer(event)
        seconds.append(time.process_time() - begun)
        expected = {f"b{n}" for n in range(kind, base, _KINDS) if n // _KINDS % _LEVELS < level}
        # A flood's price is below n % 100 + 1/2, its volume above n % 100 - 1/2: whole numbers meet at n % 100 alone.
        if flooded and price == user % 100:
            expected.add(f"f{user}")
        found = list(answered)
        wrong += len(found) != len(set(found)) or set(found) != expected
    return seconds, wrong


def _resident(*, trimmed: bool = True) -> int:
    """Bytes of this process in memory; after all that is free was given back, if so."""
    if trimmed:
        gc.collect()
        pa.default_memory_pool().release_unused()
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    answer(_measured)
