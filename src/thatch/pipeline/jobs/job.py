"""What all jobs share: an atomic output folder, translated errors, progress, a page and a manifest.

::

    with run_job(spark, output, "loading subscriptions.csv") as job:
        job.write("rejects", rejects)
        job.finish("load", page=page, parameters={...}, rows={...})
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from thatch.formats.subscriptions import SUBSCRIPTIONS, is_loaded, loaded_schema
from thatch.model.schema import Schema
from thatch.pipeline.adapter import Progress, report_progress, translate_spark_errors
from thatch.pipeline.columns import REASON, ROW, DataFrame, SparkSession
from thatch.pipeline.folders import REPORT, Folder, atomic_folder
from thatch.pipeline.sources import read_subscriptions
from thatch.pipeline.tasks import scratch_file
from thatch.reports import Report

__all__ = [
    "REJECTS",
    "FirstRows",
    "JobOutput",
    "RunningJob",
    "add_first_rows",
    "first_rows",
    "read_files_or_loaded",
    "run_job",
    "scratch_folder",
]

REJECTS = "rejects"  # the table of rows that are not subscriptions

FirstRows = tuple[tuple[int, str], ...]  # some refused rows: number, reason


@dataclass(frozen=True, slots=True)
class JobOutput:
    """Where a job writes, and what it reports meanwhile.

    Parameters
    ----------
    folder : appears when it is complete
    overwrite : whether to replace a folder that a job has written
    command : the command line, for the page and the manifest
    progress : is called with the number of Spark tasks done and known
    """

    folder: str
    _: KW_ONLY
    overwrite: bool = False
    command: str = ""
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that is running, and the folder that it writes."""

    spark: SparkSession
    folder: Folder
    command: str

    def write(self, name: str, table: DataFrame, *, order: str | None = ROW) -> None:
        """Write a table as Parquet, in the order of a column."""
        (table if order is None else table.orderBy(order)).write.parquet(self.folder / name)

    def read(self, name: str) -> DataFrame:
        """Read a table that was written."""
        return self.spark.read.parquet(self.folder / name)

    def put_files(self, folder: Path) -> None:
        """Move the files of a folder of this machine to the output folder."""
        for path in sorted(folder.iterdir()):
            self.folder.put(path.name, path)

    def finish(
        self, kind: str, *, page: Report, parameters: Mapping[str, Any], rows: Mapping[str, int]
    ) -> None:
        """Write the page and, last, the manifest.

        Parameters
        ----------
        kind : what the folder holds, as `read_manifest` checks it
        parameters : what the job was asked; a schema is written as its description
        rows : how many rows each table has
        """
        self.folder.put(REPORT, page.html())
        plain = {
            name: each.describe() if isinstance(each, Schema) else each for name, each in parameters.items()
        }
        self.folder.put_manifest(kind, command=self.command, parameters=plain, rows=rows)


@contextmanager
def run_job(spark: SparkSession, output: JobOutput, doing: str) -> Iterator[RunningJob]:
    """Run a job that writes a folder; if it fails, the folder does not appear.

    Parameters
    ----------
    doing : what the job does, for errors of Spark
    """
    with (
        atomic_folder(spark, output.folder, overwrite=output.overwrite) as folder,
        report_progress(spark, output.progress),
        translate_spark_errors(doing),
    ):
        yield RunningJob(spark, folder, output.command)


def read_files_or_loaded(
    spark: SparkSession, path: str, schema: Schema | None
) -> tuple[DataFrame, Schema | None]:
    """Read the subscriptions of files with the schema given, or of a folder of `thatch load` with its own."""
    if not is_loaded(path):
        return read_subscriptions(spark, path), schema
    known = loaded_schema(path, schema)
    local = Path(path).resolve()  # Spark may have been started in another folder
    return spark.read.parquet(str(local / SUBSCRIPTIONS)), known


def scratch_folder() -> Path:
    """Make a folder of this machine for files on their way to the output."""
    folder = scratch_file("")
    folder.mkdir()
    return folder


def first_rows(rejects: DataFrame | None) -> tuple[int, FirstRows]:
    """How many rows were refused, and the first of them."""
    if rejects is None:
        return 0, ()
    first = rejects.orderBy(ROW).limit(5).collect()
    return rejects.count(), tuple((each[ROW], each[REASON]) for each in first)


def add_first_rows(report: Report, title: str, rows: FirstRows, total: int) -> None:
    """Add a section with some refused rows, if there are any."""
    if total:
        report.section(title)
        table = [{"row": row, "reason": reason} for row, reason in rows]
        report.table(table, caption="The first of them", total=total)
