"""The job of `thatch profile`: profile the events of files, and what subscriptions ask of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypedDict

from thatch.formats.profile import KIND, profile_tables
from thatch.formats.reading import Reading
from thatch.model.profile import Profile
from thatch.model.profile.counting import REASONS
from thatch.model.schema import Schema
from thatch.pipeline.columns import REASON, SparkSession, f
from thatch.pipeline.jobs.job import JobOutput, RunningJob, run_job
from thatch.pipeline.jobs.profile_report import profile_report
from thatch.pipeline.sources import EventSource, read_subscriptions
from thatch.pipeline.transforms.profiling.profile import profile

__all__ = ["ProfileOptions", "profile_files", "write_profile"]


class ProfileOptions(TypedDict, total=False):
    """What is profiled and how; as for `profile`, but subscriptions are files."""

    subscriptions: str | None
    nulls: Literal["missing", "null"]
    fraction: float
    schema: Schema | None
    reading: Reading | None


def profile_files(
    spark: SparkSession,
    events: str,
    output: JobOutput,
    *,
    subscriptions: str | None = None,
    nulls: Literal["missing", "null"] = "missing",
    fraction: float = 1.0,
    schema: Schema | None = None,
    reading: Reading | None = None,
) -> Profile:
    """Profile the events of files; parameters as for `profile`, but events and subscriptions are files.

    `reading` says how files are read, and how many rows may be refused.

    The folder gets the tables of `thatch.formats.profile`, `report.html` and `manifest.json`.
    """
    with run_job(spark, output, f"profiling {events}", [events, subscriptions]) as job:
        log = job.read_events(events, reading, with_numbers=False)
        job.tell_left_out(events, log)
        filters = None if subscriptions is None else read_subscriptions(spark, subscriptions, reading)
        options: dict[str, Any] = {"nulls": nulls, "fraction": fraction, "schema": schema}
        found = _add_rejects(profile(log.table, filters, event=log.row, json=log.json, **options), log)
        write_profile(job, found, {"events": events, "subscriptions": subscriptions, **options}, reading)
    return found


def write_profile(
    job: RunningJob, found: Profile, parameters: Mapping[str, Any], reading: Reading | None
) -> None:
    """Write the tables, the page and the manifest, unless too many rows were refused."""
    total, why = found.events + found.rejected, found.reasons[0][0] if found.reasons else ""
    limit, matches = (reading or Reading()).rejects, found.matches
    limit.check(found.rejected, total, parameters["events"], why=why)
    if matches is not None:
        rows = matches.subscriptions + matches.rejected
        limit.check(matches.rejected, rows, parameters["subscriptions"], "subscriptions")
    page = profile_report(found, parameters["events"], parameters["subscriptions"], job.command)
    tables = job.put_tables(profile_tables(found))
    job.finish(KIND, page=page, parameters=parameters, rows=tables)


def _add_rejects(found: Profile, log: EventSource) -> Profile:
    """Count the rows of the files that are no rows of a table, too."""
    if log.rejects is None:
        return found
    counts = log.rejects.groupBy(REASON).count().persist()
    total = counts.agg(f.coalesce(f.sum("count"), f.lit(0))).collect()[0][0]
    first = counts.orderBy(f.desc("count"), REASON).limit(REASONS).collect()
    counts.unpersist()
    reasons = found.reasons + tuple((row[REASON], row["count"]) for row in first)
    return replace(found, rejected=found.rejected + total, reasons=reasons[:REASONS])
