"""One Spark session against the clock: the ways of matching that a request names, each several times."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.child import answer
from benchmarks.pipeline.processes import cpu_seconds, descendants, private_bytes
from benchmarks.pipeline.range_join import range_join
from thatch import pipeline
from thatch.pipeline.indexes import build_box_index, build_index
from thatch.pipeline.transforms.partitioned import build_shards

__all__: list[str] = []


def _measured(request: dict[str, Any]) -> dict[str, Any]:
    started = time.perf_counter()
    spark = pipeline.session("benchmark", master=request["master"], settings=request.get("settings"))
    spark.range(1).count()
    result: dict[str, Any] = {"started": time.perf_counter() - started}
    events = spark.read.parquet(request["events"])
    spark.range(4, numPartitions=4).mapInArrow(_through, "id long").count()  # workers are up
    for way in request["ways"]:
        run = _way(way, spark, events, request)
        if request.get("warm", True):
            run()
        rounds = [_timed(run) for _ in range(request["rounds"])]
        result[way] = {**min(rounds, key=lambda each: each["seconds"]), "workers": _workers()}
    spark.stop()
    return result


def _through(batches: Any) -> Any:
    yield from batches


def _timed(run: Callable[[], int]) -> dict[str, float]:
    cpu, started = cpu_seconds(), time.perf_counter()
    rows = run()
    return {"seconds": time.perf_counter() - started, "cpu": cpu_seconds() - cpu, "rows": rows}


def _workers() -> float:
    """The largest private memory of a worker, in bytes."""
    daemons = [pid for pid, command in descendants().items() if "-m thatch.pipeline.daemon" in command]
    return max((private_bytes(pid) for pid in daemons), default=0)


def _way(way: str, spark: Any, events: Any, request: dict[str, Any]) -> Callable[[], int]:
    """What to do and count, of which the counting is part."""
    match = pipeline.match
    folder = Path(request["folder"])
    if way in ("counts", "slots", "exploded", "pairs", "parquet", "write"):
        index = build_index(spark, request["index"])
    if way == "counts":
        return lambda: match(events, index, give="counts").agg({"events": "sum"}).first()[0]
    if way in ("slots", "pairs"):
        return lambda: _to_nothing(match(events, index, give=way))  # type: ignore[arg-type]
    if way == "exploded":
        return lambda: _to_nothing(match(events, index, give="slots").selectExpr("event", "explode(slots)"))
    if way == "parquet":
        return lambda: _to_parquet(match(events, index), folder / "pairs")
    if way == "write":  # the same rows, without matching: read from what was written
        _to_parquet(match(events, index), folder / "pairs")
        return lambda: _to_parquet(spark.read.parquet(str(folder / "pairs")), folder / "again")
    if way in ("mapped", "partitioned"):
        subscriptions = spark.read.parquet(request["subscriptions"])
        return lambda: match(events, subscriptions, strategy=way).count()  # type: ignore[arg-type]
    if way == "load":
        table = spark.read.parquet(request["subscriptions"])
        return pipeline.load(table).accepted.count  # type: ignore[no-any-return]
    if way == "shards":
        return lambda: _visits(spark, events, request)
    bounds = spark.read.parquet(request["bounds"])
    names = [name for name in events.columns if f"low {name}" in bounds.columns]
    if way == "boxes":
        sides = {name: (f"low {name}", f"high {name}") for name in names}
        return lambda: (
            match(events, build_box_index(spark, bounds, sides), give="slots")
            .selectExpr("sum(size(slots))")
            .first()[0]
        )
    assert way == "join"
    return lambda: range_join(events, bounds, names).count()


def _visits(spark: Any, events: Any, request: dict[str, Any]) -> int:
    """Split subscriptions into shards, and count how often events visit one."""
    shards = build_shards(spark.read.parquet(request["subscriptions"]), shards=request["shards"])
    try:
        return int(pipeline.match(events, shards.summaries, give="counts").agg({"events": "sum"}).first()[0])
    finally:
        shards.forget()


def _to_nothing(found: Any) -> int:
    found.write.format("noop").mode("overwrite").save()
    return 0


def _to_parquet(found: Any, folder: Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    found.write.parquet(str(folder))
    return 0


if __name__ == "__main__":
    answer(_measured)
