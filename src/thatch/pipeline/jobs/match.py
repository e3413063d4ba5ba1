"""The job of `thatch match --spark`: match a log with subscriptions, and write who would have received what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from thatch.engine import Engine
from thatch.formats.reading import Reading
from thatch.formats.subscriptions import SUBSCRIPTIONS, is_loaded, loaded_schema
from thatch.model.schema import Schema
from thatch.pipeline.columns import (
    EVENT,
    FILTER,
    REASON,
    ROW,
    SUBSCRIPTION,
    DataFrame,
    SparkSession,
    arrow_schema,
    f,
)
from thatch.pipeline.indexes import fill_engine
from thatch.pipeline.jobs.job import REJECTS, JobOutput, SparkJob, first_rows, list_options, run_job
from thatch.pipeline.jobs.load import INDEX
from thatch.pipeline.jobs.match_report import MatchFacts, match_facts, match_report
from thatch.pipeline.sources import EventSource, read_subscriptions
from thatch.pipeline.transforms.events import find_refused
from thatch.pipeline.transforms.loading import check_subscriptions, split_checked
from thatch.pipeline.transforms.matching import MOST_MAPPED, Strategy, match

__all__ = ["MATCHES", "REFUSED", "MatchOptions", "match_files"]

MATCHES = "matches"
REFUSED = "refused"  # rows of the log that are not events
_REJECTS = arrow_schema(ROW, SUBSCRIPTION, FILTER, REASON)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """How a log is matched; as for `match`."""

    give: Literal["pairs", "counts", "hours"] = "pairs"
    time: str | None = None
    now: float | None = None
    nulls: Literal["missing", "null"] = "missing"
    strategy: Strategy = "auto"
    schema: Schema | None = None
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True, slots=True)
class _Queries:
    """Subscriptions as `match` takes them, and the rows that are not, if that is not known from `thatch load`."""

    accepted: DataFrame | Engine | Path
    rejects: DataFrame | None = None
    strategy: Strategy = "mapped"
    count: int = 0  # how many rows there are, if some may be no subscriptions

    def names(self, time: str | None) -> frozenset[str] | None:
        """The attributes that are asked for, if they are known before the log is read."""
        accepted = self.accepted
        if isinstance(accepted, Path):
            accepted = Engine.open(accepted)
        if not isinstance(accepted, Engine):
            return None
        return accepted.attributes() | ({time} if time is not None else set())


def match_files(
    spark: SparkSession, subscriptions: str, events: str, options: MatchOptions, output: JobOutput
) -> MatchFacts:
    """Match a log of files.

    Every filter is parsed once. The log is read once to match it; files of text once more before, to number their rows,
    and a log with rows that are not events once more after, to list these.

    Parameters
    ----------
    subscriptions : files of subscriptions, a folder of `thatch load`, or a saved engine (`.thatch`)
    events : files of events
    output : the folder gets Parquet `matches`; `refused`, rows of the log that are not events; `rejects`, subscriptions
        that cannot be accepted; `report.html`; `manifest.json`
    """
    with run_job(spark, output, f"matching {events}", [subscriptions, events]) as job:
        with _read_queries(spark, subscriptions, options) as queries:
            log = job.read_events(events, options.reading, names=queries.names(options.time))
            has_rejects = queries.rejects is not None
            if queries.rejects is not None:
                job.write(REJECTS, queries.rejects)
                rejected, first = first_rows(job.read(REJECTS))
                why = first[0][1] if first else ""
                options.reading.rejects.check(rejected, queries.count, subscriptions, "subscriptions", why)
            _write_matches(job, log, queries, options)
        facts = match_facts(
            options.give,
            job.read(MATCHES),
            rows=log.count,
            are_refused_rows=log.json is not None,
            refused=job.read(REFUSED),
            rejects=job.read(REJECTS) if has_rejects else None,
        )
        why = facts.first_refused[0][1] if facts.first_refused else ""
        options.reading.rejects.check(facts.refused, log.count, events, why=why)
        job.finish(
            "match",
            page=match_report(facts, events, output.command),
            parameters={"subscriptions": subscriptions, "events": events, **list_options(options)},
            rows={MATCHES: facts.rows, REFUSED: facts.refused, REJECTS: facts.rejected},
        )
    return facts


@contextmanager
def _read_queries(spark: SparkSession, path: str, options: MatchOptions) -> Iterator[_Queries]:
    """Read the subscriptions, choose the strategy, and keep what is persisted until the block ends."""
    local = Path(path).resolve()  # Spark may have been started in another folder
    if local.suffix == ".thatch":
        yield _Queries(local, strategy=options.strategy)
        return
    if is_loaded(path):
        loaded_schema(path, options.schema)  # refuses another schema and a damaged folder
        if (local / INDEX).is_file() and options.strategy != "partitioned":
            yield _Queries(local / INDEX)
            return
        table = spark.read.parquet(str(local / SUBSCRIPTIONS))
        yield _Queries(table, strategy=_choose_strategy(table, options.strategy))
        return
    table = read_subscriptions(spark, path, options.reading).persist()
    checked = check_subscriptions(table, schema=options.schema, with_forms=True)
    try:
        if _choose_strategy(table, options.strategy) == "mapped":
            yield _parse_here(table, options.schema)
        else:
            loaded = split_checked(checked.persist())
            yield _Queries(loaded.accepted.drop(ROW), loaded.rejects, "partitioned", table.count())
    finally:
        checked.unpersist()
        table.unpersist()


def _choose_strategy(table: DataFrame, strategy: Strategy) -> Strategy:
    if strategy == "auto":
        return "partitioned" if table.count() > MOST_MAPPED else "mapped"
    return strategy


def _parse_here(table: DataFrame, schema: Schema | None) -> _Queries:
    """Parse subscriptions in this process, which has to build the index anyway."""
    rows = table.toArrow().sort_by(ROW)
    is_read = pc.is_null(rows.column(REASON))
    good = rows.filter(is_read)
    engine, refused = fill_engine(good.drop_columns([ROW, REASON]), schema)
    rejects = good.take(pa.array([row for row, _ in refused], pa.int64()))
    reasons = pa.chunked_array([pa.array([reason for _, reason in refused], pa.string())])
    rejects = rejects.set_column(rejects.column_names.index(REASON), REASON, reasons)
    together = pa.concat_tables([rows.filter(pc.invert(is_read)), rejects]).select(_REJECTS.names)
    return _Queries(engine, table.sparkSession.createDataFrame(together.cast(_REJECTS)), count=rows.num_rows)


def _write_matches(job: SparkJob, log: EventSource, queries: _Queries, options: MatchOptions) -> None:
    """Write the matches, and the rows of the log that are not events."""
    skipped = job.spark.sparkContext.accumulator(0)
    found = match(
        log.table,
        queries.accepted,
        give=options.give,
        event=log.row,
        json=log.json,
        nulls=options.nulls,
        time=options.time,
        now=options.now,
        schema=options.schema,
        strategy=queries.strategy,
        bad="skip",
        skipped=skipped,
    )
    job.write(MATCHES, found, order=None)
    # Whether there are rejects is known from the one pass of the mapped strategy.
    refused = log.rejects_found() if queries.strategy == "mapped" else log.rejects
    if refused is None:
        refused = job.spark.createDataFrame([], f"{ROW} bigint, {REASON} string")
    refused = refused.select(f.col(ROW).cast("bigint"), REASON)
    if log.json is not None and skipped.value:
        bad = find_refused(log.table, event=log.row, json=log.json)
        refused = refused.union(bad.select(f.col(EVENT), REASON))
    refused = refused.persist()  # sorting reads it twice
    job.write(REFUSED, refused)
    refused.unpersist()
