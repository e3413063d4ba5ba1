"""Sessions: the one at hand is used, another place is refused, what is missing is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from thatch.errors import MissingPackageError, SparkError
from thatch.pipeline import session
from thatch.pipeline.adapter import is_connect, is_local, parallelism, report_progress
from thatch.pipeline.tasks import SharedFile, scratch_folder, share_file


@pytest.fixture
def no_spark(monkeypatch):
    """As if PySpark were not installed."""
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)


@pytest.mark.usefixtures("no_spark")
def test_without_pyspark_the_extra_is_named():
    with pytest.raises(MissingPackageError, match=r"pip install 'thatch\[spark\]'"):
        session()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
class TestRunning:
    def test_the_active_session_is_used(self, spark):
        assert session() is spark
        assert session(master=spark.sparkContext.master) is spark
        assert is_local(spark)
        assert not is_connect(spark)
        assert parallelism(spark) == spark.sparkContext.defaultParallelism >= 1

    def test_a_session_elsewhere_is_refused_as_long_as_one_is_active(self, spark):
        with pytest.raises(SparkError, match=r"A session on local\[\d\] is active: .* one on local\[7\]"):
            session(master="local[7]")

    def test_java_keeps_its_temporary_files_where_those_of_this_process_are(self, spark):
        folder = spark.sparkContext._jvm.java.lang.System.getProperty("java.io.tmpdir")
        assert Path(folder) == scratch_folder()
        assert list(scratch_folder().glob("blockmgr-*"))

    def test_workers_start_warm_and_from_this_python(self, spark):
        def seen(batches):
            import os
            import pathlib

            import pyarrow as pa

            loaded = "thatch.matching.segments.kernels.search" in sys.modules
            daemon = pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_text()
            for _ in batches:
                yield pa.record_batch(
                    [pa.array([loaded and "thatch.pipeline.daemon" in daemon]), pa.array([sys.executable])],
                    ["is_warm", "python"],
                )

        told = spark.range(1, numPartitions=1).mapInArrow(seen, "is_warm boolean, python string").first()
        assert told.is_warm
        assert told.python == sys.executable

    def test_a_file_is_shared_by_its_path_on_one_machine(self, spark, tmp_path):
        (tmp_path / "file").write_text("content")
        shared = share_file(spark, tmp_path / "file", Path.read_text)
        assert shared == SharedFile("file", str(tmp_path / "file"), Path.read_text)
        assert shared.open() == "content"

    def test_progress_is_told_until_the_work_is_done(self, spark):
        told = []
        with report_progress(spark, lambda done, known: told.append((done, known))):
            spark.range(4, numPartitions=4).mapInArrow(_slowly, "id long").count()
        assert told
        assert all(0 <= done <= known for done, known in told)
        assert told == sorted(told)


def _slowly(batches):
    import time

    time.sleep(0.3)
    yield from batches
