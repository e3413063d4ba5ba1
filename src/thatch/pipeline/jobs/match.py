"""The job of `thatch match --spark`: a log and subscriptions to a folder that says who would have received what."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from thatch.errors import TableError
from thatch.formats.manifest import MANIFEST, read_manifest
from thatch.model.schema import Schema
from thatch.pipeline.adapter import Progress, watched
from thatch.pipeline.failures import failures_told
from thatch.pipeline.jobs.load import INDEX, REJECTS, SUBSCRIPTIONS
from thatch.pipeline.jobs.match_report import Facts, facts_of, report_of
from thatch.pipeline.schemas import EVENT, FILTER, REASON, ROW, SUBSCRIPTION
from thatch.pipeline.sinks import REPORT, folder_written
from thatch.pipeline.sources import Source, read_events, read_subscriptions
from thatch.pipeline.transforms.loading import load
from thatch.pipeline.transforms.matching import Plan, match
from thatch.pipeline.transforms.refusing import refused

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["MATCHES", "REFUSED", "Asked", "match_files"]

MATCHES = "matches"
REFUSED = "refused"  # rows of the log that are no events


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of the log; as for `match`."""

    give: Literal["pairs", "counts", "hours"] = "pairs"
    time: str | None = None
    nulls: Literal["missing", "null"] = "missing"
    plan: Plan = "auto"
    schema: Schema | None = None


def match_files(
    spark: SparkSession,
    subscriptions: str,
    events: str,
    out: str,
    asked: Asked,
    *,
    overwrite: bool = False,
    command: str = "",
    report: Progress | None = None,
) -> Facts:
    """Match a log, and write what was found to a folder that appears when all of it is whole.

    Parameters
    ----------
    subscriptions : files of subscriptions, a folder that `thatch load` has written, or a saved engine (`.thatch`)
    events : files of events
    out : the folder: Parquet `matches`; `refused`, rows of the log that are no events; `rejects`, subscriptions that
        cannot be accepted; `report.html`; `manifest.json`
    overwrite : whether to replace a folder that a job has written
    command : the command line, for the report and the manifest
    report : is told how many of Spark's tasks are done of those known
    """
    with (
        folder_written(spark, out, overwrite=overwrite) as folder,
        watched(spark, report),
        failures_told(f"matching {events}"),
    ):
        log = read_events(spark, events)
        queries, rejects = _queries(spark, subscriptions, asked.schema, asked.plan)
        found = match(
            log.table,
            queries,
            give=asked.give,
            event=log.row,
            json=log.json,
            nulls=asked.nulls,
            time=asked.time,
            schema=asked.schema,
            plan=asked.plan,
            bad="skip",
        )
        found.write.parquet(folder / MATCHES)
        _refused(spark, log).orderBy(ROW).write.parquet(folder / REFUSED)
        if rejects is not None:
            rejects.orderBy(ROW).write.parquet(folder / REJECTS)
        facts = facts_of(
            asked.give,
            spark.read.parquet(folder / MATCHES),
            events=log.table.count(),
            refused=spark.read.parquet(folder / REFUSED),
            rejects=spark.read.parquet(folder / REJECTS) if rejects is not None else None,
        )
        folder.put(REPORT, report_of(facts, events, command).html())
        parameters = {
            "subscriptions": subscriptions,
            "events": events,
            "give": asked.give,
            "time": asked.time,
            "nulls": asked.nulls,
            "plan": asked.plan,
            "schema": asked.schema.describe() if asked.schema is not None else None,
        }
        told = {MATCHES: facts.rows, REFUSED: facts.refused, REJECTS: facts.rejected}
        folder.describe("match", command=command, parameters=parameters, rows=told)
    return facts


def _queries(
    spark: SparkSession, path: str, schema: Schema | None, plan: Plan
) -> tuple[DataFrame | Path, DataFrame | None]:
    """The subscriptions, and those of them that were refused if that is not known yet."""
    local = Path(path).resolve()  # Spark may have been started in another folder
    if local.suffix == ".thatch":
        return local, None
    if (local / MANIFEST).is_file():
        if schema is not None:
            raise TableError("no schema beside subscriptions that were loaded with theirs", "one", path)
        read_manifest(local, "load")
        if (local / INDEX).is_file() and plan != "partitioned":
            return local / INDEX, None
        return spark.read.parquet(str(local / SUBSCRIPTIONS)), None
    loaded = load(read_subscriptions(spark, path), schema=schema)
    # Parsed once more by whoever builds the index; the texts are all that has to be kept.
    return loaded.accepted.orderBy(ROW).drop(ROW), loaded.rejects.select(ROW, SUBSCRIPTION, FILTER, REASON)


def _refused(spark: SparkSession, log: Source) -> DataFrame:
    """Rows of the log that are no events: `row`, `reason`."""
    from pyspark.sql import functions as f

    found = log.rejects
    if found is None:
        found = spark.createDataFrame([], f"{ROW} bigint, {REASON} string")
    found = found.select(f.col(ROW).cast("bigint"), REASON)
    if log.json is not None:
        found = found.union(refused(log.table, event=log.row, json=log.json).select(f.col(EVENT), REASON))
    return found
