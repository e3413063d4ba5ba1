"""The job of `thatch reduce --merge`: write what may be forwarded in place of all subscriptions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from thatch.formats.profile import read_profile
from thatch.model.profile import Profile
from thatch.pipeline.columns import EXPIRES, FILTER, ROW, SUBSCRIBER, SUBSCRIPTION, DataFrame, SparkSession, f
from thatch.pipeline.jobs.job import REJECTS, JobOutput, SparkJob, list_options, run_job
from thatch.pipeline.jobs.merge_report import MergeFacts, merge_facts, merge_report
from thatch.pipeline.jobs.reduce import ACTIVE, PASSIVE, Reduced, ReduceOptions, reduce_rows, write_passive
from thatch.pipeline.jobs.reduce_report import reduce_facts
from thatch.pipeline.sources import EventSource
from thatch.pipeline.transforms.merging.gaps import PARTS
from thatch.pipeline.transforms.merging.merge import MergedTable, check_budget, merge

__all__ = ["FRONTIER", "MERGED", "MERGER", "MergeOptions", "merge_files"]

MERGED = "merged"  # the table of subscriptions that are parts of mergers
MERGER = "merger"  # the id of the merger that a subscription is part of
FRONTIER = "frontier.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeOptions:
    """How subscriptions are merged; as for `merge`, and checked before anything is read."""

    budget: float = 0.0  # the largest share of all events that may pass although nobody wants them
    events: str | None = None  # files of logged events
    profile: str | None = None  # a folder of `thatch profile`
    nulls: Literal["missing", "null"] = "missing"  # what empty fields of events are

    def __post_init__(self) -> None:
        check_budget(self.budget)


def merge_files(
    spark: SparkSession, path: str, reducing: ReduceOptions, merging: MergeOptions, output: JobOutput
) -> MergeFacts:
    """Reduce and then merge the subscriptions of files.

    Parameters
    ----------
    path, reducing : as for `reduce_files`
    output : the folder gets Parquet `active`, what is forwarded, mergers among it with their `parts`; `merged`, the parts
        as they were given, each with its `merger`; `passive` and `rejects` as `reduce_files` writes them;
        `frontier.parquet`, which table sizes cost how many false positives; `report.html`; `manifest.json`
    """
    with run_job(spark, output, f"reducing {path}", [path, merging.events, merging.profile]) as job:
        # First, so that files that cannot be read are reported before any work.
        profile = None if merging.profile is None else read_profile(merging.profile)
        log = None if merging.events is None else job.read_events(merging.events, reducing.reading)
        if merging.events is not None and log is not None:
            job.tell_left_out(merging.events, log)
        with reduce_rows(job, path, reducing) as reduced:
            write_passive(job, reduced)
            merged = _merge(reduced, merging, log, profile)
            try:
                _write(job, merged, reduced.join())
                facts = merge_facts(merged, reduce_facts(reduced.found, job.read(REJECTS)))
            finally:
                merged.forwarded.unpersist()
        if merging.events is not None and log is not None:
            reducing.reading.rejects.check(facts.refused, log.count, merging.events)
        frontier = facts.frontier.table()
        job.put_tables({Path(FRONTIER).stem: frontier})
        job.finish(
            "reduce",
            page=merge_report(facts, merging.budget, path, output.command),
            parameters={**reduced.parameters, "merge": True, **list_options(merging)},
            rows={
                ACTIVE: facts.frontier.size,
                MERGED: facts.parts,
                PASSIVE: facts.covering.passive,
                REJECTS: facts.covering.refused,
                FRONTIER: frontier.num_rows,
            },
        )
    return facts


def _merge(
    reduced: Reduced, merging: MergeOptions, log: EventSource | None, profile: Profile | None
) -> MergedTable:
    merged = merge(
        reduced.active(),
        budget=merging.budget,
        events=None if log is None else log.table,
        event=None if log is None else log.row,
        json=None if log is None else log.json,
        nulls=merging.nulls,
        bad="skip",
        profile=profile,
        schema=reduced.schema,
    )
    rejects = None if log is None else log.rejects
    return merged if rejects is None else replace(merged, refused=merged.refused + rejects.count())


def _write(job: SparkJob, merged: MergedTable, given: DataFrame) -> None:
    """Write what is forwarded, and the subscriptions that are parts of mergers."""
    first = (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER)
    others = [name for name in merged.forwarded.columns if name not in first]
    forwarded = merged.forwarded.join(given.select(SUBSCRIPTION, EXPIRES), SUBSCRIPTION, "left")
    job.write(ACTIVE, forwarded.select(*first, EXPIRES, *others))
    parts = merged.forwarded.select(f.explode(PARTS).alias(SUBSCRIPTION), f.col(SUBSCRIPTION).alias(MERGER))
    job.write(MERGED, parts.join(given, SUBSCRIPTION).select(*first, EXPIRES, MERGER))
