"""The job of `thatch profile`: files of events, and perhaps of subscriptions, to a folder with their profile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from thatch.formats.profile import KIND, write_tables
from thatch.model.profile import Profile
from thatch.model.profile.counting import REASONS
from thatch.model.schema import Schema
from thatch.pipeline.adapter import Progress, watched
from thatch.pipeline.failures import failures_told
from thatch.pipeline.folders import work_folder
from thatch.pipeline.jobs.profile_report import report_of
from thatch.pipeline.schemas import REASON
from thatch.pipeline.sinks import REPORT, Folder, folder_written
from thatch.pipeline.sources import Source, read_events, read_subscriptions
from thatch.pipeline.transforms.profiling.profile import profile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["profile_files"]


def profile_files(  # noqa: PLR0913 - the questions that can be asked of a log
    spark: SparkSession,
    events: str,
    out: str,
    *,
    subscriptions: str | None = None,
    nulls: Literal["missing", "null"] = "missing",
    fraction: float = 1.0,
    schema: Schema | None = None,
    overwrite: bool = False,
    command: str = "",
    report: Progress | None = None,
) -> Profile:
    """Profile the events of files into a folder, which appears when all of it is whole.

    Parameters
    ----------
    events : a file, a folder of files or a glob; see `read_events`
    out : the folder: the tables of `thatch.formats.profile`, `report.html`, `manifest.json`
    subscriptions : a file, a folder of files or a glob; see `read_subscriptions`
    nulls : what empty fields of CSV and Parquet are
    fraction : of the events to look at, drawn at random
    schema : declared types of attributes
    overwrite : whether to replace a folder that a job has written
    command : the command line, for the report and the manifest
    report : is told how many of Spark's tasks are done of those known
    """
    with (
        folder_written(spark, out, overwrite=overwrite) as folder,
        watched(spark, report),
        failures_told(f"profiling {events}"),
    ):
        source = read_events(spark, events)
        filters = None if subscriptions is None else read_subscriptions(spark, subscriptions)
        found = profile(
            source.table,
            filters,
            event=source.row,
            json=source.json,
            nulls=nulls,
            schema=schema,
            fraction=fraction,
        )
        found = _with_rejects(found, source)
        rows = _written(folder, found)
        folder.put(REPORT, report_of(found, events, subscriptions, command).html())
        parameters = {
            "events": events,
            "subscriptions": subscriptions,
            "nulls": nulls,
            "fraction": fraction,
            "schema": schema.describe() if schema is not None else None,
        }
        folder.describe(KIND, command=command, parameters=parameters, rows=rows)
    return found


def _with_rejects(found: Profile, source: Source) -> Profile:
    """The profile that also counts rows of the files that are no rows of a table."""
    if source.rejects is None:
        return found
    from pyspark.sql import functions as f

    counted = source.rejects.groupBy(REASON).count().orderBy(f.desc("count"), REASON)
    total = source.rejects.count()
    reasons = [(row[REASON], row["count"]) for row in counted.limit(REASONS).collect()]
    return replace(found, rejected=found.rejected + total, reasons=(found.reasons + tuple(reasons))[:REASONS])


def _written(folder: Folder, found: Profile) -> dict[str, int]:
    made = work_folder() / uuid4().hex
    made.mkdir()
    rows = write_tables(made, found)
    for name in rows:
        folder.put(f"{name}.parquet", made / f"{name}.parquet")
    return rows
