"""The job of `thatch load`: files of subscriptions to a folder of good ones, an index of them, and what was refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from thatch.formats.loaded import SUBSCRIPTIONS, is_loaded, loaded_schema
from thatch.model.schema import Schema
from thatch.pipeline.adapter import Progress, watched
from thatch.pipeline.failures import failures_told
from thatch.pipeline.folders import work_folder
from thatch.pipeline.indexes import engine_of
from thatch.pipeline.jobs.load_report import Facts, facts_of, report_of
from thatch.pipeline.schemas import ROW
from thatch.pipeline.sinks import REPORT, Folder, folder_written
from thatch.pipeline.sources import read_subscriptions
from thatch.pipeline.transforms.loading import apart, judged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["INDEX", "REJECTS", "SUBSCRIPTIONS", "load_files", "read_loaded"]

REJECTS = "rejects"
INDEX = "index.thatch"


def load_files(
    spark: SparkSession,
    path: str,
    out: str,
    *,
    schema: Schema | None = None,
    with_index: bool = True,
    overwrite: bool = False,
    command: str = "",
    report: Progress | None = None,
) -> Facts:
    """Load the subscriptions of files into a folder, which appears when all of it is whole.

    Parameters
    ----------
    path : a file, a folder of files or a glob; see `read_subscriptions`
    out : the folder: Parquet `subscriptions` and `rejects`, in order of `row`; `index.thatch`, an engine of all accepted
        subscriptions; `report.html`; `manifest.json`
    schema : declared types of attributes
    with_index : whether to build the index, which this process does
    overwrite : whether to replace a folder that a job has written
    command : the command line, for the report and the manifest
    report : is told how many of Spark's tasks are done of those known
    """
    with (
        folder_written(spark, out, overwrite=overwrite) as folder,
        watched(spark, report),
        failures_told(f"loading {path}"),
    ):
        # Kept, since three tables and the index are made of it and parsing is what costs.
        rows = judged(read_subscriptions(spark, path), schema=schema, is_counted=True).persist()
        try:
            facts = _written(folder, rows, schema, with_index=with_index)
        finally:
            rows.unpersist()
        folder.put(REPORT, report_of(facts, path, command).html())
        parameters = {
            "subscriptions": path,
            "schema": schema.describe() if schema is not None else None,
            "index": with_index,
        }
        told = {SUBSCRIPTIONS: facts.accepted, REJECTS: facts.refused}
        folder.describe("load", command=command, parameters=parameters, rows=told)
    return facts


def _written(folder: Folder, rows: DataFrame, schema: Schema | None, *, with_index: bool) -> Facts:
    loaded = apart(rows)
    accepted = loaded.accepted.orderBy(ROW)
    accepted.write.parquet(folder / SUBSCRIPTIONS)
    loaded.rejects.orderBy(ROW).write.parquet(folder / REJECTS)
    if with_index:
        made = work_folder() / f"{uuid4().hex}.thatch"
        engine_of(accepted, schema).save(made)
        folder.put(INDEX, made)
    return facts_of(rows, loaded)


def read_loaded(spark: SparkSession, path: str, schema: Schema | None) -> tuple[DataFrame, Schema | None]:
    """The subscriptions of files with the schema given, or of a folder that `load_files` wrote, with its own."""
    if not is_loaded(path):
        return read_subscriptions(spark, path), schema
    known = loaded_schema(path, schema)
    local = Path(path).resolve()  # Spark may have been started in another folder
    return spark.read.parquet(str(local / SUBSCRIPTIONS)), known
