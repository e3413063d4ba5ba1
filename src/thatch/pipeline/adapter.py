"""What needs more than Spark's DataFrame API: the kind of session, errors, progress, Hadoop's file systems.

Spark Connect has no `SparkContext`; what it cannot do is refused by name.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import NamedTemporaryFile
from threading import Event, Thread
from traceback import format_exception
from typing import Any
from uuid import uuid4

from thatch import errors
from thatch.errors import SparkError
from thatch.pipeline.columns import SparkSession

__all__ = [
    "DEBUG",
    "Progress",
    "file_system",
    "is_connect",
    "is_local",
    "parallelism",
    "quiet_queries",
    "refuse_connect",
    "report_progress",
    "translate_spark_errors",
]

Progress = Callable[[int, int], None]  # tasks done, tasks known

DEBUG = "THATCH_DEBUG"  # the variable that shows what errors come from
_INTERVAL = 0.25  # seconds between two progress reports


def is_connect(spark: SparkSession) -> bool:
    """Whether this session reaches Spark over Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_local(spark: SparkSession) -> bool:
    """Whether the workers see the files of this process."""
    return not is_connect(spark) and str(spark.sparkContext.master).partition("[")[0] == "local"


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once, as far as Spark knows."""
    if is_connect(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions") or 8)
    return int(spark.sparkContext.defaultParallelism)


def refuse_connect(spark: SparkSession, what: str) -> None:
    """Raise if something needs a `SparkContext` and the session is one of Spark Connect."""
    if is_connect(spark):
        raise SparkError(f"Spark Connect has no SparkContext: use a classic Spark session for {what}")


def file_system(spark: SparkSession, path: str) -> tuple[Any, Callable[[str], Any]]:
    """Hadoop's file system of a path, and Hadoop's constructor of paths."""
    refuse_connect(spark, "writing a folder atomically")
    jvm, context = spark.sparkContext._jvm, spark.sparkContext._jsc  # noqa: SLF001 - there is no public way
    assert jvm is not None
    path_of = jvm.org.apache.hadoop.fs.Path
    return path_of(path).getFileSystem(context.hadoopConfiguration()), path_of


# --- errors ----------------------------------------------------------------------------------------------------------

_OURS = re.compile(
    r"^thatch\.errors\.(\w+): (.*?)(?=\n\n|\n\tat |\n[A-Z]\w+ stacktrace:|\Z)", re.MULTILINE | re.DOTALL
)
_GONE = (
    "Spark has ended, probably for lack of memory: give it more with spark.driver.memory, or smaller files"
)
_PARTS = re.compile(r"Expected (.*), got (.*)", re.DOTALL)


@contextmanager
def translate_spark_errors(doing: str = "", *, traced: bool = True) -> Iterator[None]:
    """Raise what went wrong in a worker as an error of Thatch, and what Spark raises as a `SparkError` that says where.

    If `traced`, a `SparkError` names a file with the whole trace, which is not shown.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        is_gone = isinstance(error, ConnectionError) or "Answer from Java side is empty" in str(error)
        translated = SparkError(_GONE, where=doing) if is_gone else _translate(str(error), doing)
        if os.environ.get(DEBUG):
            raise translated from error
        if traced and isinstance(translated, SparkError):
            translated = _with_trace(translated, error)
        raise translated from None  # traces of Java help only those who work on Thatch or Spark


def quiet_queries() -> None:
    """Stop PySpark from printing each query that it refuses with its trace of Java: it raises an error as well."""
    from pyspark.logger import PySparkLogger

    if not os.environ.get(DEBUG):
        for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
            PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)


def _with_trace(error: SparkError, cause: BaseException) -> SparkError:
    """The error with the name of a file that has the whole trace."""
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", prefix="thatch-spark-", suffix=".log", delete=False
        ) as log:
            log.writelines(format_exception(cause))
    except OSError:
        return error
    where = f"{error.where} " if error.where else ""
    return SparkError(error.expected, error.got, f"{where}(the trace is in {log.name}; {DEBUG}=1 shows it)")


def _translate(text: str, doing: str) -> errors.ThatchError:
    found = list(_OURS.finditer(text))
    if found:
        kind = getattr(errors, found[-1][1], SparkError)
        message = found[-1][2].strip()
        parts = _PARTS.fullmatch(message)
        fields = (message,) if parts is None else (parts[1], parts[2])
        try:
            translated: errors.ThatchError = kind(*fields)
        except TypeError:  # a class with other fields
            return SparkError(*fields)
        return translated
    lines = [line for line in text.splitlines() if line.strip()]
    # A Python exception ends with its message; of a Java one the first line says most.
    is_python = any(line.startswith("Traceback") for line in lines)
    last = next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception)\b", line)), None)
    reason = last if is_python and last else (lines[0] if lines else "no reason given")
    return SparkError(f"Spark failed: {reason[:500]}", where=doing)


# --- progress --------------------------------------------------------------------------------------------------------


@contextmanager
def report_progress(spark: SparkSession, progress: Progress | None) -> Iterator[None]:
    """Call `progress` with the tasks done and the tasks known, until the block ends."""
    if progress is None:
        yield
        return
    context: Any = spark.sparkContext
    group, done = f"thatch-{uuid4()}", Event()
    context.setJobGroup(group, "thatch")
    watcher = Thread(target=_watch, args=(context, group, progress, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        context.setLocalProperty("spark.jobGroup.id", None)


def _watch(context: Any, group: str, progress: Progress, done: Event) -> None:
    stages: dict[int, tuple[int, int]] = {}
    while not done.wait(_INTERVAL):
        try:
            _look_at_stages(context.statusTracker(), group, stages)
        except Exception:  # noqa: BLE001 - Spark has ended in one of many ways; whoever waits for the job says so
            return
        if stages:
            progress(sum(each for each, _ in stages.values()), sum(each for _, each in stages.values()))


def _look_at_stages(tracker: Any, group: str, stages: dict[int, tuple[int, int]]) -> None:
    """Write how many tasks of each stage are done, and how many there are."""
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for number in info.stageIds if info else ():
            stage = tracker.getStageInfo(number)
            if stage is not None:
                stages[number] = (stage.numCompletedTasks, stage.numTasks)
