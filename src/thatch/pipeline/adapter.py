"""All that needs more than the DataFrame API: what Spark this is, files for its workers, how far it has come.

Spark Connect has no context: there a file is an artifact of the session, and what cannot be done is refused by name.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from thatch.errors import SparkError
from thatch.pipeline.folders import work_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "Carried",
    "Progress",
    "carry",
    "file_system",
    "is_connect",
    "is_local",
    "parallelism",
    "refuse_connect",
    "watched",
]

_EVERY = 0.25  # seconds between two looks at how far Spark has come

Progress = Callable[[int, int], None]  # tasks done, tasks known


def is_connect(spark: SparkSession) -> bool:
    """Whether this session reaches Spark over Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_local(spark: SparkSession) -> bool:
    """Whether the workers see the files of this process."""
    return not is_connect(spark) and str(spark.sparkContext.master).partition("[")[0] == "local"


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once, as far as Spark tells."""
    if is_connect(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions") or 8)
    return int(spark.sparkContext.defaultParallelism)


@dataclass(frozen=True, slots=True)
class Carried:
    """A file that workers can open: by its path, or where Spark has put it."""

    name: str
    path: str | None

    def here(self) -> Path:
        """Where the file lies in the process that asks."""
        if self.path is not None:
            return Path(self.path)
        from pyspark import SparkFiles

        return Path(SparkFiles.get(self.name))


def carry(spark: SparkSession, path: Path) -> Carried:
    """Bring a file to all workers. A file of that content is brought once."""
    if is_local(spark):
        return Carried(path.name, str(path.resolve()))
    # Spark keeps one file of a name, for as long as the application lives.
    status = path.stat()
    stamp = f"{path.resolve()} {status.st_mtime_ns} {status.st_size}"
    name = f"{hashlib.sha256(stamp.encode()).hexdigest()[:16]}-{path.name}"
    named = work_folder() / name
    if not named.exists():
        _link(path, named)
    if is_connect(spark):
        spark.addArtifact(str(named), file=True)
    else:
        spark.sparkContext.addFile(str(named))
    return Carried(name, None)


def _link(path: Path, other: Path) -> None:
    """The same file under another name, as a copy where folders do not share a disk."""
    try:
        os.link(path, other)
    except OSError:
        shutil.copyfile(path, other)


@contextmanager
def watched(spark: SparkSession, report: Progress | None) -> Iterator[None]:
    """Tell `report` how many tasks are done of those known, until the work inside is done."""
    if report is None:
        yield
        return
    if is_connect(spark):
        with _handled(spark, report):
            yield
        return
    context, group, done = spark.sparkContext, f"thatch-{uuid4()}", Event()
    context.setJobGroup(group, "thatch")
    watcher = Thread(target=_watch, args=(context, group, report, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


def _watch(context: Any, group: str, report: Progress, done: Event) -> None:
    tracker = context.statusTracker()
    stages: dict[int, tuple[int, int]] = {}
    while not done.wait(_EVERY):
        for job in tracker.getJobIdsForGroup(group):
            told = tracker.getJobInfo(job)
            for number in told.stageIds if told else ():
                stage = tracker.getStageInfo(number)
                if stage is not None:
                    stages[number] = (stage.numCompletedTasks, stage.numTasks)
        if stages:
            report(sum(each for each, _ in stages.values()), sum(each for _, each in stages.values()))


@contextmanager
def _handled(spark: Any, report: Progress) -> Iterator[None]:
    def handle(stages: Any, **_: Any) -> None:
        stages = list(stages or ())
        report(sum(each.num_completed_tasks for each in stages), sum(each.num_tasks for each in stages))

    spark.registerProgressHandler(handle)
    try:
        yield
    finally:
        spark.removeProgressHandler(handle)


def file_system(spark: SparkSession, path: str) -> tuple[Any, Callable[[str], Any]]:
    """Hadoop's file system that has a path, and what makes a path of Hadoop's."""
    refuse_connect(spark, "writing a folder that appears whole")
    jvm, context = spark.sparkContext._jvm, spark.sparkContext._jsc  # noqa: SLF001 - there is no other way
    assert jvm is not None
    path_of = jvm.org.apache.hadoop.fs.Path
    return path_of(path).getFileSystem(context.hadoopConfiguration()), path_of


def refuse_connect(spark: SparkSession, what: str) -> None:
    """Say that something cannot be done over Spark Connect."""
    if is_connect(spark):
        raise SparkError(
            f"a classic Spark session for {what}", "one over Spark Connect, which has no SparkContext"
        )
