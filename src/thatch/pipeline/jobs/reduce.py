"""The job of `thatch reduce`: files of subscriptions to a folder that says which of them are enough, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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

__all__ = ["ACTIVE", "PASSIVE", "Reduced", "Wanted", "reduce_files", "reducing", "write_passive"]

PASSIVE = "passive"
_GIVEN = (ROW, SUBSCRIPTION, SUBSCRIBER, FILTER, EXPIRES)


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
        with reducing(spark, folder, path, wanted) as reduced:
            _write_active(folder, reduced)
            write_passive(folder, reduced)
        facts = facts_of(reduced.found, spark.read.parquet(folder / REJECTS))
        folder.put(REPORT, report_of(facts, path, command).html())
        told = {ACTIVE: facts.active, PASSIVE: facts.passive, REJECTS: facts.refused}
        folder.describe("reduce", command=command, parameters=reduced.parameters, rows=told)
    return facts


@dataclass(frozen=True, slots=True)
class Reduced:
    """Subscriptions that were reduced.

    Parameters
    ----------
    found : what `reduce` gave
    accepted : the subscriptions, as they were given
    schema : their declared types
    parameters : what was asked, for the manifest
    """

    found: DataFrame
    accepted: DataFrame
    schema: Schema | None
    parameters: dict[str, Any]

    def joined(self) -> DataFrame:
        """The subscriptions as they were given, with what was found of them."""
        joined = self.found.join(self.accepted.select(ROW, FILTER, EXPIRES), ROW)
        return joined.select(*_GIVEN, *(name for name in self.found.columns if name not in _GIVEN))


@contextmanager
def reducing(spark: SparkSession, folder: Folder, path: str, wanted: Wanted) -> Iterator[Reduced]:
    """Read subscriptions, write what are none of them to `rejects`, and reduce the others."""
    table, schema = read_loaded(spark, path, wanted.schema)
    # Kept, since several passes and tables need it.
    rows = judged(table, schema=schema).persist()
    try:
        loaded = apart(rows)
        loaded.rejects.orderBy(ROW).write.parquet(folder / REJECTS)
        found = reduce(
            loaded.accepted, policy=wanted.policy, budget=wanted.budget, order=wanted.order, schema=schema
        )
        parameters = {
            "subscriptions": path,
            "policy": wanted.policy,
            "budget": wanted.budget,
            "order": wanted.order,
            "schema": schema.describe() if schema is not None else None,
        }
        yield Reduced(found, loaded.accepted, schema, parameters)
    finally:
        rows.unpersist()


def _write_active(folder: Folder, reduced: Reduced) -> None:
    """Write those that are enough."""
    active = reduced.joined().where(ACTIVE).drop(ACTIVE, PROOF)
    active.orderBy(ROW).write.parquet(folder / ACTIVE)


def write_passive(folder: Folder, reduced: Reduced) -> None:
    """Write those that others cover."""
    passive = reduced.joined().where(f"not {ACTIVE}").drop(ACTIVE, EXHAUSTED)
    passive.orderBy(ROW).write.parquet(folder / PASSIVE)
