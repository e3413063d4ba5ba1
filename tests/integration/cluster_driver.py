"""The driver of a test on a cluster: matches a log by a strategy, and waits in the middle for a gate to open.

Afterwards it reduces the subscriptions.

Called with the master's address, a folder with `events.parquet` and `subscriptions.parquet`, and the strategy. Every task
leaves a file with the number of its executor's process in `reached/`, and waits there for the file `gate` if its
part is one of the later half.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from thatch import pipeline


class Gate:
    """Lets batches through, those of later parts only when the gate is open."""

    def __init__(self, folder: str, parts: int) -> None:
        self.folder, self.parts = folder, parts

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = context.partitionId() if context else 0
        folder = Path(self.folder)
        # The executor is the parent of the daemon that is the parent of this worker.
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
        (folder / "reached" / f"{part}-{daemon}").touch()
        while part >= self.parts // 2 and not (folder / "gate").exists():
            time.sleep(0.02)
        yield from batches


def main(master: str, folder: str, strategy: str) -> None:
    spark = pipeline.session(
        "thatch cluster test",
        master=master,
        settings={
            "spark.executor.memory": "600m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": 4,
            "spark.task.maxFailures": 8,
        },
    )
    try:
        parts = 6
        events = spark.read.parquet(f"{folder}/events.parquet").repartition(parts, "id")
        gated = events.mapInArrow(Gate(folder, parts), events.schema)
        subscriptions = spark.read.parquet(f"{folder}/subscriptions.parquet")
        found = pipeline.match(gated, subscriptions, event="id", strategy=strategy)  # type: ignore[arg-type]
        found.write.parquet(f"{folder}/pairs.parquet")
        if strategy == "mapped":  # once is enough
            reduced = pipeline.reduce(subscriptions).select("subscription", "active", "proof")
            reduced.write.parquet(f"{folder}/reduced.parquet")
    finally:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
