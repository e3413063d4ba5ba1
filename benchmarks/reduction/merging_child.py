"""One Spark session that merges tables of the template workload, and what that costs."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.child import answer
from benchmarks.pipeline.processes import cpu_seconds
from thatch import pipeline

__all__: list[str] = []

_ATTRIBUTES = 20
_VALUES = 30
_ROWS = 67  # that share a tail
_BUDGET = 0.02


def _measured(request: dict[str, Any]) -> dict[str, Any]:
    spark = pipeline.session("benchmark", master="local[2]", settings={"spark.driver.memory": "4g"})
    folder = Path(request["folder"])
    log = spark.read.parquet(_events(folder, request["events"], request["seed"]))
    counts = (2_000, *request["counts"])
    figures = []
    for count in counts:
        path = _subscriptions(folder, count, request["seed"])
        cpu, started = cpu_seconds(), time.perf_counter()
        merged = pipeline.merge(
            spark.read.parquet(path).repartition(8), budget=_BUDGET, events=log, event="id"
        )
        figures.append(
            {
                "count": count,
                "perfect": merged.frontier.components,
                "forwarded": merged.frontier.size,
                "bound": merged.frontier.bound(merged.frontier.closed),
                "seconds": time.perf_counter() - started,
                "cpu": cpu_seconds() - cpu,
                "driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
        merged.forwarded.unpersist()
    spark.stop()
    return {"figures": figures[1:]}  # after the first, workers are up


def _subscriptions(folder: Path, count: int, seed: int) -> str:
    """A table of filters: a tail of two equalities out of a pool, and a value or a short range on top of it."""
    rng = np.random.default_rng(seed)
    pool = max(count // _ROWS, 1)
    names = rng.permuted(np.tile(np.arange(_ATTRIBUTES), (pool, 1)), axis=1)[:, :3]
    values = rng.integers(_VALUES, size=(pool, 2))
    drawn = np.column_stack((rng.integers(pool, size=count), rng.integers((0, 0), (_VALUES, 5), (count, 2))))
    filters = []
    for tail, low, width in drawn.tolist():
        first, second, top = names[tail]
        a, b = values[tail]
        filters.append(f"a{first} = {a} and a{second} = {b} and a{top} between {low} and {low + width}")
    path = folder / f"{count}.parquet"
    columns = {
        "row": pa.array(range(count), pa.int64()),
        "subscription": [f"s{number}" for number in range(count)],
        "filter": filters,
    }
    pq.write_table(pa.table(columns), path, row_group_size=50_000)
    return str(path)


def _events(folder: Path, count: int, seed: int) -> str:
    """Events with a number on every attribute, some beyond all that is asked for."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(_VALUES + 5, size=(_ATTRIBUTES, count))
    columns = {f"a{place}": each for place, each in enumerate(numbers)}
    path = folder / "events.parquet"
    pq.write_table(pa.table({"id": np.arange(count), **columns}), path, row_group_size=20_000)
    return str(path)


if __name__ == "__main__":
    answer(_measured)
