"""The job of `thatch profile`: profile the events of files, and what subscriptions ask of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from thatch.formats.profile import KIND, profile_tables
from thatch.formats.reading import Reading
from thatch.model.profile import Profile
from thatch.model.profile.counting import REASONS
from thatch.model.schema import Schema
from thatch.pipeline.columns import REASON, SparkSession, f
from thatch.pipeline.jobs.job import JobOutput, run_job
from thatch.pipeline.jobs.profile_report import profile_report
from thatch.pipeline.sources import EventSource, read_subscriptions
from thatch.pipeline.transforms.profiling.profile import profile

__all__ = ["profile_files"]


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
    with run_job(spark, output, f"profiling {events}") as job:
        log = job.read_events(events, reading, with_numbers=False)
        filters = None if subscriptions is None else read_subscriptions(spark, subscriptions, reading)
        options: dict[str, Any] = {"nulls": nulls, "fraction": fraction, "schema": schema}
        found = _add_rejects(profile(log.table, filters, event=log.row, json=log.json, **options), log)
        rows, why = found.events + found.rejected, found.reasons[0][0] if found.reasons else ""
        (reading or Reading()).rejects.check(found.rejected, rows, events, why=why)
        job.finish(
            KIND,
            page=profile_report(found, events, subscriptions, output.command),
            parameters={"events": events, "subscriptions": subscriptions, **options},
            rows=job.put_tables(profile_tables(found)),
        )
    return found


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
