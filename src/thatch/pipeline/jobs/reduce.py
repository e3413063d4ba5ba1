"""The job of `thatch reduce`: files of subscriptions to a folder that says which of them are enough, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thatch.model.schema import Schema
from thatch.pipeline.adapter import Progress, watched
from thatch.pipeline.failures import failures_told
from thatch.pipeline.jobs.load import REJECTS, read_loaded
from thatch.pipeline.jobs.reduce_report import Facts, facts_of, report_of
from thatch.pipeline.schemas import EXPIRES, FILTER, ROW, SUBSCRIBER, SUBSCRIPTION
from thatch.pipeline.sinks import REPORT, Folder, folder_written
from thatch.pipeline.transforms.loading import apart, judged
from thatch.pipeline.transforms.reducing.arranged import Order
from thatch.pipeline.transforms.reducing.deciding import PolicyName
from thatch.pipeline.transforms.reducing.reduce import checked_limit, reduce
from thatch.pipeline.transforms.reducing.telling import ACTIVE, EXHAUSTED, PROOF

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ACTIVE", "PASSIVE", "Wanted", "reduce_files"]

PASSIVE = "passive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How subscriptions are reduced; as for `reduce`, and refused as there, before anything is read."""

    policy: PolicyName = "exact"
    budget: float | None = None
    order: Order = "arrival"
    schema: Schema | None = None

    def __post_init__(self) -> None:
        checked_limit(self.policy, self.budget, self.order)


def reduce_files(
    spark: SparkSession,
    path: str,
    out: str,
    wanted: Wanted,
    *,
    overwrite: bool = False,
    command: str = "",
    report: Progress | None = None,
) -> Facts:
    """Reduce the subscriptions of files, and write what was found to a folder that appears when all of it is whole.

    Parameters
    ----------
    path : files of subscriptions, or a folder that `thatch load` has written, with the schema that it was loaded with
    out : the folder: Parquet `active` and `passive`, the latter with proofs, and `rejects`, rows that are no
        subscriptions, all in order of `row`; `report.html`; `manifest.json`
    overwrite : whether to replace a folder that a job has written
    command : the command line, for the report and the manifest
    report : is told how many of Spark's tasks are done of those known
    """
    with (
        folder_written(spark, out, overwrite=overwrite) as folder,
        watched(spark, report),
        failures_told(f"reducing {path}"),
    ):
        table, schema = read_loaded(spark, path, wanted.schema)
        # Kept, since several passes and tables need it.
        rows = judged(table, schema=schema).persist()
        try:
            loaded = apart(rows)
            loaded.rejects.orderBy(ROW).write.parquet(folder / REJECTS)
            found = reduce(
                loaded.accepted,
                policy=wanted.policy,
                budget=wanted.budget,
                order=wanted.order,
                schema=schema,
            )
            _write(folder, found, loaded.accepted)
        finally:
            rows.unpersist()
        facts = facts_of(found, spark.read.parquet(folder / REJECTS))
        folder.put(REPORT, report_of(facts, path, command).html())
        parameters = {
            "subscriptions": path,
            "policy": wanted.policy,
            "budget": wanted.budget,
            "order": wanted.order,
            "schema": schema.describe() if schema is not None else None,
        }
        told = {ACTIVE: facts.active, PASSIVE: facts.passive, REJECTS: facts.refused}
        folder.describe("reduce", command=command, parameters=parameters, rows=told)
    return facts


def _write(folder: Folder, found: DataFrame, accepted: DataFrame) -> None:
    """Both kinds of subscriptions as they were given, with what was found of them."""
    joined = found.join(accepted.select(ROW, FILTER, EXPIRES), ROW)
    first = [ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES]
    others = [name for name in found.columns if name not in (*first, ACTIVE)]
    active = joined.where(ACTIVE).select(*first, *(name for name in others if name != PROOF))
    passive = joined.where(f"not {ACTIVE}").select(*first, *(name for name in others if name != EXHAUSTED))
    active.orderBy(ROW).write.parquet(folder / ACTIVE)
    passive.orderBy(ROW).write.parquet(folder / PASSIVE)
