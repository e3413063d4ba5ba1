"""Tasks for Spark's workers: functions over Arrow batches, and the files that they share.

A task is a module-level function whose last parameter is an iterator of Arrow batches; `functools.partial` binds the
others. What is too large to travel with every task is written to a file once and shared with all workers.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import uuid4

import numpy.typing as npt
import pyarrow as pa

from thatch.engine import container
from thatch.pipeline.adapter import is_connect, is_local, translate_spark_errors
from thatch.pipeline.columns import SparkSession

__all__ = [
    "Arrays",
    "Batches",
    "RunParts",
    "SharedFile",
    "binary_row",
    "load_arrays",
    "run_parts",
    "run_parts_here",
    "scratch_file",
    "scratch_folder",
    "share_arrays",
    "share_file",
    "unpickle_all",
]

Arrays = dict[str, npt.NDArray[Any]]
Batches = Iterator[pa.RecordBatch]
Content = TypeVar("Content")
RunParts = Callable[..., list[pa.Buffer]]  # as `run_parts` from its second parameter on


def scratch_file(ending: str) -> Path:
    """Name a new file in a folder that is removed when this process ends."""
    return scratch_folder() / f"{uuid4().hex}{ending}"


@cache
def scratch_folder() -> Path:
    """The folder for temporary files of this process and of its Java, removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="thatch-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@dataclass(frozen=True, slots=True)
class SharedFile(Generic[Content]):
    """A file that every worker can open."""

    name: str  # under which Spark has shipped it
    path: str | None  # where it lies if workers see the files of this process, else None
    load: Callable[[Path], Content]  # opens it

    def local_path(self) -> Path:
        """Where the file lies in the calling process."""
        if self.path is not None:
            return Path(self.path)
        from pyspark import SparkFiles

        return Path(SparkFiles.get(self.name))

    def open(self) -> Content:
        """Open the file, once a process."""
        path = self.local_path()
        status = path.stat()
        content: Content = _open(self.load, path, status.st_mtime_ns, status.st_size)
        return content


@lru_cache(maxsize=4)
def _open(load: Callable[[Path], Any], path: Path, _changed: int, _size: int) -> Any:
    return load(path)


def share_file(spark: SparkSession, path: Path, load: Callable[[Path], Content]) -> SharedFile[Content]:
    """Share a file with all workers; Spark ships the same file once."""
    if is_local(spark):
        return SharedFile(path.name, str(path.resolve()), load)
    # Spark keeps one file of a name, for as long as the application lives.
    status = path.stat()
    stamp = f"{path.resolve()} {status.st_mtime_ns} {status.st_size}"
    name = f"{hashlib.sha256(stamp.encode()).hexdigest()[:16]}-{path.name}"
    named = scratch_folder() / name
    if not named.exists():
        try:
            os.link(path, named)
        except OSError:  # not on one disk
            shutil.copyfile(path, named)
    if is_connect(spark):
        spark.addArtifact(str(named), file=True)
    else:
        spark.sparkContext.addFile(str(named))
    return SharedFile(name, None, load)


def share_arrays(spark: SparkSession, arrays: Mapping[str, npt.NDArray[Any]]) -> SharedFile[Arrays]:
    """Share arrays with all workers, which map them."""
    path = scratch_file(".arrays")
    container.write(path, {}, dict(arrays))
    return share_file(spark, path, load_arrays)


def load_arrays(path: Path) -> Arrays:
    """Map the arrays of a file that `container.write` has written."""
    return container.read(path)[1]


def run_parts(
    spark: SparkSession,
    path: Path,
    load: Callable[[Path], Content],
    work: Callable[[Content, int], bytes],
    *,
    count: int,
    tasks: int,
    doing: str,
) -> list[pa.Buffer]:
    """Do numbered parts of some work in workers.

    Parameters
    ----------
    path, load : a file that all parts need, which is removed afterwards, and how to open it
    work : does one part, given the opened file and the number of the part
    count : how many parts there are
    tasks : how many tasks do them
    doing : names the work in errors

    Returns
    -------
    The results in the order of the parts.
    """
    task = partial(_do_parts, share_file(spark, path, load), work)
    try:
        with translate_spark_errors(doing):
            numbers = spark.range(0, count, 1, tasks)
            found = numbers.mapInArrow(task, "number bigint, found binary").toArrow()
    finally:
        path.unlink(missing_ok=True)
    return [each.as_buffer() for each in found.sort_by("number").column("found")]


def run_parts_here(
    on_part: Callable[[], object],
    path: Path,
    load: Callable[[Path], Content],
    work: Callable[[Content, int], bytes],
    *,
    count: int,
    **_: Any,
) -> list[pa.Buffer]:
    """Do the same in this process, and call `on_part` after each part."""
    try:
        content, found = load(path), []
        for number in range(count):
            found.append(pa.py_buffer(work(content, number)))
            on_part()
        return found
    finally:
        path.unlink(missing_ok=True)


def _do_parts(shared: SharedFile[Any], work: Callable[[Any, int], bytes], batches: Batches) -> Batches:
    content = shared.open()
    for batch in batches:
        for number in batch.column(0).to_pylist():
            found = pa.array([work(content, number)], pa.binary())
            yield pa.RecordBatch.from_arrays([pa.array([number], pa.int64()), found], ["number", "found"])


def binary_row(**values: bytes) -> pa.RecordBatch:
    """Make a batch of one row of binary values."""
    return pa.RecordBatch.from_arrays(
        [pa.array([each], pa.binary()) for each in values.values()], list(values)
    )


def unpickle_all(column: Iterable[Any]) -> Iterator[Any]:
    """Unpickle binary values that tasks of ours have sent."""
    for each in column:
        yield pickle.loads(each.as_buffer())  # noqa: S301 - a task of ours wrote it
