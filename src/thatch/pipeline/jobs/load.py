"""The job of `thatch load`: parse subscriptions, and write the good ones, an index of them, and the rejects."""

from __future__ import annotations

from thatch.formats.reading import Reading
from thatch.formats.subscriptions import SUBSCRIPTIONS
from thatch.model.schema import Schema
from thatch.pipeline.columns import ROW, SparkSession
from thatch.pipeline.forms import FORM
from thatch.pipeline.indexes import build_engine
from thatch.pipeline.jobs.job import REJECTS, JobOutput, RunningJob, check_rejects, run_job
from thatch.pipeline.jobs.load_report import LoadFacts, load_facts, load_report
from thatch.pipeline.sources import read_subscriptions
from thatch.pipeline.tasks import scratch_file
from thatch.pipeline.transforms.loading import check_subscriptions, split_checked

__all__ = ["INDEX", "REJECTS", "SUBSCRIPTIONS", "load_files", "write_facts"]

INDEX = "index.thatch"


def load_files(
    spark: SparkSession,
    path: str,
    output: JobOutput,
    *,
    schema: Schema | None = None,
    with_index: bool = True,
    reading: Reading | None = None,
) -> LoadFacts:
    """Load the subscriptions of files.

    Parameters
    ----------
    path : a file, a folder of files or a glob; see `read_subscriptions`
    output : the folder gets Parquet `subscriptions` and `rejects`, in the order of `row`; `index.thatch`, an engine of all
        accepted subscriptions; `report.html`; `manifest.json`
    schema : declared types of attributes
    with_index : whether to build the index, in this process
    reading : how the files are read, and how many rows may be refused
    """
    with run_job(spark, output, f"loading {path}", [path]) as job:
        # Persisted: several tables, the index and the page need it, and parsing is what costs.
        rows = check_subscriptions(
            read_subscriptions(spark, path, reading),
            schema=schema,
            with_conditions=True,
            with_forms=with_index,
        ).persist()
        try:
            loaded = split_checked(rows)
            check_rejects((reading or Reading()).rejects, loaded.rejects, rows, path)
            job.write(SUBSCRIPTIONS, loaded.accepted.drop(FORM))
            job.write(REJECTS, loaded.rejects)
            if with_index:
                made = scratch_file(".thatch")
                build_engine(loaded.accepted.orderBy(ROW), schema).save(made)
                job.folder.put(INDEX, made)
            facts = load_facts(rows, loaded)
        finally:
            rows.unpersist()
        write_facts(job, facts, path, schema, with_index=with_index)
    return facts


def write_facts(
    job: RunningJob, facts: LoadFacts, path: str, schema: Schema | None, *, with_index: bool
) -> None:
    """Write the page and the manifest, when all else is written."""
    job.finish(
        "load",
        page=load_report(facts, path, job.command),
        parameters={"subscriptions": path, "schema": schema, "index": with_index},
        rows={SUBSCRIPTIONS: facts.accepted, REJECTS: facts.refused},
    )
