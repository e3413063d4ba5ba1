"""`thatch load`: parse and check any number of subscriptions."""

from __future__ import annotations

from typing import Annotated

import typer

from thatch.app.cli.options import (
    Master,
    OutFolder,
    Overwrite,
    SchemaFile,
    SparkChoice,
    reads_files,
)
from thatch.app.cli.output import chooses_spark, local_job, note, say, say_files, spark_job
from thatch.formats.reading import Reading

__all__ = ["load"]

_SHOWN = 5


@reads_files
def load(
    subscriptions: Annotated[
        str, typer.Argument(help="Files of subscriptions: .csv, .jsonl or .parquet; a folder or a glob.")
    ],
    out: OutFolder,
    spark: SparkChoice = None,
    master: Master = None,
    index: Annotated[bool, typer.Option(help="Build index.thatch, which thatch.Engine.open opens.")] = True,
    overwrite: Overwrite = False,
    *,
    schema: SchemaFile,
    reading: Reading,
) -> None:
    """Parse and check subscriptions: small files in this process, large ones in parallel, on Spark.

    Writes a folder with `subscriptions` (the valid ones, Parquet), `rejects` (the others, with row and reason),
    `index.thatch` (an engine of the valid ones), `report.html` and `manifest.json`. Invalid rows are not an
    error, unless --strict or --max-rejects says so; docs/reference/files.md has the rules of files.

    \b
    Examples:
      $ thatch load subscriptions.csv --out loaded
      $ thatch load 'subs*.csv' --out loaded --overwrite --spark --master 'local[2]' --no-index
    """
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.load import INDEX, REJECTS, SUBSCRIPTIONS, load_files

    if chooses_spark(spark, master, [subscriptions]):
        with spark_job("load", "loading", out, master=master, overwrite=overwrite, schema=schema) as (
            session,
            output,
        ):
            facts = load_files(
                session, subscriptions, output, schema=reading.schema, with_index=index, reading=reading
            )
    else:
        from thatch.pipeline.embedded.load import load_here

        with local_job("loading", out, overwrite=overwrite, schema=schema) as output:
            facts = load_here(subscriptions, output, schema=reading.schema, with_index=index, reading=reading)
    if facts.refused:
        note(f"{facts.refused:,} rows of {subscriptions} were refused:")
        for each in facts.reasons[:_SHOWN]:
            note(f"  {each['rows']:,} x {each['expected']}; the first is row {each['first row']}")
        if len(facts.reasons) > _SHOWN:
            note("  ... and other reasons")
    say(f"{facts.accepted:,} subscriptions accepted, {facts.refused:,} refused")
    files = {SUBSCRIPTIONS: "the accepted subscriptions", REJECTS: "the refused rows, with reasons"}
    index_file = {INDEX: "an index of the accepted subscriptions"} if index else {}
    say_files(out, {**files, **index_file, REPORT: "a page with figures"})
