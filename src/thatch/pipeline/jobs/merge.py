"""The job of `thatch reduce --merge`: files of subscriptions to a folder with what may be forwarded in their place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from thatch.formats.profile import read_profile
from thatch.model.profile import Profile
from thatch.pipeline.adapter import Progress, watched
from thatch.pipeline.failures import failures_told
from thatch.pipeline.jobs.load import REJECTS
from thatch.pipeline.jobs.merge_report import Facts, facts_of, report_of
from thatch.pipeline.jobs.reduce import ACTIVE, PASSIVE, Reduced, Wanted, reducing, write_passive
from thatch.pipeline.jobs.reduce_report import facts_of as reduce_facts_of
from thatch.pipeline.schemas import EXPIRES, FILTER, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.sinks import REPORT, Folder, folder_written
from thatch.pipeline.sources import Source, read_events
from thatch.pipeline.transforms.merging.gaps import PARTS
from thatch.pipeline.transforms.merging.merge import Merged, checked_share, merge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FRONTIER", "MERGED", "MERGER", "Merging", "merge_files"]

MERGED = "merged"  # the folder of subscriptions that are parts of mergers
MERGER = "merger"  # the id of the merger that a subscription is part of
FRONTIER = "frontier.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """How what is left is merged; as for `merge`, and refused as there, before anything is read.

    Parameters
    ----------
    budget : most that may be let through in vain, as a share of all events
    events : files of logged events
    profile : a folder that `thatch profile` has written
    nulls : what empty fields of events are
    """

    budget: float = 0.0
    events: str | None = None
    profile: str | None = None
    nulls: Literal["missing", "null"] = "missing"

    def __post_init__(self) -> None:
        checked_share(self.budget)


def merge_files(
    spark: SparkSession,
    path: str,
    out: str,
    wanted: Wanted,
    merging: Merging,
    *,
    overwrite: bool = False,
    command: str = "",
    report: Progress | None = None,
) -> Facts:
    """Reduce and merge the subscriptions of files, and write what is forwarded to a folder that appears when it is whole.

    Parameters
    ----------
    path, wanted, overwrite, command, report : as for `reduce_files`
    out : the folder: Parquet `active`, what is forwarded, mergers among them with their `parts`; `merged`, the parts
        as they were given, each with its `merger`; `passive` and `rejects` as `reduce_files` writes them;
        `frontier.parquet`, which table sizes can be had for which false positives; `report.html`; `manifest.json`
    """
    with (
        folder_written(spark, out, overwrite=overwrite) as folder,
        watched(spark, report),
        failures_told(f"reducing {path}"),
    ):
        # Read first, so that what cannot be read is told before there is work.
        profile = None if merging.profile is None else read_profile(merging.profile)
        log = None if merging.events is None else read_events(spark, merging.events)
        with reducing(spark, folder, path, wanted) as reduced:
            write_passive(folder, reduced)
            merged = _merged(reduced, merging, log, profile)
            try:
                _write(folder, merged, reduced.joined())
                covering = reduce_facts_of(reduced.found, spark.read.parquet(folder / REJECTS))
                facts = facts_of(merged, covering)
            finally:
                merged.forwarded.unpersist()
        _put_table(folder, FRONTIER, facts.frontier)
        folder.put(REPORT, report_of(facts, merging.budget, path, command).html())
        asked = {"events": merging.events, "profile": merging.profile, "nulls": merging.nulls}
        parameters = {**reduced.parameters, "merge": True, "budget": merging.budget, **asked}
        told = {
            ACTIVE: facts.size,
            MERGED: facts.parts,
            PASSIVE: covering.passive,
            REJECTS: covering.refused,
            FRONTIER: facts.frontier.num_rows,
        }
        folder.describe("reduce", command=command, parameters=parameters, rows=told)
    return facts


def _merged(reduced: Reduced, merging: Merging, log: Source | None, profile: Profile | None) -> Merged:
    active = reduced.joined().where(ACTIVE).select(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER)
    merged = merge(
        active,
        budget=merging.budget,
        events=None if log is None else log.table,
        event=None if log is None else log.row,
        json=None if log is None else log.json,
        nulls=merging.nulls,
        bad="skip",
        profile=profile,
        schema=reduced.schema,
    )
    unread = log.rejects.count() if log is not None and log.rejects is not None else 0
    return replace(merged, refused=merged.refused + unread)


def _write(folder: Folder, merged: Merged, given: DataFrame) -> None:
    """Write what is forwarded, and the subscriptions that are part of it."""
    from pyspark.sql import functions as f

    expires = given.select(SUBSCRIPTION, EXPIRES)
    forwarded = merged.forwarded.join(expires, SUBSCRIPTION, "left")
    others = [
        name for name in merged.forwarded.columns if name not in (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER)
    ]
    forwarded = forwarded.select(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES, *others)
    forwarded.orderBy(ROW).write.parquet(folder / ACTIVE)
    parts = merged.forwarded.select(f.explode(PARTS).alias(SUBSCRIPTION), f.col(SUBSCRIPTION).alias(MERGER))
    parts = parts.join(given, SUBSCRIPTION)
    parts = parts.select(ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES, MERGER)
    parts.orderBy(ROW).write.parquet(folder / MERGED)


def _put_table(folder: Folder, name: str, table: pa.Table) -> None:
    sink = BytesIO()
    pq.write_table(table, sink)
    folder.put(name, sink.getvalue())
