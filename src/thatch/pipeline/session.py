"""Start Spark from pip packages alone, or use the session that is active."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thatch.errors import MissingPackageError, SparkError
from thatch.pipeline.adapter import is_connect, quiet_queries
from thatch.pipeline.columns import SparkSession
from thatch.pipeline.java import cache_folder, find_java, make_java_home
from thatch.pipeline.tasks import scratch_folder

__all__ = ["session"]

_QUIET = Path(__file__).with_name("quiet.properties")
_HERE = "127.0.0.1"

# For every session that we set up. A batch is what one call of a kernel gets.
_SETTINGS = {
    "spark.python.daemon.module": "thatch.pipeline.daemon",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Spark does not pass this on to every stage, and would then start a second daemon beside the first.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "32768",
    "spark.sql.session.timeZone": "UTC",  # as in all of Thatch where no zone is given
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",  # each strategy bounds what the driver takes
}

# For one machine: nothing listens on other interfaces, few partitions after a shuffle, and small files are split too,
# since opening a local file costs little.
_LOCAL = {
    "spark.sql.files.openCostInBytes": "262144",
    "spark.driver.host": _HERE,
    "spark.driver.bindAddress": _HERE,
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
}


def session(
    name: str = "thatch", *, master: str | None = None, settings: Mapping[str, Any] | None = None
) -> SparkSession:
    """Return the active Spark session, or start one.

    Parameters
    ----------
    name : of the application
    master : as for Spark (`local[4]`, `spark://…`, `yarn`), or `sc://…` for Spark Connect. By default the active
        session; else what `spark-submit`, `SPARK_REMOTE` or `MASTER` say; else all cores of this machine
    settings : of Spark, by name; they override those of Thatch

    Raises
    ------
    MissingPackageError
        If PySpark is not installed.
    SparkError
        If there is no Java to run Spark, or Spark does not start; the message says what to do.
    """
    builder = _spark().builder.appName(name)
    if (active := _spark().getActiveSession()) is not None:
        return _check_master(active, master)
    given = {key: str(value) for key, value in (settings or {}).items()}
    remote = os.environ.get("SPARK_REMOTE") if master is None else master
    if remote is not None and (master is None or remote.startswith("sc://")):
        return _start_remote(builder.remote(remote), remote, given)
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started Java and chosen the master
        return _start(builder, {**_SETTINGS, **given})
    master = master or os.environ.get("MASTER") or "local[*]"
    is_local = master.startswith("local")
    chosen = {**_SETTINGS, **(_LOCAL if is_local else {}), **_executor_environment(), **given}
    own = f'-Dlog4j2.configurationFile={_QUIET.as_uri()} "-Djava.io.tmpdir={scratch_folder()}"'
    options = "spark.driver.extraJavaOptions"
    chosen[options] = " ".join(filter(None, [own, chosen.get(options)]))
    with _environment(_launch_environment(is_local=is_local)):
        return _start(builder.master(master), chosen)


def _check_master(active: SparkSession, master: str | None) -> SparkSession:
    """Refuse the active session, the only one a process can have, if another master is asked for."""
    if master is not None and not is_connect(active) and active.sparkContext.master != master:
        other = active.sparkContext.master
        raise SparkError(f"A session on {other} is active: call its stop() before you start one on {master}")
    return active


def _start_remote(builder: Any, remote: str, given: Mapping[str, str]) -> SparkSession:
    """Start a session over Spark Connect; only a server that starts with it, as for `local`, takes our settings."""
    if remote.startswith("sc://"):
        return _start(builder, given)
    with _environment(_launch_environment(is_local=True)):
        return _start(builder, {**_SETTINGS, **_LOCAL, **given})


def _spark() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingPackageError("pyspark", "spark", "work on Spark") from error
    return SparkSession


def _start(builder: Any, settings: Mapping[str, str]) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    quiet_queries()
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        started: SparkSession = builder.getOrCreate()
    except (PySparkException, Py4JError, RuntimeError, OSError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise SparkError(f"Spark did not start: {lines[0]}") from error
    return started


def _launch_environment(*, is_local: bool) -> dict[str, str]:
    """The variables that Spark's launcher and workers read."""
    java = make_java_home(find_java(os.environ), cache_folder())
    chosen = {"JAVA_HOME": str(java), "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)}
    if is_local:
        chosen["SPARK_LOCAL_IP"] = _HERE
    return chosen


def _executor_environment() -> dict[str, str]:
    """Settings that tell executors where compiled kernels are cached."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return {"spark.executorEnv.NUMBA_CACHE_DIR": folder} if folder else {}


@contextmanager
def _environment(chosen: Mapping[str, str]) -> Iterator[None]:
    """Set some variables while Spark starts."""
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
