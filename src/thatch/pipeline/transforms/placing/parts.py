"""Independent parts of work as tasks: what all of them share lies in a file that every worker opens once."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa

from thatch.pipeline.adapter import Carried, carry, parallelism
from thatch.pipeline.failures import failures_told
from thatch.pipeline.folders import work_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EachOnSpark"]

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Found = TypeVar("Found")

_TASKS = 4  # for each that runs at a time: all end at about the same time


@dataclass(frozen=True, slots=True)
class EachOnSpark:
    """An `Executor` whose pieces run as Spark tasks."""

    spark: SparkSession

    def __call__(
        self, shared: Shared, work: Callable[[Shared, Item], Found], items: Sequence[Item]
    ) -> list[Found]:
        if len(items) < 2:
            return [work(shared, item) for item in items]
        path = work_folder() / f"{uuid4().hex}.shared"
        path.write_bytes(pickle.dumps(shared))
        tasks = min(len(items), _TASKS * parallelism(self.spark))
        task = _Part(carry(self.spark, path), pickle.dumps((work, list(items))))
        try:
            with failures_told("placing subscribers"):
                numbers = self.spark.range(0, len(items), 1, tasks)
                found = numbers.mapInArrow(task, "number bigint, found binary").toArrow()
        finally:
            path.unlink(missing_ok=True)
        pieces = found.sort_by("number").column("found")
        return [pickle.loads(each.as_buffer()) for each in pieces]  # noqa: S301 - a task of ours wrote it


@dataclass(frozen=True, slots=True)
class _Part:
    """Does some parts, in a worker."""

    file: Carried
    work: bytes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shared = _opened(self.file.here())
        work, items = pickle.loads(self.work)  # noqa: S301 - this process's master wrote it
        for batch in batches:
            for number in batch.column(0).to_pylist():
                told = pickle.dumps(work(shared, items[number]))
                yield pa.RecordBatch.from_arrays(
                    [pa.array([number], pa.int64()), pa.array([told], pa.binary())], ["number", "found"]
                )


@lru_cache(maxsize=1)
def _opened(path: Path) -> Any:
    """What all parts share, read once in a worker."""
    return pickle.loads(path.read_bytes())  # noqa: S301 - this process's master wrote it
