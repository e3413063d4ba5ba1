"""A working Spark with nothing but pip packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thatch.errors import MissingPackageError, SparkError
from thatch.pipeline.adapter import is_connect
from thatch.pipeline.folders import cache_folder
from thatch.pipeline.java import find_java, home_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["session"]

_QUIET = Path(__file__).with_name("quiet.properties")
_HERE = "127.0.0.1"

# For every session that is ours to set up. A batch is as many events as one call of a kernel gets.
_SETTINGS = {
    "spark.python.daemon.module": "thatch.pipeline.daemon",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Not passed on to every stage, and then a second daemon starts and warms up beside the first.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "32768",
    "spark.sql.session.timeZone": "UTC",  # as everywhere in Thatch where no zone is given
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",  # what the driver takes is bounded by the plans
}

# For one machine: nothing listens to others, as many parts after a shuffle as there is work for, and small files are
# split too, since to open one costs little.
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
    """The Spark session at hand, or a new one.

    Parameters
    ----------
    name : of the application
    master : as Spark's own (`local[4]`, `spark://…`, `yarn`), or `sc://…` for Spark Connect. By default the session
        that is active; else what `spark-submit`, `SPARK_REMOTE` or `MASTER` say; else all cores of this machine
    settings : Spark's own, by name; they come before those of Thatch

    Raises
    ------
    MissingPackageError
        If PySpark is not installed.
    SparkError
        If there is no Java to run it, or Spark does not start; the message tells what to do.
    """
    builder = _spark().builder.appName(name)
    if (active := _spark().getActiveSession()) is not None:
        return _checked(active, master)
    given = {key: str(value) for key, value in (settings or {}).items()}
    remote = master if master and master.startswith("sc://") else None
    if remote is None and master is None:
        remote = os.environ.get("SPARK_REMOTE")
    if remote is not None:
        return _remote(builder.remote(remote), remote, given)
    if (
        "PYSPARK_GATEWAY_PORT" in os.environ
    ):  # under spark-submit: Java runs already, and master is its matter
        return _started(_set(builder, {**_SETTINGS, **given}))
    master = master or os.environ.get("MASTER") or "local[*]"
    chosen = {
        **_SETTINGS,
        **(_LOCAL if master.startswith("local") else {}),
        **_cluster_environment(),
        **given,
    }
    quiet = f"-Dlog4j2.configurationFile={_QUIET.as_uri()}"
    options = "spark.driver.extraJavaOptions"
    chosen[options] = " ".join(filter(None, [quiet, chosen.get(options)]))
    is_local = master.startswith("local")
    with _environment(_for_launch(is_local=is_local)):
        return _started(_set(builder.master(master), chosen))


def _checked(active: SparkSession, master: str | None) -> SparkSession:
    """The active session, of which there is one a process, if it runs where it should."""
    if master is not None and not is_connect(active) and active.sparkContext.master != master:
        got = f"one on {active.sparkContext.master}, which is active (`stop()` ends it)"
        raise SparkError(f"a session on {master}", got)
    return active


def _remote(builder: Any, remote: str, given: Mapping[str, str]) -> SparkSession:
    """A session over Spark Connect; only a server that starts with it, as for `local`, can be told everything."""
    if remote.startswith("sc://"):
        return _started(_set(builder, given))
    with _environment(_for_launch(is_local=True)):
        return _started(_set(builder, {**_SETTINGS, **_LOCAL, **given}))


def _spark() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingPackageError("pyspark", "spark", "work on Spark") from error
    return SparkSession


def _set(builder: Any, settings: Mapping[str, str]) -> Any:
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder


def _started(builder: Any) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return builder.getOrCreate()  # type: ignore[no-any-return]
    except (PySparkException, Py4JError, RuntimeError, OSError) as error:
        told = str(error).strip().splitlines()
        raise SparkError("a Spark that starts", told[0] if told else type(error).__name__) from error


def _for_launch(*, is_local: bool) -> dict[str, str]:
    """What Spark's launcher and its workers read from the environment."""
    java = home_of(find_java(os.environ), cache_folder())
    chosen = {"JAVA_HOME": str(java), "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)}
    if is_local:
        chosen["SPARK_LOCAL_IP"] = _HERE
    return chosen


def _cluster_environment() -> dict[str, str]:
    """What executors should know of the environment: where kernels are kept once they are compiled."""
    kept = os.environ.get("NUMBA_CACHE_DIR")
    return {"spark.executorEnv.NUMBA_CACHE_DIR": kept} if kept else {}


@contextmanager
def _environment(chosen: Mapping[str, str]) -> Iterator[None]:
    """The environment with some variables set, as long as Spark starts."""
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
