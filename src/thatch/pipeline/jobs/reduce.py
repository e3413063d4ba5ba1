"""The job of `thatch reduce`: write which subscriptions are enough, and what covers the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from thatch.formats.reading import Reading
from thatch.model.schema import Schema
from thatch.pipeline.columns import EXPIRES, FILTER, ROW, SUBSCRIBER, SUBSCRIPTION, DataFrame, SparkSession
from thatch.pipeline.forms import FORM
from thatch.pipeline.jobs.job import (
    REJECTS,
    JobOutput,
    RunningJob,
    SparkJob,
    check_rejects,
    list_options,
    read_files_or_loaded,
    run_job,
)
from thatch.pipeline.jobs.reduce_report import ReduceFacts, reduce_facts, reduce_report
from thatch.pipeline.transforms.loading import check_subscriptions, split_checked
from thatch.pipeline.transforms.reducing.arranging import Order
from thatch.pipeline.transforms.reducing.deciding import PolicyName
from thatch.pipeline.transforms.reducing.reduce import check_limits, reduce
from thatch.pipeline.transforms.reducing.verdicts import ACTIVE, EXHAUSTED, PROOF

__all__ = [
    "ACTIVE",
    "GIVEN",
    "PASSIVE",
    "ReduceOptions",
    "Reduced",
    "reduce_files",
    "reduce_rows",
    "write_facts",
    "write_passive",
]

PASSIVE = "passive"
GIVEN = (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceOptions:
    """How subscriptions are reduced; as for `reduce`, and checked before anything is read."""

    policy: PolicyName = "exact"
    budget: float | None = None
    order: Order = "arrival"
    schema: Schema | None = None
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        check_limits(self.policy, self.budget, self.order)


def reduce_files(spark: SparkSession, path: str, options: ReduceOptions, output: JobOutput) -> ReduceFacts:
    """Reduce the subscriptions of files.

    Parameters
    ----------
    path : files of subscriptions, or a folder of `thatch load`, which has its own schema
    output : the folder gets Parquet `active`, `passive` with proofs, and `rejects`, rows that are not subscriptions, all in
        the order of `row`; `report.html`; `manifest.json`
    """
    with run_job(spark, output, f"reducing {path}", [path]) as job:
        with reduce_rows(job, path, options) as reduced:
            job.write(ACTIVE, reduced.join().where(ACTIVE).drop(ACTIVE, PROOF))
            write_passive(job, reduced)
        facts = reduce_facts(reduced.found, job.read(REJECTS))
        write_facts(job, facts, path, reduced.parameters)
    return facts


def write_facts(job: RunningJob, facts: ReduceFacts, path: str, parameters: Mapping[str, Any]) -> None:
    """Write the page and the manifest, when all else is written."""
    job.finish(
        "reduce",
        page=reduce_report(facts, path, job.command),
        parameters=parameters,
        rows={ACTIVE: facts.active, PASSIVE: facts.passive, REJECTS: facts.refused},
    )


@dataclass(frozen=True, slots=True)
class Reduced:
    """Subscriptions that were reduced: the result of `reduce`, the subscriptions, their declared types."""

    found: DataFrame
    accepted: DataFrame
    schema: Schema | None
    parameters: dict[str, Any]  # for the manifest

    def join(self) -> DataFrame:
        """The subscriptions as they were given, with the result for each."""
        joined = self.found.join(self.accepted.select(ROW, FILTER, EXPIRES), ROW)
        return joined.select(*GIVEN, *(name for name in self.found.columns if name not in GIVEN))

    def active(self) -> DataFrame:
        """The subscriptions that are enough, as rows to merge."""
        rows = self.found.where(ACTIVE).select(ROW, SUBSCRIPTION, SUBSCRIBER)
        return rows.join(self.accepted.select(ROW, FILTER, FORM), ROW)


@contextmanager
def reduce_rows(job: SparkJob, path: str, options: ReduceOptions) -> Iterator[Reduced]:
    """Read subscriptions, write the other rows to `rejects`, and reduce the others."""
    table, schema = read_files_or_loaded(job.spark, path, options.schema, options.reading)
    # Persisted: several passes and tables need it.
    rows = check_subscriptions(table, schema=schema, with_forms=True).persist()
    try:
        loaded = split_checked(rows)
        job.write(REJECTS, loaded.rejects)
        check_rejects(options.reading.rejects, job.read(REJECTS), rows, path)
        found = reduce(
            loaded.accepted, policy=options.policy, budget=options.budget, order=options.order, schema=schema
        )
        parameters = {"subscriptions": path, **list_options(options), "schema": schema}
        yield Reduced(found, loaded.accepted, schema, parameters)
    finally:
        rows.unpersist()


def write_passive(job: SparkJob, reduced: Reduced) -> None:
    """Write the subscriptions that others cover."""
    job.write(PASSIVE, reduced.join().where(f"not {ACTIVE}").drop(ACTIVE, EXHAUSTED))
