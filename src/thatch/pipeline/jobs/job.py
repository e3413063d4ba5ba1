"""What all jobs share: an atomic output folder, translated errors, progress, a page and a manifest.

::

    with run_job(spark, output, "loading subscriptions.csv", ["subscriptions.csv"]) as job:
        job.write("rejects", rejects)
        job.finish("load", page=page, parameters={...}, rows={...})
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thatch.formats.columns import Tell
from thatch.formats.folders import write_tables
from thatch.formats.reading import Reading, RejectLimit
from thatch.formats.subscriptions import SUBSCRIPTIONS, is_loaded, loaded_schema
from thatch.model.schema import Schema
from thatch.outputs import new_folder
from thatch.outputs.places import Inputs
from thatch.pipeline.adapter import Progress, report_progress, translate_spark_errors
from thatch.pipeline.columns import REASON, ROW, Column, DataFrame, SparkSession, f
from thatch.pipeline.folders import REPORT, Folder, atomic_folder
from thatch.pipeline.pruning import left_out
from thatch.pipeline.sources import EventSource, read_events, read_subscriptions
from thatch.pipeline.tasks import scratch_file
from thatch.reports import PlotAxis, Report

__all__ = [
    "REJECTS",
    "FirstRows",
    "JobOutput",
    "RunningJob",
    "SparkJob",
    "add_first_rows",
    "add_sizes",
    "check_rejects",
    "first_rows",
    "list_options",
    "read_files_or_loaded",
    "run_here",
    "run_job",
    "size_class",
]

_PART = "part-00000.parquet"  # the only file of a table that this process has written
REJECTS = "rejects"  # the table of rows that are not subscriptions

FirstRows = tuple[tuple[int, str], ...]  # some refused rows: number, reason


@dataclass(frozen=True, slots=True)
class JobOutput:
    """Where a job writes, and what it reports meanwhile."""

    folder: str  # appears when it is complete
    _: KW_ONLY
    overwrite: bool = False  # whether to replace a folder that a job has written
    inputs: tuple[str, ...] = ()  # what else is read: files of schemas
    command: str = ""  # the command line, for the page and the manifest
    made: datetime | None = None  # when, for the page
    progress: Progress | None = None  # is called with how much is done and known: Spark tasks, or rows
    tell: Tell | None = None  # is called with each remark on the files that are read


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that is running, and the folder that it writes."""

    folder: Folder
    command: str
    made: datetime | None
    tell: Tell

    def put_parts(self, name: str, table: pa.Table) -> None:
        """Write a table of this process as Spark writes one: a folder of Parquet files."""
        part = scratch_file(".parquet")
        pq.write_table(table, part)
        self.folder.put(f"{name}/{_PART}", part)

    def put_tables(self, tables: Mapping[str, pa.Table]) -> dict[str, int]:
        """Write tables of this process, each as one Parquet file; how many rows each has."""
        folder = scratch_file("")
        folder.mkdir()
        rows = write_tables(folder, tables)
        for path in sorted(folder.iterdir()):
            self.folder.put(path.name, path)
        return rows

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
        self.folder.put(REPORT, page.html(made=self.made))
        plain = {name: _plain(each) for name, each in parameters.items()}
        self.folder.put_manifest(kind, command=self.command, parameters=plain, rows=rows)


@dataclass(frozen=True, slots=True)
class SparkJob(RunningJob):
    """A job that is running on Spark."""

    spark: SparkSession

    def read_events(
        self,
        path: str,
        reading: Reading | None = None,
        *,
        with_numbers: bool = True,
        names: Collection[str] | None = None,
    ) -> EventSource:
        """Read events, and pass on the remarks about their columns."""
        log = read_events(self.spark, path, with_numbers=with_numbers, reading=reading, names=names)
        for remark in log.remarks:
            self.tell(remark)
        return log

    def tell_left_out(self, path: str, log: EventSource) -> None:
        """Tell which columns are left out where all are asked for."""
        for remark in left_out(log.table):
            self.tell(f"{path}, {remark}")

    def write(self, name: str, table: DataFrame, *, order: str | None = ROW) -> None:
        """Write a table as Parquet, in the order of a column."""
        (table if order is None else table.orderBy(order)).write.parquet(self.folder / name)

    def read(self, name: str) -> DataFrame:
        """Read a table that was written."""
        return self.spark.read.parquet(self.folder / name)


@contextmanager
def run_here(output: JobOutput, inputs: Inputs) -> Iterator[RunningJob]:
    """Run a job that writes a folder in this process, without Spark; if it fails, the folder does not appear."""
    read = [*inputs, *output.inputs]
    with new_folder(output.folder, inputs=read, overwrite=output.overwrite) as hidden:
        yield RunningJob(Folder(str(hidden)), output.command, output.made, output.tell or _warn)


@contextmanager
def run_job(spark: SparkSession, output: JobOutput, doing: str, inputs: Inputs) -> Iterator[SparkJob]:
    """Run a job on Spark that writes a folder; if it fails, the folder does not appear.

    Parameters
    ----------
    doing : for errors of Spark
    inputs : the paths that the job reads, which it will not replace
    """
    with (
        atomic_folder(
            spark, output.folder, inputs=[*inputs, *output.inputs], overwrite=output.overwrite
        ) as folder,
        report_progress(spark, output.progress),
        translate_spark_errors(doing),
    ):
        yield SparkJob(folder, output.command, output.made, output.tell or _warn, spark)


def _warn(remark: str) -> None:
    warnings.warn(remark, UserWarning, stacklevel=2)


def read_files_or_loaded(
    spark: SparkSession, path: str, schema: Schema | None, reading: Reading | None = None
) -> tuple[DataFrame, Schema | None]:
    """Read the subscriptions of files with the schema given, or of a folder of `thatch load` with its own."""
    if not is_loaded(path):
        return read_subscriptions(spark, path, reading), schema
    known = loaded_schema(path, schema)
    local = Path(path).resolve()  # Spark may have been started in another folder
    return spark.read.parquet(str(local / SUBSCRIPTIONS)), known


def _plain(value: Any) -> Any:
    """A parameter as plain data."""
    if isinstance(value, Schema):
        return value.describe()
    if isinstance(value, Reading):
        return {name: _plain(each) for name, each in list_options(value).items() if name != "schema"}
    return list_options(value) if isinstance(value, RejectLimit) else value


def list_options(options: Any) -> dict[str, Any]:
    """The fields of a dataclass of options by name, for a manifest."""
    return {each.name: getattr(options, each.name) for each in fields(options)}


def size_class(size: Column) -> Column:
    """The largest power of two up to a size, as its exponent; off by one at most beyond 2^49."""
    return f.floor(f.log2(f.greatest(size, f.lit(1))))


def add_sizes(report: Report, sizes: Mapping[int, int], *, title: str, x: str, y: str) -> None:
    """Add a histogram of how many there are of each `size_class`."""
    powers = range(min(sizes), max(sizes) + 1)
    edges = [2**power for power in (*powers, powers[-1] + 1)]
    counts = [sizes.get(power, 0) for power in powers]
    report.histogram(edges, counts, title=title, x=PlotAxis(x, log=True), y=y)


def first_rows(rejects: DataFrame | None) -> tuple[int, FirstRows]:
    """How many rows were refused, and the first of them."""
    if rejects is None:
        return 0, ()
    first = rejects.orderBy(ROW).limit(5).collect()
    return rejects.count(), tuple((each[ROW], each[REASON]) for each in first)


def check_rejects(limit: RejectLimit, rejects: DataFrame, checked: DataFrame, path: str) -> None:
    """Raise a `TableError` if too many of the rows that were checked are not subscriptions."""
    refused, first = first_rows(rejects)
    if refused:
        limit.check(refused, checked.count(), path, "subscriptions", first[0][1])


def add_first_rows(report: Report, title: str, rows: FirstRows, total: int) -> None:
    """Add a section with some refused rows, if there are any."""
    if total:
        report.section(title)
        table = [{"row": row, "reason": reason} for row, reason in rows]
        report.table(table, caption="The first of them", total=total)
