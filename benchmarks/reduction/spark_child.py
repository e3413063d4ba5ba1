"""One Spark session that reduces tables of boxes in four dimensions, and what that cost."""

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

_NAMES = "abcd"


def _measured(request: dict[str, Any]) -> dict[str, Any]:
    spark = pipeline.session("benchmark", master="local[2]", settings={"spark.driver.memory": "4g"})
    folder = Path(request["folder"])
    pipeline.reduce(spark.read.parquet(_written(folder, 2_000, request["seed"]))).count()  # workers are up
    figures = []
    for count in request["counts"]:
        path = _written(folder, count, request["seed"])
        cpu, started = cpu_seconds(), time.perf_counter()
        found = pipeline.reduce(spark.read.parquet(path).repartition(8))
        active = found.where("active").count()
        figures.append(
            {
                "count": count,
                "active": active,
                "seconds": time.perf_counter() - started,
                "cpu": cpu_seconds() - cpu,
                "driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    spark.stop()
    return {"figures": figures}


def _written(folder: Path, count: int, seed: int) -> str:
    """A table of filters with a range on each of four attributes: the low end even, the length even in the rest."""
    rng = np.random.default_rng(seed)
    low = np.round(1_000 * rng.random((count, 4)), 3)
    high = np.round(low + (1_000 - low) * rng.random((count, 4)), 3)
    filters = [
        " and ".join(f"{name} between {a} and {b}" for name, a, b in zip(_NAMES, *ends, strict=True))
        for ends in zip(low.tolist(), high.tolist(), strict=True)
    ]
    path = folder / f"{count}.parquet"
    columns = {
        "row": pa.array(range(count), pa.int64()),
        "subscription": [f"s{number}" for number in range(count)],
        "filter": filters,
    }
    pq.write_table(pa.table(columns), path, row_group_size=50_000)
    return str(path)


if __name__ == "__main__":
    answer(_measured)
