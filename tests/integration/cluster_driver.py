"""The driver of a test on a cluster: matches a log by each strategy, stopping midway at a gate, and reduces.

Called with the master's address and a folder with `events.parquet` and `subscriptions.parquet`. For each strategy every
task leaves a file with the process number of its executor in `<strategy>/reached/`, and those of the later half of the
partitions wait for the file `<strategy>/gate`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

from thatch import pipeline

PARTS = 4


def wait_at_gate(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Let batches through, those of later partitions only when the gate is open."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part = context.partitionId() if context else 0
    # The executor is the parent of the daemon that is the parent of this worker.
    executor = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
    (Path(folder) / "reached" / f"{part}-{executor}").touch()
    while part >= PARTS // 2 and not (Path(folder) / "gate").exists():
        time.sleep(0.02)
    yield from batches


def main(master: str, folder: str) -> None:
    spark = pipeline.session(
        "thatch cluster test",
        master=master,
        settings={
            "spark.executor.memory": "600m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": 2,
            "spark.task.maxFailures": 8,
        },
    )
    try:
        events = spark.read.parquet(f"{folder}/events.parquet").repartition(PARTS, "id")
        subscriptions = spark.read.parquet(f"{folder}/subscriptions.parquet")
        for strategy in ("mapped", "partitioned"):
            gated = events.mapInArrow(partial(wait_at_gate, f"{folder}/{strategy}"), events.schema)
            found = pipeline.match(gated, subscriptions, event="id", strategy=strategy)
            found.write.parquet(f"{folder}/{strategy}/pairs.parquet")
        reduced = pipeline.reduce(subscriptions).select("subscription", "active", "proof")
        reduced.write.parquet(f"{folder}/reduced.parquet")
    finally:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
