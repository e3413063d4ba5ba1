"""Simulates a flood of subscriptions against a memory budget, for figures 4, 5 and 6."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thatch.experiments.trials import Grid, Row, Simulation, columns, grid, random_of

if TYPE_CHECKING:
    from thatch.tiering import ColdTier, FastTier, Move

__all__ = ["FLOOD", "FLOOD_FULL", "FLOOD_QUICK", "MIGRATED", "MIGRATED_FULL", "MIGRATED_QUICK", "SETTING"]

CLASSES = 60  # of subscriptions; each is a cluster
_ATTRIBUTES, _PREDICATES = 9, 4
_MOMENTS = 20
_EVENTS = 6
_TRIES = 3  # the fastest counts
_MEGABYTE = 1 << 20

SETTING = (
    f"Subscriptions of {CLASSES} classes, each with its class and {_PREDICATES} of {_ATTRIBUTES} bounds. A bound comes "
    "from a small pool with a probability that grows from class to class, from 0 to 30 % (low sharing) or from 60 to 95 % (high "
    "sharing), else it is unique. They arrive one after the other, with events of two streams in between: those of the "
    "class that shares most, and those of the class that shares least. Memory is what the tiers report; a stream is "
    f"answered as soon as the tier of its class has answered: the median of {_EVENTS} events, each the fastest of {_TRIES} tries. "
    "Without defence the broker dies when the budget is used up."
)


def _subscriptions(rng: np.random.Generator, sharing: str, count: int) -> Iterator[str]:
    least, most = {"low": (0.0, 0.3), "high": (0.6, 0.95)}[sharing]
    for which in rng.integers(0, CLASSES, count).tolist():
        share = most - (most - least) * which / (CLASSES - 1)
        bounds = []
        for axis in rng.choice(_ATTRIBUTES, _PREDICATES, replace=False).tolist():
            bound = int(rng.integers(5)) / 5 if rng.random() < share else rng.random()
            bounds.append(f"x{axis} > {bound!r}")
        yield f"class = 'c{which}' and {' and '.join(bounds)}"


def _event(rng: np.random.Generator, which: int) -> dict[str, Any]:
    values = rng.random(_ATTRIBUTES).tolist()
    return {"class": f"c{which}"} | {f"x{axis}": value for axis, value in enumerate(values)}


def _flood(
    seed: int, *, defence: str, sharing: str, store: str, fast: str, count: int, budget: float
) -> Sequence[Row]:
    """Memory and the response times of two streams, at several moments of a flood."""
    from thatch.tiering import DiagramTier, SegmentTier

    tier = {"diagrams": DiagramTier, "segments": SegmentTier}[fast]()
    limit = int(budget * _MEGABYTE)
    # The same subscriptions and events for every defence and store.
    texts = _subscriptions(random_of(seed, sharing), sharing, count)
    if defence == "none":
        return _undefended(tier, texts, limit, count, seed)
    with _open_store(store) as cold:
        return _defended(tier, cold, texts, limit, count, seed)


def _undefended(fast: FastTier, texts: Iterator[str], budget: int, count: int, seed: int) -> list[Row]:
    from thatch import parse
    from thatch.tiering.problem import StoredSubscription

    rows: list[Row] = []
    rng = random_of(seed, "events")
    is_alive = True
    for number, text in enumerate(texts, start=1):
        if is_alive:
            fast.put([StoredSubscription(f"s{number}", parse(text), text, None, inf)])
            is_alive = number % 16 != 0 or fast.nbytes() <= budget
        if number % max(count // _MOMENTS, 1) == 0:
            shared, unshared = (
                _response(fast.match, rng, which) if is_alive else None for which in (0, CLASSES - 1)
            )
            rows.append(
                _row(number, fast.nbytes() if is_alive else None, shared, unshared, len(fast), 0, budget)
            )
    return rows


def _defended(
    fast: FastTier, cold: ColdTier, texts: Iterator[str], budget: int, count: int, seed: int
) -> list[Row]:
    import pyarrow as pa

    from thatch.tiering import TieredEngine

    rows: list[Row] = []
    rng = random_of(seed, "events")
    engine = TieredEngine(cold, budget=budget, fast=fast)
    step = max(count // _MOMENTS, 1)
    for number in range(step, count + 1, step):
        some = [text for _, text in zip(range(step), texts, strict=False)]
        ids = [f"s{number - step + each}" for each in range(len(some))]
        for start in range(0, len(some), 50):
            engine.subscribe_many(
                pa.table({"subscription": ids[start : start + 50], "filter": some[start : start + 50]})
            )
        tiers = {each.key: each.is_cold for each in engine.clusters()}
        shared, unshared = (
            _response(engine.match if tiers.get(f"class = 'c{which}'", False) else engine.answer, rng, which)
            for which in (0, CLASSES - 1)
        )
        moves = engine.stats()["moves_out"]
        rows.append(_row(number, engine.nbytes(), shared, unshared, len(fast), moves, budget))
    return rows


def _response(ask: Callable[[dict[str, Any]], object], rng: np.random.Generator, which: int) -> float:
    """Milliseconds until a stream has its answer: the median of a few events, each tried a few times."""
    taken = []
    for _ in range(_EVENTS):
        event = _event(rng, which)
        tries = []
        for _ in range(_TRIES):
            begun = time.perf_counter()
            ask(event)
            tries.append(time.perf_counter() - begun)
        taken.append(min(tries))
    return float(np.median(taken)) * 1e3


def _row(
    arrived: int,
    taken: int | None,
    shared: float | None,
    unshared: float | None,
    fast: int,
    moves: int,
    budget: int,
) -> Row:
    return {
        "arrived": arrived,
        "memory": None if taken is None else taken / budget,
        "alive": taken is not None,
        "shared_ms": shared,
        "unshared_ms": unshared,
        "in_memory": fast,
        "moves": moves,
    }


@contextmanager
def _open_store(store: str) -> Iterator[ColdTier]:
    from thatch.stores import EmbeddedPostgres, PostgresStore, SqliteStore

    if store == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            tier: ColdTier = SqliteStore(Path(folder) / "cold.db", cache=1 << 16, waits=False)
            yield tier
            tier.close()
    else:
        with EmbeddedPostgres() as server:
            tier = PostgresStore(server.where)
            yield tier
            tier.close()


def _migrate(seed: int, *, sharing: str, store: str, count: int, budget: float) -> Sequence[Row]:
    """The clusters that moved to the database, in the order of the moves."""
    import pyarrow as pa

    from thatch.tiering import DiagramTier, TieredEngine

    moves: list[Move] = []
    with _open_store(store) as cold:
        engine = TieredEngine(cold, budget=int(budget * _MEGABYTE), fast=DiagramTier(), moved=moves.append)
        texts = list(_subscriptions(random_of(seed, sharing), sharing, count))
        for start in range(0, count, 50):
            some = texts[start : start + 50]
            ids = [f"s{start + each}" for each in range(len(some))]
            engine.subscribe_many(pa.table({"subscription": ids, "filter": some}))
    return [
        {
            "move": number,
            "ratio": each.ratio,
            "nodes": each.nodes,
            "weighted": each.weighted,
            "members": each.members,
        }
        for number, each in enumerate(moves, start=1)
    ]


FLOOD = Simulation(
    name="commonality/flood",
    trial=_flood,
    results=columns(int="arrived in_memory moves", float="memory shared_ms unshared_ms", bool="alive"),
)


def _floods(
    defence: str, sharing: Sequence[str], store: Sequence[str], fast: Sequence[str], count: int, budget: float
) -> Grid:
    return grid(
        1, defence=(defence,), sharing=sharing, store=store, fast=fast, count=(count,), budget=(budget,)
    )


_SHARING = ("low", "high")
FLOOD_FULL = _floods(
    "migration", _SHARING, ("sqlite", "postgres"), ("diagrams",), 40_000, budget=32.0
) + _floods("none", _SHARING, ("none",), ("diagrams", "segments"), 40_000, budget=32.0)
FLOOD_QUICK = _floods("migration", _SHARING, ("sqlite",), ("diagrams",), 1_600, budget=2.5) + _floods(
    "none", ("low",), ("none",), ("diagrams",), 1_600, budget=2.5
)

MIGRATED = Simulation(
    name="commonality/migrated",
    trial=_migrate,
    results=columns(int="move nodes members", float="ratio weighted"),
)
MIGRATED_FULL = grid(1, sharing=_SHARING, store=("sqlite", "postgres"), count=(40_000,), budget=(32.0,))
MIGRATED_QUICK = grid(1, sharing=_SHARING, store=("sqlite",), count=(1_200,), budget=(2.0,))
