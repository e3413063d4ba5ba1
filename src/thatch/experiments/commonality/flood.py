"""Simulates a flood of subscriptions against a memory budget, for figures 4, 5 and 6."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thatch.experiments.trials import Grid, Row, Simulation, columns, grid, random_of

if TYPE_CHECKING:
    from thatch.tiering import ClusterRecord, ColdTier, FastTier, TieredEngine

__all__ = [
    "FLOOD",
    "FLOOD_FULL",
    "FLOOD_QUICK",
    "MIGRATED",
    "MIGRATED_FULL",
    "MIGRATED_QUICK",
    "SETTING",
    "SHARING",
]

CLASSES = 60  # of subscriptions; each is a cluster
_STREAMS = (0, CLASSES - 1)  # events of the class that shares most, and of the one that shares least
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
) -> Iterator[Row]:
    """Memory and the response times of two streams, at several moments of a flood."""
    from thatch.tiering import DiagramTier, SegmentTier

    tier = {"diagrams": DiagramTier, "segments": SegmentTier}[fast]()
    limit = int(budget * _MEGABYTE)
    # The same subscriptions and events for every defence and store.
    texts = _subscriptions(random_of(seed, sharing), sharing, count)
    if defence == "none":
        yield from _undefended(tier, texts, limit, count, seed)
        return
    with _open_store(store) as cold:
        yield from _defended(tier, cold, texts, limit, count, seed)


def _undefended(fast: FastTier, texts: Iterator[str], budget: int, count: int, seed: int) -> Iterator[Row]:
    from thatch import parse
    from thatch.tiering.problem import StoredSubscription

    rng = random_of(seed, "events")
    is_alive = True
    for number, text in enumerate(texts, start=1):
        if is_alive:
            fast.put([StoredSubscription(f"s{number}", parse(text), text, None, inf)])
            is_alive = number % 16 != 0 or fast.nbytes() <= budget
        if number % max(count // _MOMENTS, 1) == 0:
            responses = [_response(fast.match, rng, which) if is_alive else None for which in _STREAMS]
            yield _row(number, fast.nbytes() / budget if is_alive else None, responses, len(fast), 0)


def _defended(
    fast: FastTier, cold: ColdTier, texts: Iterator[str], budget: int, count: int, seed: int
) -> Iterator[Row]:
    from thatch.tiering import TieredEngine

    rng = random_of(seed, "events")
    engine = TieredEngine(cold, budget=budget, fast=fast)
    step = max(count // _MOMENTS, 1)
    for number in range(step, count + 1, step):
        _subscribe(engine, number - step, list(islice(texts, step)))
        is_cold = {each.key: each.is_cold for each in engine.clusters()}
        responses = [
            _response(
                engine.match if is_cold.get(f"class = 'c{which}'", False) else engine.answer, rng, which
            )
            for which in _STREAMS
        ]
        moves = engine.stats()["moves_out"]
        yield _row(number, engine.nbytes() / budget, responses, len(fast), moves)


def _subscribe(engine: TieredEngine, first: int, texts: list[str]) -> None:
    """Subscribe 50 at a time; the first one is called `s{first}`."""
    import pyarrow as pa

    for start in range(0, len(texts), 50):
        some = texts[start : start + 50]
        ids = [f"s{first + start + each}" for each in range(len(some))]
        engine.subscribe_many(pa.table({"subscription": ids, "filter": some}))


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


def _row(arrived: int, memory: float | None, responses: Sequence[float | None], fast: int, moves: int) -> Row:
    shared, unshared = responses
    return {
        "arrived": arrived,
        "memory": memory,
        "alive": memory is not None,
        "shared_ms": shared,
        "unshared_ms": unshared,
        "in_memory": fast,
        "moves": moves,
    }


@contextmanager
def _open_store(store: str) -> Iterator[ColdTier]:
    from thatch.stores import EmbeddedPostgres, PostgresStore, SqliteStore

    with ExitStack() as stack:
        if store == "sqlite":
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            tier: ColdTier = SqliteStore(Path(folder) / "cold.db", cache=1 << 16, waits=False)
        else:
            tier = PostgresStore(stack.enter_context(EmbeddedPostgres()).where)
        yield tier
        tier.close()


def _migrate(seed: int, *, sharing: str, store: str, count: int, budget: float) -> Iterator[Row]:
    """The clusters that moved to the database, in the order of the moves."""
    from thatch.tiering import DiagramTier, TieredEngine

    moves: list[ClusterRecord] = []
    with _open_store(store) as cold:
        engine = TieredEngine(cold, budget=int(budget * _MEGABYTE), fast=DiagramTier(), moved=moves.append)
        _subscribe(engine, 0, list(_subscriptions(random_of(seed, sharing), sharing, count)))
    for number, each in enumerate(moves, start=1):
        yield {
            "move": number,
            "ratio": each.ratio,
            "nodes": each.nodes,
            "weighted": each.weighted,
            "members": each.members,
        }


FLOOD = Simulation(
    name="commonality/flood",
    trial=_flood,
    results=columns(int="arrived in_memory moves", float="memory shared_ms unshared_ms", bool="alive"),
)


def _floods(count: int, budget: float, **choices: Sequence[str]) -> Grid:
    return grid(1, count=(count,), budget=(budget,), **choices)


SHARING = ("low", "high")
FLOOD_FULL = _floods(
    40_000, 32.0, defence=("migration",), sharing=SHARING, store=("sqlite", "postgres"), fast=("diagrams",)
) + _floods(40_000, 32.0, defence=("none",), sharing=SHARING, store=("none",), fast=("diagrams", "segments"))
FLOOD_QUICK = _floods(
    1_600, 2.5, defence=("migration",), sharing=SHARING, store=("sqlite",), fast=("diagrams",)
) + _floods(1_600, 2.5, defence=("none",), sharing=("low",), store=("none",), fast=("diagrams",))

MIGRATED = Simulation(
    name="commonality/migrated",
    trial=_migrate,
    results=columns(int="move nodes members", float="ratio weighted"),
)
MIGRATED_FULL = grid(1, sharing=SHARING, store=("sqlite", "postgres"), count=(40_000,), budget=(32.0,))
MIGRATED_QUICK = grid(1, sharing=SHARING, store=("sqlite",), count=(1_200,), budget=(2.0,))
