"""Milliseconds an event of the database tier, beside a scan in the same database and the engine in memory."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.console import note
from benchmarks.matching.rows import Row, at_least
from thatch import Engine, parse
from thatch.model.events import read_event
from thatch.stores import EmbeddedPostgres, PostgresStore, SqliteStore
from thatch.tiering.problem import Home, StoredSubscription

__all__ = ["database_rows"]

_AXES = 8
_SYMBOLS = 1_000
_BATCH = 2_000
_EVENTS = 12
_WAYS = ("indexscan", "bitmapscan", "indexonlyscan")  # in which PostgreSQL uses an index


def _conjunctions(count: int, rng: np.random.Generator) -> Iterator[str]:
    """An equality and two ranges."""
    for symbol in rng.integers(0, _SYMBOLS, count).tolist():
        first, second = rng.choice(_AXES, 2, replace=False).tolist()
        low, width = rng.integers(0, 900), rng.integers(50, 400)
        yield f"symbol = 's{symbol}' and a{first} > {low} and a{second} between {low} and {low + width}"


def _boxes(count: int, rng: np.random.Generator) -> Iterator[str]:
    """A range on every axis."""
    lows = rng.integers(0, 600, (count, _AXES))
    highs = lows + rng.integers(200, 600, (count, _AXES))
    for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
        yield " and ".join(f"a{axis} between {low[axis]} and {high[axis]}" for axis in range(_AXES))


_LOADS: dict[str, Callable[[int, np.random.Generator], Iterator[str]]] = {
    "conjunctions": _conjunctions,
    "boxes": _boxes,
}


def database_rows(rounds: int, seed: int, sizes: list[int]) -> list[Row]:
    """Each load in each database, growing from size to size; answers are compared with the engine's first."""
    rows = []
    for load in _LOADS:
        for kind in ("sqlite", "postgres"):
            with _opened(kind) as store:
                rows += _grown(kind, load, store, rounds, seed, sizes)
    return rows


@contextmanager
def _opened(kind: str) -> Iterator[Any]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder) / "cold.db", waits=False, cache=64 << 20)
            yield store
            store.close()
    else:
        with EmbeddedPostgres() as server:
            store = PostgresStore(server.where)
            yield store
            store.close()


def _grown(kind: str, load: str, store: Any, rounds: int, seed: int, sizes: list[int]) -> list[Row]:
    rng = np.random.default_rng(seed)
    texts = _LOADS[load](max(sizes), rng)
    engine, done, rows = Engine(background=False), 0, []
    events = [
        {f"a{axis}": int(value) for axis, value in enumerate(values[1:])} | {"symbol": f"s{values[0]}"}
        for values in np.random.default_rng(seed + 1).integers(0, _SYMBOLS, (_EVENTS, _AXES + 1))
    ]
    records = [read_event(event) for event in events]
    clock = _clock(kind, store)
    for size in sizes:
        note(f"{kind}, {load}: {size:,} rows")
        for start in range(done, size, _BATCH):
            some = [
                StoredSubscription(f"s{number}", parse(text), text, None, inf)
                for number, text in zip(range(start, min(start + _BATCH, size)), texts, strict=False)
            ]
            store.put([(each, Home(0, is_cold=True)) for each in some], [])
            for each in some:
                engine.subscribe(each.identity, each.filter)
        done = size
        if kind == "postgres":
            store.query("ANALYZE boxes")
            store.query("SET max_parallel_workers_per_gather = 0")  # one core for all
        for record, event in zip(records, events, strict=True):
            assert [each.identity for each in store.match(record)] == engine.match(event)
        ours = _best(lambda: [store.match(each) for each in records], rounds, clock)
        scanned = _best(lambda: _scans(kind, store, records), rounds, clock)
        memory = _best(lambda: [engine.match(each) for each in events], rounds, time.process_time)
        rows.append(
            Row(
                what=f"{kind}, {load}",
                subscriptions=size,
                ours=ours / _EVENTS * 1e3,
                unit="ms",
                matches=sum(map(len, map(engine.match, events))) / _EVENTS,
                peer="scan in the same database",
                theirs=scanned / _EVENTS * 1e3,
                ratio=scanned / ours,
                goal=at_least(1) if load == "conjunctions" else None,
                details={
                    "engine in memory, ms": memory / _EVENTS * 1e3,
                    "events that the database answers by a scan": sum(
                        _is_scan(store.plan(each)) for each in records
                    ),
                },
            )
        )
    return rows


def _clock(kind: str, store: Any) -> Callable[[], float]:
    """Processor time, of the server's session too; where that is not told, the time that passes."""
    if kind == "sqlite":
        return time.process_time
    ((session,),) = store.query("SELECT pg_backend_pid()")
    told = Path(f"/proc/{session}/schedstat")
    if not told.exists():
        return time.perf_counter
    return lambda: time.process_time() + int(told.read_text().split()[0]) / 1e9


def _is_scan(plan: str) -> bool:
    """Whether a plan, of either database, looks at all rows."""
    return "SCAN b" in plan or "Seq Scan on boxes" in plan


def _scans(kind: str, store: Any, records: list[Any]) -> None:
    """The candidates, found by looking at every row; none is verified, which is in favour of the scan."""
    if kind == "sqlite":
        for record in records:
            asked = store.box_query(record)
            sides = "".join(f" AND low{n} <= ? AND high{n} >= ?" for n in range(len(asked.sides)))
            ends = [end for low, high in asked.sides for end in (high, low)]
            store.query(
                f"SELECT slot FROM boxes NOT INDEXED WHERE (access IS NULL OR {store.among('access')}){sides}",
                [store.list_value(asked.keys), *ends],
            )
        return
    for way in _WAYS:
        store.query(f"SET enable_{way} = off")
    for record in records:
        asked = store.box_query(record)
        sides = "".join(f" AND side{n} && ?::doubles" for n in range(len(asked.sides)))
        store.query(
            f"SELECT slot FROM boxes WHERE (access IS NULL OR {store.among('access')}){sides}",
            [asked.keys, *(f"[{low!r},{high!r}]" for low, high in asked.sides)],
        )
    for way in _WAYS:
        store.query(f"SET enable_{way} = on")


def _best(call: Callable[[], object], rounds: int, clock: Callable[[], float]) -> float:
    taken = []
    for _ in range(rounds):
        begun = clock()
        call()
        taken.append(clock() - begun)
    return min(taken)
